"""The verbs that show what is on the bus, and those that keep it running. Thin: parse, call, print.

`crawler.cli` adds the verbs that bring pages, and is the command itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TypeVar, get_args

import typer

from reusewatch.streams.console import fail, print_json, print_row, print_table, say
from reusewatch.streams.opening import open_bus
from reusewatch.streams.records import Kind
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs import (
    checking,
    config,
    installed,
    showing,
    topic_views,
)
from reusewatch.streams.verbs.options import BUS, JsonOption, with_settings

R = TypeVar("R")

app = typer.Typer(
    name="reusewatch",
    help="Finds reused web content while a crawl runs.\n\nExample: reusewatch demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
alerts_app = typer.Typer(rich_markup_mode=None, invoke_without_command=True)
app.add_typer(alerts_app, name="alerts")
installed.register(app, "reusewatch.streams.verbs.labels", "labels")
checking.register(app)
installed.register(app, "reusewatch.streams.verbs.clusters", "clusters")
config.register(app)
installed.register(app, "reusewatch.streams.verbs.neighborhoods", "neighborhoods")

KindOption = Annotated[
    str | None, typer.Option("--kind", metavar="KIND", help=", ".join(get_args(Kind)))
]
SiteOption = Annotated[
    str | None, typer.Option("--site", metavar="SITE", help="The registered domain.")
]


@alerts_app.callback(
    help="What was found, the oldest first.\n\nExample: reusewatch alerts --kind duplicate --json"
)
@with_settings(*BUS)
def alerts(
    settings: Settings,
    ctx: typer.Context,
    kind: KindOption = None,
    site: SiteOption = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="2026-03-01 or 2026-03-01T06:00Z")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Go on with those that come.")] = False,
    json: JsonOption = False,
) -> None:
    """Show alerts."""
    if ctx.invoked_subcommand is not None:
        ctx.obj = settings
        return
    if kind is not None and kind not in get_args(Kind):
        fail(f"--kind {kind}: there is {', '.join(get_args(Kind))}", 2)
    stream = topic_views.alerts(
        open_bus(settings), kind=kind, site=site, since=_time(since), follow=follow
    )
    if json:
        for alert in stream:
            print_json(alert)
    elif follow:
        for alert in stream:
            print_row(showing.alert_row(alert))
    else:
        showing.print_alerts(_told(stream, f"no such alerts on {_place(settings.bus)}"))


def _place(bus: str) -> str:
    """The bus, and that a local one is not there, which may be a slip of the pen."""
    directory = Path(bus.removeprefix("local:"))
    gone = bus.startswith("local:") and not directory.is_dir()
    return f"{bus}: there is no directory {directory} (--bus names another bus)" if gone else bus


def _told(rows: Iterable[R], nothing: str) -> Iterator[R]:
    """The rows; where there is none, a word on stderr instead of silence."""
    count = 0
    for count, row in enumerate(rows, 1):  # noqa: B007 - the last number is the count
        yield row
    if not count:
        say(nothing)


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        fail(f"--since {text}: not a time such as 2026-03-01 or 2026-03-01T06:00:00Z", 2)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


@alerts_app.command(
    "show",
    help="One alert with its evidence; a unique beginning of the id will do.\n\n"
    "Example: reusewatch alerts show 3f2a",
)
@with_settings(*BUS)
def show_alert(
    settings: Settings,
    ctx: typer.Context,
    alert_id: Annotated[str, typer.Argument(metavar="ID")],
    json: JsonOption = False,
) -> None:
    """Show one alert."""
    # `reusewatch alerts --bus BUS show ID`: then the bus stands before the verb.
    own = any(ctx.params[name] is not None for name in (*BUS, "config"))
    found = [
        alert
        for alert in topic_views.alerts(open_bus(settings if own else ctx.obj))
        if alert.id.startswith(alert_id.lower())
    ]
    if len(found) != 1:
        many = "more than one alert begins with it" if found else "there is no such alert"
        fail(f"{alert_id}: {many}; `reusewatch alerts` lists them", 2)
    if json:
        print_json(found[0])
    else:
        showing.print_alert(found[0])


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
        for verdict in stream:
            print_json(verdict)
    else:
        showing.print_verdicts(_told(stream, f"no such verdicts on {_place(settings.bus)}"))


@app.command(
    "dead-letters",
    help="What could not be processed, and why.\n\nExample: reusewatch dead-letters --json",
)
@with_settings(*BUS)
def dead_letters(
    settings: Settings,
    json: JsonOption = False,
) -> None:
    """Show dead letters."""
    stream = topic_views.dead_letters(open_bus(settings))
    if json:
        for letter in stream:
            print_json(letter)
    else:
        columns = ("reason", "source", "offset", "page", "detail")
        letters = _told(stream, f"no dead letters on {_place(settings.bus)}")
        rows = ((x.reason, x.source, x.offset, x.url, x.detail) for x in letters)
        print_table(columns, rows, fold=("source", "page", "detail"))
