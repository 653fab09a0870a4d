"""The verb `labels`, and the list of the verbs below it; each is loaded when it is named."""

from __future__ import annotations

from typing import ClassVar

import typer

from reusewatch.streams.verbs.named import Named, NamedVerbs

_PACKS = "reusewatch.streams.verbs.labels"
_READING = "reusewatch.crawler.verbs.labels_"


class Labels(NamedVerbs):
    """The verbs of the labeled dataset."""

    verbs: ClassVar = {
        "show": Named(
            _PACKS,
            "The labels of a pack; without one, those in force.",
        ),
        "build": Named(
            f"{_READING}build",
            "Known content into a label pack: archives (WARC, ARC, WACZ), directories of HTML or "
            "text (DIR or DIR=URL), text files, other packs; with --from-bus what was crawled.",
        ),
        "migrate": Named(
            f"{_READING}migrate",
            "A pack of another hash scheme, built again under this one, from the sources that it "
            "names, or from those that are given here.",
        ),
        "discover": Named(
            f"{_READING}discover",
            "What many pages of many sites have in common, the most frequent first.",
        ),
        "propose-stops": Named(
            f"{_READING}propose_stops",
            "Short chunks on many sites, from the fingerprints that the bus holds: read them, "
            "and name the list that you keep with the setting stop_chunks.",
        ),
        "merge": Named(
            _PACKS,
            "Packs as one; a hash stands under every name that any of them gives it.",
        ),
        "diff": Named(
            _PACKS,
            "What came and what went from one pack to another, by label.",
        ),
        "verify": Named(
            _PACKS,
            "Read a pack from end to end; exit 1 where it is damaged.",
        ),
        "preview": Named(
            _PACKS,
            "What a push would flag of the pages whose fingerprints the bus holds.",
        ),
        "push": Named(
            _PACKS,
            "Put a pack in force: what it says, and what discovery labels, from the next batch on.",
        ),
        "remove": Named(
            _PACKS,
            "Take a name out of the labeled dataset; pushing a pack that has it brings it back.",
        ),
        "rollback": Named(
            _PACKS,
            "Back to what was in force before the last push or removal; again, and it is undone.",
        ),
    }


def register(root: typer.Typer) -> None:
    """Add the verbs."""
    root.add_typer(
        typer.Typer(cls=Labels, rich_markup_mode=None, no_args_is_help=True), name="labels",
        help="The labeled dataset: known content, found while the crawl runs.\n\n"
        "Example: reusewatch labels build wikipedia dump.warc.gz -o wikipedia.pack",
    )  # fmt: skip
