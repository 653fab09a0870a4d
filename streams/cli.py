"""The verbs that show what is on the bus, and those that keep it running. Thin: parse, call, print.

`crawler.cli` adds the verbs that bring pages, and is the command itself.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, get_args

import typer

from streams import cli_checks, reading
from streams.console import fail, harmless, print_json, print_line, print_table
from streams.options import BusOption, ConfigOption, JsonOption, PrefixOption, settings, settled
from streams.records import Alert, Kind, Verdict
from streams.topology import open_bus
from streams.wire import to_builtins

app = typer.Typer(
    name="reusewatch",
    help="Finds reused web content while a crawl runs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
alerts_app = typer.Typer(rich_markup_mode=None, invoke_without_command=True)
app.add_typer(alerts_app, name="alerts")
cli_checks.register(app)

KindOption = Annotated[
    str | None, typer.Option("--kind", metavar="KIND", help=", ".join(get_args(Kind)))
]
SiteOption = Annotated[
    str | None, typer.Option("--site", metavar="SITE", help="The registered domain.")
]


@alerts_app.callback(
    help="What was found, the oldest first.\n\nExample: reusewatch alerts --kind duplicate --json"
)
def alerts(
    ctx: typer.Context,
    kind: KindOption = None,
    site: SiteOption = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="2026-03-01 or 2026-03-01T06:00Z")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Go on with those that come.")] = False,
    bus: BusOption = None,
    topic_prefix: PrefixOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Show alerts."""
    found = settings(config, bus=bus, topic_prefix=topic_prefix)
    if ctx.invoked_subcommand is not None:
        ctx.obj = found
        return
    if kind is not None and kind not in get_args(Kind):
        fail(f"--kind {kind}: there is {', '.join(get_args(Kind))}", 2)
    stream = reading.alerts(
        open_bus(found), kind=kind, site=site, since=_time(since), follow=follow
    )
    if json:
        for alert in stream:
            print_json(alert)
    elif follow:
        for alert in stream:
            print_line("\t".join(harmless(str(cell)) for cell in _row(alert)))
    else:
        print_table(_COLUMNS, map(_row, stream))


_COLUMNS = ("id", "kind", "severity", "page", "from", "figure", "detected")


def _row(alert: Alert) -> tuple[object, ...]:
    donor = alert.donors[0].url if alert.donors else ""
    subject = alert.url or alert.prefix
    when = f"{alert.detected_at:%Y-%m-%d %H:%M:%S}"
    return alert.id, alert.kind, alert.severity, subject, donor, f"{alert.figure:g}", when


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
def show_alert(
    ctx: typer.Context,
    alert_id: Annotated[str, typer.Argument(metavar="ID")],
    bus: BusOption = None,
    topic_prefix: PrefixOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Show one alert."""
    given = settings(config, bus=bus, topic_prefix=topic_prefix)
    from_parent = bus is None and topic_prefix is None and config is None
    found = [
        alert
        for alert in reading.alerts(open_bus(ctx.obj if from_parent else given))
        if alert.id.startswith(alert_id.lower())
    ]
    if len(found) != 1:
        many = "more than one alert begins with it" if found else "there is no such alert"
        fail(f"{alert_id}: {many}; `reusewatch alerts` lists them", 2)
    if json:
        print_json(found[0])
    else:
        _print_alert(found[0])


def _print_alert(alert: Alert) -> None:
    facts: dict[str, Any] = to_builtins(alert)
    donors, evidence = facts.pop("donors"), facts.pop("evidence")
    for name, value in facts.items():
        if value not in (None, [], ()):
            print_line(f"{name:15} {harmless(str(value))}")
    for donor in donors:
        share = f"{donor['share']:.0%} of it, first seen {donor['fetched_at']}"
        print_line(f"{'donor':15} {harmless(donor['url'])}  ({share})")
    for span in evidence:
        place = f"bytes {span['start']}–{span['end']}"
        if span["donor"]:
            place += f" ← {span['donor']} bytes {span['donor_start']}–{span['donor_end']}"
        print_line(f"{'evidence':15} {harmless(place)}")
        print_line(f"{'':15} “{harmless(span['text'] or '')}”")


@app.command(
    help="What is known of each page.\n\nExample: reusewatch verdicts --site example.org --json"
)
def verdicts(
    url: Annotated[str | None, typer.Option("--url", metavar="URL")] = None,
    site: SiteOption = None,
    bus: BusOption = None,
    topic_prefix: PrefixOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Show verdicts."""
    found = settings(config, bus=bus, topic_prefix=topic_prefix)
    stream = reading.verdicts(open_bus(found), url=url, site=site)
    if json:
        for verdict in stream:
            print_json(verdict)
    else:
        print_table(("page", "fetched", "finding", "of"), map(_verdict_row, stream))


def _verdict_row(verdict: Verdict) -> tuple[object, ...]:
    finding = "same file" if verdict.exact.file else "same words" if verdict.exact.text else "-"
    of = verdict.exact.file or verdict.exact.text or ""
    return verdict.url, f"{verdict.fetched_at:%Y-%m-%d %H:%M:%S}", finding, of


@app.command(
    "dead-letters",
    help="What could not be processed, and why.\n\nExample: reusewatch dead-letters --json",
)
def dead_letters(
    bus: BusOption = None,
    topic_prefix: PrefixOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Show dead letters."""
    found = settings(config, bus=bus, topic_prefix=topic_prefix)
    stream = reading.dead_letters(open_bus(found))
    if json:
        for letter in stream:
            print_json(letter)
    else:
        columns = ("reason", "source", "offset", "page", "detail")
        rows = ((x.reason, x.source, x.offset, x.url or "", x.detail) for x in stream)
        print_table(columns, rows)


@app.command(
    "config",
    help="Every setting, its value and where it came from.\n\nExample: reusewatch config --json",
)
def show_config(
    bus: BusOption = None,
    topic_prefix: PrefixOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Show the configuration."""
    rows = settled(config, bus=bus, topic_prefix=topic_prefix).shown()
    if json:
        for row in rows:
            print_json(row)
    else:
        print_table(("name", "value", "from"), [tuple(row.values()) for row in rows])
