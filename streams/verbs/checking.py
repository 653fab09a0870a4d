"""The verbs that look at bus and machine: `topics create`, `topics check`, `doctor`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from itertools import groupby
from typing import Annotated

import typer

from reusewatch.streams import kernels
from reusewatch.streams.checks import Check
from reusewatch.streams.console import (
    fail,
    harmless,
    print_json,
    print_line,
    say,
)
from reusewatch.streams.settings import Settings
from reusewatch.streams.topics import FINGERPRINTS, NEIGHBORHOODS, PAGES, TOPICS, VERDICTS
from reusewatch.streams.verbs import doctor as machine
from reusewatch.streams.verbs.listing import Asked, Listing, lists
from reusewatch.streams.verbs.options import BUS, BUS_AND_STATE, JsonOption, with_settings

topics_app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
# State is kept in the partition of the number of that which it comes of.
SHARED = (PAGES, FINGERPRINTS, VERDICTS, NEIGHBORHOODS)


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    app.add_typer(
        topics_app, name="topics",
        help="The topics on Kafka.\n\nExample: reusewatch topics check --bus kafka://127.0.0.1:9092",
    )  # fmt: skip
    app.command(
        "doctor",
        help="What would make a crawl go wrong, and what to do about it.\n\n"
        "Example: reusewatch doctor --bus kafka://127.0.0.1:9092",
    )(doctor)


@topics_app.command(
    "create",
    help="Make the topics that are missing, with the right partitions, retention, compaction.\n\n"
    "Example: reusewatch topics create --bus kafka://127.0.0.1:9092 --partitions 12",
)
@with_settings(*BUS, "kafka_partitions", "kafka_replication")
@lists()
def create(
    settings: Settings,
    asked: Asked,
) -> None:
    """Make topics."""
    _needs_kafka(settings, "topics create")
    from reusewatch.streams.kafka import create_topics
    from reusewatch.streams.opening import kafka_config

    number = settings.kafka_partitions
    made = create_topics(
        kafka_config(settings),
        partitions=dict.fromkeys(SHARED, number) if number else None,
        replication_factor=settings.kafka_replication,
    )
    rows = [
        {"topic": settings.topic_prefix + name, "created": name in made, "cleanup": topic.cleanup}
        for name, topic in TOPICS.items()
    ]
    _MADE.show(rows, asked)


_MADE = Listing(
    ("topic", ("state", lambda row: "made" if row["created"] else "was there"), "cleanup")
)


@topics_app.command(
    "check",
    help="Compare the topics with what is needed; exit 1 where they differ.\n\n"
    "Example: reusewatch topics check --bus kafka://127.0.0.1:9092",
)
@with_settings(*BUS, "kafka_partitions")
def check(
    settings: Settings,
    json: JsonOption = False,
) -> None:
    """Compare topics."""
    _needs_kafka(settings, "topics check")
    from reusewatch.streams.kafka import check_topics
    from reusewatch.streams.opening import kafka_config

    checks = check_topics(kafka_config(settings), partitions=settings.kafka_partitions)
    _report(checks, json=json, verbose=True)


@with_settings(*BUS_AND_STATE)
def doctor(
    settings: Settings,
    warm: Annotated[
        bool, typer.Option("--warm", help="Compile the kernels now, as when an image is built.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Each thing that is well on a line of its own.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Examine the machine and the bus."""
    if warm:
        kernels.prepare(say)
        kernels.prepare_questions(say)
    _report(machine.examine(settings), json=json, verbose=verbose)


def _needs_kafka(settings: Settings, verb: str) -> None:
    if not settings.bus.startswith("kafka://"):
        fail(
            f"{verb}: {settings.bus} has no topics to make or check; give --bus kafka://HOST:PORT",
            2,
        )


def _report(checks: Iterable[Check], *, json: bool, verbose: bool) -> None:
    wrong: list[Check] = []
    for area, group in groupby(checks, key=_area):
        well: list[Check] = []
        for one in group:
            if json:
                print_json(dataclasses.asdict(one))
            elif one.ok and not verbose and area != one.check:
                well.append(one)
            else:
                _print(one)
            wrong += [] if one.ok else [one]
        if well:
            print_line(f"ok     {area}: {len(well)} checks")
    if any(one.check in ("broker", "bus") or "directory" in one.check for one in wrong):
        fail(f"{len(wrong)} of these are wrong, and a part is unreachable", 3)
    if wrong:
        fail(f"{len(wrong)} of these are wrong: see what to do beside each", 1)


def _area(one: Check) -> str:
    """Where all is well, the checks of an area are one line: those of topics, and of packages.

    >>> [_area(Check(name, True, "", "")) for name in ("a.pages: exists", "extension lz4", "clock")]
    ['topics', 'extensions', 'clock']
    """
    if one.check.startswith("extension "):
        return "extensions"
    topic, colon, _ = one.check.partition(": ")
    return "topics" if colon and " " not in topic else one.check


def _print(one: Check) -> None:
    if one.ok:
        print_line(harmless(f"ok     {one.check}: {one.found}"))
        return
    print_line(harmless(f"WRONG  {one.check}: {one.found} (wanted: {one.wanted})"))
    print_line(harmless(f"       → {one.do}"))
