"""The verbs that look at bus and machine: `topics create`, `topics check`, `doctor`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Annotated

import typer

from reusewatch.streams import kernels
from reusewatch.streams.checks import Check
from reusewatch.streams.console import (
    fail,
    harmless,
    print_json,
    print_json_lines,
    print_line,
    print_table,
    say,
)
from reusewatch.streams.settings import Settings
from reusewatch.streams.topics import FINGERPRINTS, NEIGHBORHOODS, PAGES, TOPICS, VERDICTS
from reusewatch.streams.verbs import doctor as machine
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
def create(
    settings: Settings,
    json: JsonOption = False,
) -> None:
    """Make topics."""
    _needs_kafka(settings, "topics create")
    from reusewatch.streams.kafka import create_topics
    from reusewatch.streams.opening import kafka_config

    made = create_topics(
        kafka_config(settings),
        partitions=dict.fromkeys(SHARED, settings.kafka_partitions),
        replication_factor=settings.kafka_replication,
    )
    rows = [
        {"topic": settings.topic_prefix + name, "created": name in made, "cleanup": topic.cleanup}
        for name, topic in TOPICS.items()
    ]
    if json:
        print_json_lines(rows)
        return
    print_table(
        ("topic", "state", "cleanup"),
        [(row["topic"], "made" if row["created"] else "was there", row["cleanup"]) for row in rows],
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

    _report(check_topics(kafka_config(settings), partitions=settings.kafka_partitions), json=json)


@with_settings(*BUS_AND_STATE)
def doctor(
    settings: Settings,
    warm: Annotated[
        bool, typer.Option("--warm", help="Compile the kernels now, as when an image is built.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Examine the machine and the bus."""
    if warm:
        kernels.prepare(say)
        kernels.prepare_questions(say)
    _report(machine.examine(settings), json=json)


def _needs_kafka(settings: Settings, verb: str) -> None:
    if not settings.bus.startswith("kafka://"):
        fail(
            f"{verb}: {settings.bus} has no topics to make or check; give --bus kafka://HOST:PORT",
            2,
        )


def _report(checks: Iterable[Check], *, json: bool) -> None:
    wrong: list[Check] = []
    for one in checks:
        if not one.ok:
            wrong.append(one)
        if json:
            print_json(dataclasses.asdict(one))
        else:
            _print(one)
    if any(one.check in ("broker", "bus") or "directory" in one.check for one in wrong):
        fail(f"{len(wrong)} of these are wrong, and a part is unreachable", 3)
    if wrong:
        fail(f"{len(wrong)} of these are wrong: see what to do beside each", 1)


def _print(one: Check) -> None:
    if one.ok:
        print_line(harmless(f"ok     {one.check}: {one.found}"))
        return
    print_line(harmless(f"WRONG  {one.check}: {one.found} (wanted: {one.wanted})"))
    print_line(harmless(f"       → {one.do}"))
