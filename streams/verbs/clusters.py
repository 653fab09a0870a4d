"""The verbs that ask live state: `clusters`. A worker answers, or the last snapshot."""

from __future__ import annotations

from typing import Annotated

import typer

from reusewatch.streams.console import say
from reusewatch.streams.running.asking import Ask
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs.listing import Asked, Listing, lists
from reusewatch.streams.verbs.options import BUS_AND_STATE, with_settings

AtOption = Annotated[
    str | None,
    typer.Option(
        "--at", metavar="HOST:PORT",
        help="The worker that is asked: its metrics port. It answers with at most 1000 rows.",
    ),
]  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    app.command(
        "clusters",
        help="Classes of near-duplicates in the window, the largest first.\n\n"
        "Example: reusewatch clusters --top 5",
    )(clusters)


@with_settings(*BUS_AND_STATE)
@lists(top=10)
def clusters(
    settings: Settings,
    asked: Asked,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="The one of this page.")
    ] = None,
    at: AtOption = None,
) -> None:
    """Show clusters."""
    question = {"url": url} if url else {"top": str(asked.top)}
    answered = Ask(settings, "index", at, say)("clusters", question)
    _CLUSTERS.show(answered.answers, asked, "no two pages of the window are near-duplicates")


_CLUSTERS = Listing(
    (
        "cluster", ("pages", "size"), "sites", ("steps", "diameter"),
        ("page seen first", "representative"),
    ),
    fold=("page seen first",),
)  # fmt: skip
