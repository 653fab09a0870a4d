"""Beginning anew on a local bus whose parts do not belong together, or are damaged.

Nothing is thrown away: what is there is moved aside, under a name that says so, and the next run
finds an empty bus. A bus that is sound, and whole, is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reusewatch.streams.bus import BusBroken, Unreachable
from reusewatch.streams.local import LocalBus
from reusewatch.streams.local.generation import DATABASE, LOGS
from reusewatch.streams.local.judged import FILE as JUDGED
from reusewatch.streams.opening import state_directory
from reusewatch.streams.running.topology import STATEFUL
from reusewatch.streams.settings import Settings
from reusewatch.streams.stages.snapshot import Snapshots

_PARTS = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", *LOGS, "snapshots")


def begin_anew(settings: Settings, say: Callable[[str], None]) -> None:
    """Set aside the local bus of the settings where it is not whole."""
    directory = state_directory(settings)
    bus = LocalBus(directory)
    bus.lock()
    try:
        _require_whole(bus, settings, directory)
    except BusBroken as error:
        aside = _set_aside(directory)
        say(
            f"{error}\nmoved to {aside}: remove it when nothing of it is needed any more; labels "
            "that were in force are to be pushed again"
        )
    finally:
        bus.close()


def _require_whole(bus: LocalBus, settings: Settings, directory: Path) -> None:
    bus.check()
    for stage in STATEFUL:
        Snapshots(directory / "snapshots", stage, settings.scheme, bus).load()
        inlet = bus.inlet(stage, LOGS)
        try:
            inlet.seek(inlet.committed())
        finally:
            inlet.close()
    outlet = bus.outlet()
    try:
        for topic in LOGS:
            outlet.log(topic)
    finally:
        outlet.close()


def _set_aside(directory: Path) -> Path:
    number = 1
    while (aside := directory / f"set-aside-{number}").exists():
        number += 1
    try:
        aside.mkdir()
        for name in _PARTS:
            if (directory / name).exists():
                (directory / name).rename(aside / name)
        # A cursor says that everything before it is safe on the bus, which is empty now.
        for cursor in (directory / "replays").glob("*.json"):
            cursor.rename(aside / cursor.name)
        # What crawls brought stays, and is judged anew onto the empty bus.
        (directory / JUDGED).unlink(missing_ok=True)
    except OSError as error:
        raise Unreachable(f"{directory} cannot be set aside: {error.strerror}") from error
    return aside
