"""What belongs together on a local bus: a part that is gone, another's, or damaged is said."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from reusewatch.crawler.replaying.cursors import Cursor, Cursors
from reusewatch.streams import topics
from reusewatch.streams.bus import BusBroken, BusError, Outgoing, Parted, Partition
from reusewatch.streams.local import DATABASE, LocalBus
from reusewatch.streams.local.database import TABLES
from reusewatch.streams.stages.snapshot import Snapshots, State
from tests.pages import SCHEME

FINGERPRINTS = Partition(topics.FINGERPRINTS, 0)


def filled(directory: Path, rows: int = 40) -> LocalBus:
    """A bus with rows in every table and an entry in a log."""
    bus = LocalBus(directory)
    outlet = bus.outlet()
    for number in range(rows):
        for topic in TABLES:
            value = f'{{"number":{number},"text":"{"word " * 40}"}}'.encode()
            outlet.send(Outgoing(topic, f"{number:032x}", value, (("schema", b"x/1"),)))
    outlet.send(Outgoing(topics.FINGERPRINTS, "site", b"block"))
    outlet.close()
    return bus


def without_database(directory: Path) -> None:
    for path in directory.glob(f"{DATABASE}*"):
        path.unlink()


def uses(bus: LocalBus) -> Iterator[object]:
    """Everything that a process does with a bus."""
    bus.check()
    inlet = bus.inlet("index", [topics.FINGERPRINTS])
    inlet.seek({FINGERPRINTS: 0})
    yield inlet.poll(0)
    inlet.commit({FINGERPRINTS: 1})
    outlet = bus.outlet()
    for topic in TABLES:
        yield list(bus.read(topic))
        outlet.send(Outgoing(topic, "a", b"b"))
    outlet.close()
    inlet.close()


def test_a_sound_bus_is_used_without_a_word(tmp_path: Path) -> None:
    assert len(list(uses(filled(tmp_path)))) == len(TABLES) + 1


@pytest.mark.parametrize(
    "use",
    [
        LocalBus.outlet,
        LocalBus.check,
        lambda bus: bus.inlet("index", [topics.FINGERPRINTS]),
        lambda bus: list(bus.read(topics.ALERTS)),
        lambda bus: bus.end(topics.ALERTS),
    ],
    ids=["outlet", "check", "inlet", "read", "end"],
)
def test_a_database_that_is_gone_is_not_made_again(tmp_path: Path, use: object) -> None:
    bus = filled(tmp_path)
    without_database(tmp_path)
    with pytest.raises(Parted, match="--restart"):
        use(bus)  # type: ignore[operator]
    assert not (tmp_path / DATABASE).exists()


def test_a_stamp_that_a_power_cut_left_empty_is_written_again(tmp_path: Path) -> None:
    bus = filled(tmp_path)
    stamped = tmp_path / topics.FINGERPRINTS / "generation"
    name = stamped.read_text()
    stamped.write_text("")
    assert len(list(uses(bus))) == len(TABLES) + 1
    outlet = bus.outlet()
    outlet.send(Outgoing(topics.FINGERPRINTS, "site", b"block"))
    outlet.close()
    assert stamped.read_text() == name


def test_a_log_beside_another_database_is_said(tmp_path: Path) -> None:
    bus, other = filled(tmp_path / "one"), filled(tmp_path / "other")
    without_database(bus.directory)
    shutil.copy(other.directory / DATABASE, bus.directory / DATABASE)
    with pytest.raises(Parted, match="belongs to another"):
        bus.outlet()


def test_a_database_that_is_taken_away_is_seen_at_the_next_flush(tmp_path: Path) -> None:
    bus = filled(tmp_path)
    outlet, inlet = bus.outlet(), bus.inlet("index", [topics.FINGERPRINTS])
    outlet.flush()
    without_database(tmp_path)
    outlet.send(Outgoing(topics.ALERTS, "lost", b"{}"))
    with pytest.raises(Parted, match="removed or replaced"):
        outlet.flush()
    with pytest.raises(Parted, match="removed or replaced"):
        inlet.commit({FINGERPRINTS: 1})
    inlet.close()
    with pytest.raises(BusError):
        outlet.close()


def test_a_log_that_is_taken_away_is_seen_at_the_next_flush(tmp_path: Path) -> None:
    bus = filled(tmp_path)
    outlet = bus.outlet()
    outlet.send(Outgoing(topics.FINGERPRINTS, "site", b"block"))
    shutil.rmtree(tmp_path / topics.FINGERPRINTS)
    with pytest.raises(Parted, match="removed while"):
        outlet.flush()
    with pytest.raises(BusError):
        outlet.close()


def test_a_snapshot_beside_another_database_is_said(tmp_path: Path) -> None:
    bus, other = filled(tmp_path / "one"), filled(tmp_path / "other")
    Snapshots(tmp_path / "kept", "index", SCHEME, bus).save(State(), {FINGERPRINTS: 1})
    assert Snapshots(tmp_path / "kept", "index", SCHEME, bus).load().state is not None
    with pytest.raises(Parted, match="belongs to another"):
        Snapshots(tmp_path / "kept", "index", SCHEME, other).load()


def test_a_database_older_than_a_snapshot_is_said(tmp_path: Path) -> None:
    bus = filled(tmp_path / "bus")
    kept = Snapshots(tmp_path / "kept", "index", SCHEME, bus)
    shutil.copy(bus.directory / DATABASE, tmp_path / "yesterday")
    outlet = bus.outlet()
    outlet.send(Outgoing(topics.ALERTS, "today", b"{}"))
    outlet.close()
    kept.save(State(), {FINGERPRINTS: 1})
    without_database(bus.directory)
    shutil.copy(tmp_path / "yesterday", bus.directory / DATABASE)
    with pytest.raises(Parted, match="is older than"):
        kept.load()


def test_a_cursor_of_another_bus_is_said(tmp_path: Path) -> None:
    bus = filled(tmp_path)
    cursors = Cursors(tmp_path, marks=bus)
    cursors.save("job", Cursor(offset=7))
    found = cursors.load("job")
    assert found is not None
    assert found.offset == 7
    shutil.rmtree(tmp_path / topics.FINGERPRINTS)
    without_database(tmp_path)
    with pytest.raises(Parted, match="belongs to another"):
        cursors.load("job")


def test_four_flipped_kilobytes_are_said_wherever_they_are(tmp_path: Path) -> None:
    whole = filled(tmp_path / "whole")
    size = (whole.directory / DATABASE).stat().st_size
    for at in range(0, size, 4096):
        directory = tmp_path / f"at-{at}"
        shutil.copytree(whole.directory, directory)
        with (directory / DATABASE).open("r+b") as file:
            file.seek(at)
            file.write(Random(at).randbytes(4096))
        with pytest.raises(BusBroken, match="--restart"):
            list(uses(LocalBus(directory)))
        shutil.rmtree(directory)


def test_what_is_damaged_at_the_start_is_found_before_anything_is_read(tmp_path: Path) -> None:
    bus = filled(tmp_path, rows=400)
    with (tmp_path / DATABASE).open("r+b") as file:
        file.seek((tmp_path / DATABASE).stat().st_size // 8192 * 4096)
        file.write(Random(1).randbytes(4096))
    with pytest.raises(BusBroken, match="is damaged"):
        bus.check()
