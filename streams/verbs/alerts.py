"""The verbs of what was found: `alerts`, `alerts show`, `alerts summary`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, get_args

import typer

from reusewatch.streams.alert_kinds import KINDS, SEVERITIES
from reusewatch.streams.console import (
    fail,
    print_csv,
    print_json,
    print_json_lines,
    print_rows,
    print_table,
    say,
)
from reusewatch.streams.opening import open_bus
from reusewatch.streams.page_text import ReadOrigin
from reusewatch.streams.records import Alert
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs import alert_evidence, choosing, showing, topic_views
from reusewatch.streams.verbs.options import BUS, JsonOption, with_settings
from reusewatch.streams.verbs.reuse_summary import Summary, summarized

_CHOICES: dict[str, tuple[str, ...]] = {
    "kind": tuple(KINDS),
    "severity": SEVERITIES,
    "state": ("open", "closed"),
    "sort": get_args(choosing.Order),
}

app = typer.Typer(rich_markup_mode=None, invoke_without_command=True)

KindOption = Annotated[
    str | None,
    typer.Option(
        "--kind", metavar="KIND", help=", ".join(KINDS),
        autocompletion=lambda: list(KINDS),
    ),
]  # fmt: skip
SiteOption = Annotated[
    str | None, typer.Option("--site", metavar="SITE", help="The registered domain.")
]
SinceOption = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="Found since 2026-03-01 or 2026-03-01T06:00Z."),
]
UntilOption = Annotated[
    str | None,
    typer.Option("--until", metavar="TIME", help="Found up to this time, or on this whole day."),
]
SeverityOption = Annotated[
    str | None,
    typer.Option("--severity", metavar="SEVERITY", help=", ".join(SEVERITIES),
                 autocompletion=lambda: list(SEVERITIES)),
]  # fmt: skip
DonorOption = Annotated[
    str | None,
    typer.Option(
        "--donor", metavar="SITE", help="Copied from this site, host, URL, or URL prefix with /."
    ),
]
StateOption = Annotated[
    str | None,
    typer.Option("--state", metavar="STATE", help="open, closed",
                 autocompletion=lambda: ["open", "closed"]),
]  # fmt: skip
LimitOption = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help="At most so many.")
]
CsvOption = Annotated[bool, typer.Option("--csv", help="For spreadsheets.")]


Reader = Callable[[Settings], ReadOrigin]


@dataclass
class _Reading:
    """How pages are read again, which whoever registers the verbs knows; None: they are not."""

    reader: Reader | None = None


_reading = _Reading()


def register(root: typer.Typer, *, reader: Reader | None = None) -> None:
    """Add the verbs; with a reader, `show` reads pages again."""
    _reading.reader = reader
    root.add_typer(app, name="alerts")


@app.callback(
    help="What was found, the oldest first.\n\nExample: reusewatch alerts --kind duplicate --json"
)
@with_settings(*BUS)
def alerts(
    settings: Settings,
    ctx: typer.Context,
    kind: KindOption = None,
    site: SiteOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    severity: SeverityOption = None,
    donor: DonorOption = None,
    state: StateOption = None,
    sort: Annotated[
        str | None,
        typer.Option(
            "--sort", metavar="ORDER", help="time: the oldest first; figure: the highest first.",
            autocompletion=lambda: list(get_args(choosing.Order)),
        ),
    ] = None,
    reverse: Annotated[bool, typer.Option("--reverse", help="The other way round.")] = False,
    limit: LimitOption = None,
    follow: Annotated[bool, typer.Option("--follow", help="Go on with those that come.")] = False,
    csv: CsvOption = False,
    json: JsonOption = False,
) -> None:  # fmt: skip
    """Show alerts."""
    if ctx.invoked_subcommand is not None:
        chosen_here = (kind, site, since, until, severity, donor, state, sort, limit)
        if any(one is not None for one in chosen_here) or reverse or follow or csv or json:
            fail(f"alerts: what it is to show stands behind {ctx.invoked_subcommand}", 2)
        ctx.obj = settings
        return
    order = _one_of("sort", sort)
    if follow and (order or reverse):
        fail("--follow shows alerts as they come: leave --sort and --reverse out", 2)
    chosen = _chosen(kind, site, since, until, severity, donor, state)
    read = topic_views.alerts(open_bus(settings), follow=follow)
    stream = choosing.in_order(filter(chosen.fits, read), order, reverse=reverse, limit=limit)  # type: ignore[arg-type]
    _print(stream, settings.bus, follow=follow, csv=csv, json=json)


def _print(stream: Iterator[Alert], bus: str, *, follow: bool, csv: bool, json: bool) -> None:
    if json:
        print_json_lines(stream)
    elif csv:
        print_csv(showing.ALERT_COLUMNS, map(showing.alert_row, stream))
    elif follow:
        print_rows(showing.ALERT_COLUMNS, map(showing.alert_row, stream))
    else:
        showing.print_alerts(showing.told(stream, f"no such alerts on {showing.bus_named(bus)}"))


def _chosen(
    kind: str | None, site: str | None, since: str | None, until: str | None,
    severity: str | None, donor: str | None, state: str | None,
) -> choosing.AlertChoice:  # fmt: skip
    """The choice that the options make; ends the command where one cannot be."""
    return choosing.AlertChoice(
        _one_of("kind", kind), site,
        time_given("--since", since), time_given("--until", until, end=True),
        _one_of("severity", severity), donor, _one_of("state", state),
    )  # fmt: skip


def choice_given(
    *, kind: str | None = None, severity: str | None = None, since: str | None = None
) -> choosing.AlertChoice:
    """The choice that such options of another command make; ends it where one cannot be."""
    return _chosen(kind, None, since, None, severity, None, None)


def _one_of(name: str, value: str | None) -> str | None:
    if value is not None and value not in _CHOICES[name]:
        fail(f"--{name} {value}: there is {', '.join(_CHOICES[name])}", 2)
    return value


def time_given(option: str, text: str | None, *, end: bool = False) -> datetime | None:
    """The time that an option names; ends the command where it is none."""
    if text is None:
        return None
    try:
        return choosing.moment(text, end=end)
    except (ValueError, OverflowError):
        fail(f"{option} {text}: not a time such as 2026-03-01 or 2026-03-01T06:00:00Z", 2)


def _settings(ctx: typer.Context, settings: Settings) -> Settings:
    """Those of `reusewatch alerts --bus BUS show ID`, where the bus stands before the verb."""
    own = any(ctx.params[name] is not None for name in (*BUS, "config"))
    found: Settings = settings if own else ctx.obj
    return found


@app.command(
    "show",
    help="One alert with its evidence, both pages side by side where they can be read again; a "
    "unique beginning of the id will do.\n\nExample: reusewatch alerts show 3f2a --html copy.html",
)
@with_settings(*BUS)
def show(
    settings: Settings,
    ctx: typer.Context,
    alert_id: Annotated[str, typer.Argument(metavar="ID")],
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Both pages into a file for a browser."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show one alert."""
    settings = _settings(ctx, settings)
    found = _alerts_named(alert_id, settings)
    if len(found) != 1:
        many = "more than one alert begins with it" if found else "there is no such alert"
        fail(f"{alert_id}: {many}; `reusewatch alerts` lists them", 2)
    # Scripts that take what is there need not wait until pages are read and drawn.
    at_hand = json and html is None and found[0].evidence_missing is None
    reader = None if at_hand else _reading.reader
    shown = alert_evidence.with_pages(found[0], settings, reader)
    if html is not None:
        alert_evidence.write_html(shown, html)
    if json:
        print_json(shown.alert)
    elif html is None:
        showing.print_alert(shown.alert)
        alert_evidence.print_pages(shown)


