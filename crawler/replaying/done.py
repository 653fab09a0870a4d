"""Archives that were replayed to their end, so that a second replay of what is done costs nothing.

An archive is known again by its name, size and time of change, on the same bus, and under the same
settings and labels: with others, its pages may be judged otherwise, and it is read again. Only what
was read from begin to end without damage and without a dead letter is noted, when all that came of
it is safe; a run that is interrupted between the two goes on with what its cursor says. Without its
notes a replay reads everything again: that costs time, and what came long ago is judged anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from reusewatch.crawler.replaying.cursors import DIRECTORY, Note, Tally
from reusewatch.crawler.replaying.jobs import Archive, Tree
from reusewatch.crawler.replaying.readable import file_of
from reusewatch.streams.bus import Bus, BusError
from reusewatch.streams.disk import replace_file
from reusewatch.streams.wire import UNREADABLE

_FILE = "done.notes"


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
        # What archives were when they were looked for.
        self._states: dict[str, tuple[int, int] | None] = {}

    def _load(self) -> _Notes:
        with suppress(OSError, *UNREADABLE, BusError):
            found = msgspec.json.decode(self._path.read_bytes(), type=_Notes)
            self._bus.require(found.bus, str(self._path))
            return found
        return _Notes()

    def find(self, source: Archive | Tree) -> Tally | None:
        """What is in an archive that needs no second reading."""
        state = self._states[source.name] = _state_of(source)
        note = self._notes.archives.get(source.name)
        if note is None or note.under != self._began_under:
            return None
        return note.tally if state == (note.size, note.changed_ns) else None

    def begun(self, source: Archive | Tree, before: Tally) -> Note | None:
        """What an archive is when its reading begins, and all that was seen before. As it was when
        it was looked for: the first of it may have been read since."""
        state = self._states.pop(source.name, None) or _state_of(source)
        if state is None:
            return None
        kept = msgspec.structs.replace(
            before, skipped=dict(before.skipped), damaged=dict(before.damaged)
        )
        return Note(*state, self._began_under, kept)

    def ended(self, source: Archive | Tree, begun: Note | None, now: Tally) -> Note | None:
        """The note of an archive that was read to its end. One that has changed meanwhile may have
        more by now; of one that was begun under others, some pages were judged under these only."""
        if begun is None or begun.under != self._began_under:
            return None
        found = now.since(begun.tally)
        if found.damaged or _state_of(source) != (begun.size, begun.changed_ns):
            return None
        return msgspec.structs.replace(begun, tally=found)

    def save(self, read: Mapping[str, Note]) -> None:
        """All that came of what was read is safe."""
        # Labels that came meanwhile were in force for some of the pages only.
        if self._under() != self._began_under:
            return
        self._notes.archives |= read
        self._notes.bus = self._bus.mark()
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self._path, msgspec.json.encode(self._notes))


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
