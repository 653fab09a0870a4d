"""The verbs of what was found: `alerts`, `alerts show`, `alerts summary`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, get_args

import typer

from reusewatch.streams.alert_kinds import KINDS, SEVERITIES
from reusewatch.streams.console import fail, print_json, say
from reusewatch.streams.opening import bus_to_read
from reusewatch.streams.page_text import ReadOrigin
from reusewatch.streams.records import Alert
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs import alert_evidence, choosing, showing, topic_views
from reusewatch.streams.verbs.listing import (
    Asked,
    Listing,
    lists,
    one_of,
    time_given,
)
from reusewatch.streams.verbs.options import BUS, JsonOption, with_settings
from reusewatch.streams.verbs.reuse_summary import summarized

app = typer.Typer(rich_markup_mode=None, invoke_without_command=True)

KindOption = Annotated[
    str | None,
    typer.Option(
        "--kind", metavar="KIND", help=", ".join(KINDS),
        autocompletion=lambda: list(KINDS),
    ),
]  # fmt: skip
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
    help="What was found, the oldest first. --since and --until are about when it was detected.\n\n"
    "Example: reusewatch alerts --kind duplicate --json"
)
@with_settings(*BUS)
@lists("site", "since", "until", "limit", "follow")
def alerts(
    settings: Settings,
    ctx: typer.Context,
    asked: Asked,
    kind: KindOption = None,
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
) -> None:  # fmt: skip
    """Show alerts."""
    if ctx.invoked_subcommand is not None:
        if asked != Asked() or any((kind, severity, donor, state, sort, reverse)):
            fail(f"alerts: what it is to show stands behind {ctx.invoked_subcommand}", 2)
        ctx.obj = settings
        return
    order = one_of("--sort", sort, get_args(choosing.Order))
    if asked.follow and (order or reverse):
        fail("--follow shows alerts as they come: leave --sort and --reverse out", 2)
    chosen = _chosen(asked, kind, severity, donor, state)
    bus = bus_to_read(settings, say=say, waits=asked.follow)
    if asked.follow:
        showing.ALERTS.show(topic_views.following(bus, chosen.fits), asked)
        return
    read = filter(chosen.fits, topic_views.alerts(bus))
    stream = choosing.in_order(read, order, reverse=reverse, limit=asked.limit)  # type: ignore[arg-type]
    showing.ALERTS.show(stream, asked, f"no such alerts on {settings.bus}")


def _chosen(
    asked: Asked, kind: str | None, severity: str | None, donor: str | None = None,
    state: str | None = None,
) -> choosing.AlertChoice:  # fmt: skip
    """The choice that the options make; ends the command where one cannot be."""
    return choosing.AlertChoice(
        one_of("--kind", kind, tuple(KINDS)), asked.site, asked.since, asked.until,
        one_of("--severity", severity, SEVERITIES), donor,
        one_of("--state", state, ("open", "closed")),
    )  # fmt: skip


def choice_given(
    *, kind: str | None = None, severity: str | None = None, since: str | None = None
) -> choosing.AlertChoice:
    """The choice that such options of another command make; ends it where one cannot be."""
    return _chosen(Asked(since=time_given("--since", since)), kind, severity)


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
    read = topic_views.alerts(bus_to_read(settings))
    return list({x.id: x for x in read if x.id.startswith(beginning.lower())}.values())


@app.command(
    "summary",
    help="Which site holds how many pages of which other site, most pages first. --since and "
    "--until are about when it was detected.\n\n"
    "Example: reusewatch alerts summary --limit 20",
)
@with_settings(*BUS)
@lists("site", "since", "until", "limit")
def summary(
    settings: Settings,
    ctx: typer.Context,
    asked: Asked,
    kind: KindOption = None,
    severity: SeverityOption = None,
    donor: DonorOption = None,
) -> None:
    """Summarize alerts."""
    settings = _settings(ctx, settings)
    chosen = _chosen(asked, kind, severity, donor)
    read = topic_views.alerts(bus_to_read(settings))
    found = summarized(filter(chosen.fits, read), settings.site)
    nothing = f"no page with a donor on another site on {settings.bus}"
    _SUMMARY.show(found.rows, asked, nothing)
    if found.left_out and not asked.json:
        counted = _counts(dict(sorted(found.left_out.items())))
        say(f"not in the table, for they name no page of another site: {counted}")


def _counts(kinds: dict[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items())


_SUMMARY = Listing(
    (
        "site", "donor_site", "pages", ("kinds", lambda row: _counts(row["kinds"])),
        ("originals", lambda row: _counts(row["originals"])),
    ),
    fold=("site", "donor_site", "kinds", "originals"),
)  # fmt: skip