def _alerts_named(beginning: str, settings: Settings) -> list[Alert]:
    """The alerts that stand on the bus under this beginning of an id: the last said of each."""
    read = topic_views.alerts(open_bus(settings))
    return list({x.id: x for x in read if x.id.startswith(beginning.lower())}.values())


@app.command(
    "summary",
    help="Which site holds how many pages of which other site, most pages first.\n\n"
    "Example: reusewatch alerts summary --limit 20",
)
@with_settings(*BUS)
def summary(
    settings: Settings,
    ctx: typer.Context,
    kind: KindOption = None,
    site: SiteOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    severity: SeverityOption = None,
    donor: DonorOption = None,
    limit: LimitOption = None,
    csv: CsvOption = False,
    json: JsonOption = False,
) -> None:
    """Summarize alerts."""
    settings = _settings(ctx, settings)
    chosen = _chosen(kind, site, since, until, severity, donor, None)
    read = topic_views.alerts(open_bus(settings))
    found = summarized(filter(chosen.fits, read), settings.site)
    _print_summary(found, limit, settings.bus, csv=csv, json=json)


def _print_summary(found: Summary, limit: int | None, bus: str, *, csv: bool, json: bool) -> None:
    columns = ("site", "donor_site", "pages", "kinds", "originals")
    shown = found.rows[:limit]
    if json:
        print_json_lines(shown)
    else:
        table: Iterable[tuple[object, ...]] = (
            (
                row["site"],
                row["donor_site"],
                row["pages"],
                _kinds(row["kinds"]),
                _kinds(row["originals"]),
            )
            for row in shown
        )
        folded = tuple(name for name in columns if name != "pages")
        show = print_csv if csv else partial(print_table, fold=folded)
        show(columns, table)
        _say_left_out(found, bus)


def _kinds(kinds: dict[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items())


def _say_left_out(found: Summary, bus: str) -> None:
    if not found.rows:
        say(f"no page with a donor on another site on {showing.bus_named(bus)}")
    if found.left_out:
        counted = _kinds(dict(sorted(found.left_out.items())))
        say(f"not in the table, for they name no page of another site: {counted}")
