"""The verb `labels discover`: what a whole corpus has in common, exact and offline (Ardi, Heidemann
2014, §3.2, blind).

Here are its options and the order of its work; `discovered_blocks`, `discovered_content` and
`discovered_pack` hold what it reads, finds and writes.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from threading import Event
from typing import Annotated

import typer

from reusewatch.crawler.errors import SourceError
from reusewatch.crawler.pages.archive_events import Limits
from reusewatch.crawler.replaying.jobs import Job, Reader, job_of
from reusewatch.crawler.replaying.origins import origin_reader
from reusewatch.crawler.verbs.discovered_blocks import BlockReading
from reusewatch.crawler.verbs.discovered_content import Discovery, Rules
from reusewatch.crawler.verbs.discovered_pack import write_pack
from reusewatch.streams import kernels
from reusewatch.streams.console import fail, print_json_lines, print_rows, say
from reusewatch.streams.records import STDIN
from reusewatch.streams.running.label_settings import stop_list
from reusewatch.streams.settings import Settings
from reusewatch.streams.signals import stopping
from reusewatch.streams.verbs.options import BUS, JsonOption, with_settings


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "discover",
        help="What many pages of many sites have in common, the most frequent first. Without "
        "sources, of the pages on the bus.\n\n"
        "Example: reusewatch labels discover crawl-*.warc.gz --pages 500 -o found.pack",
    )(discover)


@with_settings(*BUS)
def discover(
    settings: Settings,
    sources: Annotated[list[str] | None, typer.Argument(metavar="SOURCE…")] = None,
    tree: Annotated[
        list[str] | None,
        typer.Option("--tree", metavar="DIR=URL", help="A directory of HTML, served as that URL."),
    ] = None,
    pages: Annotated[int, typer.Option("--pages", min=1, help="On more pages than this.")] = 100,
    sites: Annotated[int, typer.Option("--sites", min=1, help="Of at least so many sites.")] = 5,
    length: Annotated[
        int, typer.Option("--length", min=0, help="Chunks of more characters than this.")
    ] = 100,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PACK", help="A label pack of it.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Discover content."""
    rules = Rules(pages, sites, length)
    with stopping() as stop, tempfile.TemporaryDirectory(prefix="reusewatch-") as spool:
        reading = BlockReading(settings, _job(settings, sources or [], tree or [], stop), stop)
        kernels.prepare(say)
        from reusewatch.streams.labels.matching import all_stop_chunks

        stops = all_stop_chunks(settings.scheme, stop_list(settings))
        work = Discovery(settings.scheme, rules, Path(spool), stops)
        common = work.count(reading.blocks)
        shown, samples = work.shown(
            common, reading.blocks, origin_reader(settings.scheme, settings.max_body_bytes)
        )
        if stop.is_set():
            raise typer.Exit(130)
        if output is not None:
            write_pack(common, samples, output, scheme=settings.scheme, spool=Path(spool))
    if not shown:
        say(f"nothing is on more than {pages} pages of {sites} sites")
    if json:
        print_json_lines(shown)
    elif shown:
        print_rows(tuple(shown[0]), (tuple(row.values()) for row in shown))
    if reading.damaged:
        fail(f"{reading.damaged} damaged records were left out", 1)


def _job(settings: Settings, sources: list[str], tree: list[str], stop: Event) -> Job | None:
    if not sources and not tree:
        return None
    if STDIN in sources:
        raise SourceError("standard input cannot be read twice: keep it as a file")
    reader = Reader(settings.scheme, Limits(max_body_bytes=settings.max_body_bytes))
    return job_of(sources, tree, None, reader=reader, settle_seconds=0.0, stop=stop)
