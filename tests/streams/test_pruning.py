"""A local bus that is pruned, or bounded while it is written: what leaves, and what never does."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.local import DATABASE, LocalBus
from reusewatch.streams.local.database import TABLES, connect
from reusewatch.streams.local.pruning import PRUNED, keep_within, remove_older, used
from tests.command import run

ROWS = 6_000
VALUE = os.urandom(300)


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[LocalBus]:
    """Every table, each with as many rows; and a log."""
    made = LocalBus(tmp_path / "bus")
    outlet = made.outlet()
    for topic in TABLES:
        for number in range(ROWS if topic in PRUNED else 10):
            outlet.send(Outgoing(topic, f"{number:032x}", VALUE))
    outlet.send(Outgoing(topics.FINGERPRINTS, "k", VALUE))
    outlet.flush()
    outlet.close()
    yield made
    made.close()


def keys(bus: LocalBus, topic: str) -> list[int]:
    return [int(message.key, 16) for message in bus.read(topic)]


def test_the_oldest_leave_until_it_fits_and_nothing_else_does(bus: LocalBus) -> None:
    others = {topic: keys(bus, topic) for topic in TABLES if topic not in PRUNED}
    database = connect(bus.directory)
    most = used(database) // 2
    removed = keep_within(database, most)
    assert 0 < used(database) <= most
    for topic in PRUNED:
        assert keys(bus, topic) == list(range(removed[topic], ROWS)), "the newest stay"
    assert {topic: keys(bus, topic) for topic in others} == others
    assert keep_within(database, most) == dict.fromkeys(PRUNED, 0)
    database.close()
    assert len(list(bus.read(topics.FINGERPRINTS))) == 1


def test_a_bound_that_cannot_be_kept_ends_and_keeps_what_is_needed(bus: LocalBus) -> None:
    database = connect(bus.directory)
    assert keep_within(database, 1) == dict.fromkeys(PRUNED, ROWS)
    database.close()
    assert len(keys(bus, topics.ALERTS)) == 10


def test_what_came_before_a_time_leaves(bus: LocalBus) -> None:
    database = connect(bus.directory)
    assert remove_older(database, 0) == dict.fromkeys(PRUNED, 0)
    now = time.time_ns() // 1_000_000
    assert remove_older(database, now + 1000) == dict.fromkeys(PRUNED, ROWS)
    database.close()


def test_a_bound_holds_while_it_is_written(tmp_path: Path) -> None:
    """The file as well: what left makes room for what comes."""
    outlet = LocalBus(tmp_path).outlet()
    most = 4 << 20
    for number in range(40_000):
        outlet.send(Outgoing(topics.VERDICTS, f"{number:016x}", VALUE))
        if number % 500 == 0:
            outlet.flush()
            outlet.keep_within(most)
    outlet.close()
    assert (tmp_path / DATABASE).stat().st_size < most * 1.25
    kept = keys(LocalBus(tmp_path), topics.VERDICTS)
    assert kept == list(range(kept[0], 40_000))
    assert len(kept) > 3_000


def test_the_verb_gives_the_space_back_and_says_how_much(bus: LocalBus) -> None:
    directory = bus.directory.parent
    before = (bus.directory / DATABASE).stat().st_size
    done = run("prune", "--bus", "local:bus", "--keep", "2MB", "--keep", "1w", "--json",
               cwd=directory)  # fmt: skip
    assert done.code == 0, done.err
    (said,) = done.objects
    assert sum(said["removed"].values()) == 2 * ROWS - sum(len(keys(bus, x)) for x in PRUNED) > 0
    assert said["kept"][DATABASE] == (bus.directory / DATABASE).stat().st_size < 2_000_000 < before
    assert said["before"] > said["after"] == sum(said["kept"].values())
    too_little = run("prune", "--bus", "local:bus", "--keep", "1kB", cwd=directory)
    assert too_little.code == 1
    assert "without any verdict" in too_little.err
    assert len(keys(bus, topics.ALERTS)) == 10


def test_a_bus_that_is_written_is_not_pruned(bus: LocalBus) -> None:
    bus.lock()
    done = run("prune", "--bus", "local:bus", cwd=bus.directory.parent)
    assert (done.code, done.out) == (3, "")
    assert "in use by process" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--bus", "kafka://127.0.0.1:1"], "is no local bus"),
     (["--bus", "local:nowhere"], "there is no bus in nowhere"),
     (["--keep", "much", "--bus", "local:bus"], "an age such as 30d")],
)  # fmt: skip
def test_what_cannot_be_pruned_is_2(bus: LocalBus, arguments: list[str], said: str) -> None:
    done = run("prune", *arguments, cwd=bus.directory.parent)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert not (bus.directory.parent / "nowhere").exists()
