"""The verbs of what is known of single pages: `verdicts`, `dead-letters`."""

from __future__ import annotations

from typing import Annotated

import typer

from reusewatch.streams.opening import bus_to_read
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs import showing, topic_views
from reusewatch.streams.verbs.listing import Asked, lists
from reusewatch.streams.verbs.options import BUS, with_settings

app = typer.Typer(rich_markup_mode=None)


def register(root: typer.Typer) -> None:
    """Add the verbs."""
    root.add_typer(app)


@app.command(
    help="What is known of each page. --since and --until are about when it was judged.\n\n"
    "Example: reusewatch verdicts --site example.org --json"
)
@with_settings(*BUS)
@lists("site", "since", "until", "limit")
def verdicts(
    settings: Settings,
    asked: Asked,
    url: Annotated[str | None, typer.Option("--url", metavar="URL")] = None,
) -> None:
    """Show verdicts."""
    read = topic_views.verdicts(
        bus_to_read(settings), url=url, site=asked.site, covers=asked.covers
    )
    showing.VERDICTS.show(read, asked, f"no such verdicts on {settings.bus}")


@app.command(
    "dead-letters",
    help="What could not be processed, and why.\n\n"
    "Example: reusewatch dead-letters --reason bad-encoding",
)
@with_settings(*BUS)
@lists("since", "until", "limit")
def dead_letters(
    settings: Settings,
    asked: Asked,
    reason: Annotated[str | None, typer.Option("--reason", metavar="REASON")] = None,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="TEXT", help="Its name has this in it: an archive, …"),
    ] = None,
) -> None:
    """Show dead letters."""
    chosen = (
        one
        for one in topic_views.dead_letters(bus_to_read(settings))
        if reason in (None, one.reason) and (source or "") in one.source and asked.covers(one.at)
    )
    showing.LETTERS.show(chosen, asked, f"no such dead letters on {settings.bus}")
