"""The verbs of what is known of single pages: `verdicts`, `dead-letters`."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer

from reusewatch.streams.console import print_json_lines
from reusewatch.streams.opening import open_bus
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs import showing, topic_views
from reusewatch.streams.verbs.alerts import LimitOption, SinceOption, SiteOption, time_given
from reusewatch.streams.verbs.choosing import LetterChoice
from reusewatch.streams.verbs.options import BUS, JsonOption, with_settings

app = typer.Typer(rich_markup_mode=None)


def register(root: typer.Typer) -> None:
    """Add the verbs."""
    root.add_typer(app)


@app.command(
    help="What is known of each page.\n\nExample: reusewatch verdicts --site example.org --json"
)
@with_settings(*BUS)
def verdicts(
    settings: Settings,
    url: Annotated[str | None, typer.Option("--url", metavar="URL")] = None,
    site: SiteOption = None,
    json: JsonOption = False,
) -> None:
    """Show verdicts."""
    stream = topic_views.verdicts(open_bus(settings), url=url, site=site)
    if json:
        print_json_lines(stream)
    else:
        nothing = f"no such verdicts on {showing.bus_named(settings.bus)}"
        showing.print_verdicts(showing.told(stream, nothing))


@app.command(
    "dead-letters",
    help="What could not be processed, and why.\n\n"
    "Example: reusewatch dead-letters --reason bad-encoding",
)
@with_settings(*BUS)
def dead_letters(
    settings: Settings,
    reason: Annotated[str | None, typer.Option("--reason", metavar="REASON")] = None,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="TEXT", help="Its name has this in it: an archive, …"),
    ] = None,
    since: SinceOption = None,
    limit: LimitOption = None,
    json: JsonOption = False,
) -> None:
    """Show dead letters."""
    chosen = LetterChoice(reason, source, time_given("--since", since))
    stream = islice(filter(chosen.fits, topic_views.dead_letters(open_bus(settings))), limit)
    if json:
        print_json_lines(stream)
    else:
        nothing = f"no such dead letters on {showing.bus_named(settings.bus)}"
        showing.print_letters(showing.told(stream, nothing))
