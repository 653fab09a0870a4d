"""Archives that were replayed to their end, so that a second replay of what is done costs nothing.

An archive is known again by its name, size and time of change, on the same bus, and under the same
settings and labels: with others, its pages may be judged otherwise, and it is read again. Only what
was read from begin to end without damage and without a dead letter is noted, when all that came of
it is safe. Without its notes a replay reads everything again, which only costs time.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from reusewatch.crawler.replaying.cursors import DIRECTORY, Tally
from reusewatch.crawler.replaying.jobs import Archive, Tree
from reusewatch.crawler.replaying.readable import file_of
from reusewatch.streams.bus import Bus, BusError

_FILE = "done.notes"


class Note(msgspec.Struct, frozen=True):
    """An archive as it was read, what it was judged under, and what was in it."""

    size: int
    changed_ns: int
    under: str
    tally: Tally


class _Notes(msgspec.Struct):
    bus: str = ""
    archives: dict[str, Note] = {}


class Done:
    """The notes of a local bus. `under` says what pages are judged under now."""

    def __init__(self, directory: Path, bus: Bus, under: Callable[[], str]) -> None:
        self._path = directory / DIRECTORY / _FILE
        self._bus = bus
        self._under = under
        self._began_under = under()
        self._notes = self._load()
        self._new: dict[str, Note] = {}
        # What archives were when they were looked up here, before they are read.
        self._before: dict[str, tuple[int, int] | None] = {}

    def _load(self) -> _Notes:
        with suppress(OSError, msgspec.MsgspecError, BusError):
            found = msgspec.json.decode(self._path.read_bytes(), type=_Notes)
            self._bus.require(found.bus, str(self._path))
            return found
        return _Notes()

    def find(self, source: Archive | Tree) -> Tally | None:
        """What is in an archive that needs no second reading."""
        note = self._notes.archives.get(source.name)
        same = note is not None and note.under == self._began_under
        state = self._before[source.name] = _state_of(source)
        if note is None or not same or state != (note.size, note.changed_ns):
            return None
        return note.tally

    def read(self, source: Archive | Tree, tally: Tally) -> None:
        """An archive was read from its begin to its end. One that has changed meanwhile may have
        more by now."""
        state = _state_of(source)
        if state is not None and state == self._before.get(source.name) and not tally.damaged:
            self._new[source.name] = Note(*state, self._began_under, tally)

    def save(self) -> None:
        """All that came of what was read is safe."""
        # Labels that came meanwhile were in force for some of the pages only.
        if not self._new or self._under() != self._began_under:
            return
        self._notes.archives |= self._new
        self._notes.bus = self._bus.mark()
        partial = self._path.with_suffix(".partial")
        with suppress(OSError):
            partial.write_bytes(msgspec.json.encode(self._notes))
            partial.replace(self._path)


def forget(directory: Path) -> None:
    """Everything is to be read again."""
    with suppress(OSError):
        (directory / DIRECTORY / _FILE).unlink(missing_ok=True)


def _state_of(source: Archive | Tree) -> tuple[int, int] | None:
    """Size and time of change of an archive's file, as it is now."""
    if isinstance(source, Tree) or not source.lasts:
        return None
    try:
        found = os.stat(file_of(source.name))
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns
