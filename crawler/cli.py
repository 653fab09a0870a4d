"""The command `reusewatch`: the list of its verbs, each loaded when it is named.

`exit_codes` says how every command ends.
"""

from __future__ import annotations

import sys
from typing import Annotated, ClassVar

import typer

from reusewatch.streams.environment import set_for_us
from reusewatch.streams.extras import needed_for
from reusewatch.streams.verbs.named import Named, NamedVerbs

_PAGES = "reusewatch.crawler.verbs"
_BUS = "reusewatch.streams.verbs"


class Verbs(NamedVerbs):
    """All verbs, in the order in which somebody new comes to need them."""

    verbs: ClassVar = {
        "demo": Named(
            f"{_PAGES}.demo",
            "A small web of copies, replayed; shows what is found.",
            extra=True,
        ),
        "replay": Named(
            f"{_PAGES}.replay",
            "Archives, directories or globs onto the bus; - is stdin.",
            extra=True,
        ),
        "crawl": Named(
            f"{_PAGES}.crawl",
            "Crawl sites onto the bus; robots.txt is obeyed.",
        ),
        "work": Named(
            f"{_PAGES}.work",
            "Run a stage on Kafka until stopped.",
            extra=True,
        ),
        "spill": Named(
            f"{_PAGES}.spill",
            'Send what crawls with on_trouble = "spill" put aside while the broker was away.',
        ),
        "alerts": Named(
            f"{_PAGES}.alerts",
            "What was found, the oldest first.",
        ),
        "verdicts": Named(
            f"{_BUS}.findings",
            "What is known of each page.",
        ),
        "dead-letters": Named(
            f"{_BUS}.findings",
            "What could not be processed, and why.",
        ),
        "prefixes": Named(
            f"{_BUS}.prefixes",
            "What a crawl should keep out of now: bad neighborhoods, mirrors and crawl traps that "
            "are open, for the filters of other crawlers.",
        ),
        "notify": Named(
            f"{_BUS}.notify",
            "Send each alert to a webhook or a command once it is there, until stopped.",
        ),
        "clusters": Named(
            f"{_BUS}.clusters",
            "Classes of near-duplicates in the window, the largest first.",
            extra=True,
        ),
        "similar": Named(
            f"{_PAGES}.similar",
            "Pages of the window like this one, the most alike first, with the words that decided.",
            extra=True,
        ),
        "neighborhoods": Named(
            f"{_BUS}.neighborhoods",
            "URL prefixes by the share of copied content under them, worst first.",
            extra=True,
        ),
        "phrases": Named(
            f"{_PAGES}.phrases",
            "Phrases of five words that many pages have, those of most pages first; with --hosts "
            "the hosts whose pages consist of such.",
            extra=True,
        ),
        "cover": Named(
            f"{_BUS}.cover",
            "Pages that together have the popular phrases of this one, those that have most first.",
            extra=True,
        ),
        "fingerprint": Named(
            f"{_PAGES}.fingerprint",
            "Everything that is known of a page: words, blocks, links, all sketches.",
            extra=True,
        ),
        "labels": Named(
            f"{_PAGES}.labels",
            "The labeled dataset: known content, found while the crawl runs.",
            extra=True,
        ),
        "topics": Named(
            f"{_BUS}.checking",
            "The topics on Kafka.",
        ),
        "doctor": Named(
            f"{_BUS}.checking",
            "What would make a crawl go wrong, and what to do about it.",
        ),
        "config": Named(
            f"{_BUS}.config",
            "Every setting, its value and where it came from; or what each means.",
        ),
        "prune": Named(
            f"{_BUS}.prune",
            "Make a local bus smaller: the oldest verdicts and dead letters leave, and the space "
            "is given back.",
        ),
    }


app = typer.Typer(
    cls=Verbs,
    name="reusewatch",
    help="Finds reused web content while a crawl runs.\n\nExample: reusewatch demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        from reusewatch.streams.console import print_line

        print_line(f"reusewatch {version('reusewatch')}")
        raise typer.Exit


@app.callback()
def root(
    show_version: Annotated[
        bool,
        typer.Option("--version", help="Say which version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Finds reused web content while a crawl runs."""


def main() -> None:
    """Run the command line, and end with its code."""
    # Before Arrow is loaded, in the processes of this one too. Its own allocator gives memory back
    # a few milliseconds after it is free, and the system clears it anew for each batch.
    set_for_us("ARROW_DEFAULT_MEMORY_POOL", "system")
    try:
        # Some verbs import what they need when they are called.
        with needed_for(" ".join(("`reusewatch", *sys.argv[1:2])) + "`"):
            app(prog_name="reusewatch")
    except Exception as error:
        from reusewatch.crawler.exit_codes import code_of
        from reusewatch.streams.console import say

        code = code_of(error)
        if code is None:
            raise
        say(f"reusewatch: {error}")
        sys.exit(code)
