"""How far a replay came, so that an interrupted one goes on instead of beginning again.

One small file, replaced as a whole; what it says is safe is safe on the bus. A replay that ends
removes its own entry: run again, it replays again.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

FILE = "replays.json"


class Tally(msgspec.Struct, kw_only=True):
    """What a replay has seen so far."""

    records: int = 0
    pages: int = 0
    skipped: dict[str, int] = {}
    damaged: dict[str, int] = {}
    dead_letters: int = 0
    alerts: int | None = 0
    unverified: int = 0
    bytes: int = 0
    seconds: float = 0.0


class Cursor(msgspec.Struct, kw_only=True):
    """Where in its sources a replay stands: those done, and the offset in the one under way."""

    done: list[str] = []
    # Sizes when they were read: an archive that has changed since begins again.
    sizes: dict[str, int] = {}
    source: str | None = None
    offset: int = 0
    tally: Tally = msgspec.field(default_factory=Tally)


class Cursors:
    """The cursors of a state directory, by what is replayed."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE

    def load(self, job: str) -> Cursor | None:
        """Where the replay stopped, if it was interrupted."""
        return self._all().get(job)

    def save(self, job: str, cursor: Cursor) -> None:
        """Everything before the cursor is safe."""
        self._write(self._all() | {job: cursor})

    def clear(self, job: str) -> None:
        """The replay is through."""
        found = self._all()
        if found.pop(job, None) is not None:
            self._write(found)

    def _all(self) -> dict[str, Cursor]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, Cursor])
        except (FileNotFoundError, msgspec.MsgspecError):
            return {}  # without it a replay begins again, which only costs time

    def _write(self, cursors: dict[str, Cursor]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        partial = self._path.with_suffix(".partial")
        with partial.open("wb") as file:
            file.write(msgspec.json.encode(cursors))
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self._path)
