"""How far a replay is, on stderr: a bar at a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from reusewatch.crawler.replaying.cursors import Cursor
from reusewatch.streams.console import harmless, lively, say

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

_LINE_SECONDS = 10.0
_BAR_SECONDS = 0.1


class ReplayProgress:
    """Records, pages, bytes a second, time left."""

    def __init__(self) -> None:
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._next = 0.0 if lively() else time.monotonic() + _LINE_SECONDS
        self._name, self._size = "", 0
        if lively():
            self._bar = _new_bar()
            self._bar.start()

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._bar is not None:
            self._bar.stop()

    def begin(self, name: str, size: int) -> None:
        """A source is opened."""
        self._name, self._size = harmless(name), size
        if self._bar is not None:
            if self._task is not None:
                self._bar.remove_task(self._task)
            shown = self._name.rpartition("/")[2].replace("[", r"\[")
            self._task = self._bar.add_task(shown, total=size or None, counts="")

    def at(self, cursor: Cursor, position: int) -> None:
        """So much of it was read."""
        now = time.monotonic()
        if now < self._next:
            return
        counts = f"{cursor.tally.records} records, {cursor.tally.pages} pages"
        if self._bar is not None and self._task is not None:
            self._next = now + _BAR_SECONDS
            self._bar.update(self._task, completed=position, counts=counts)
        else:
            self._next = now + _LINE_SECONDS
            share = f", {position / self._size:.0%}" if self._size else ""
            say(f"{self._name}: {counts}{share}")


def _new_bar() -> Bar:
    # rich is loaded where a bar is drawn: it takes a twentieth of what a replay takes to start.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[counts]}"),
        console=Console(stderr=True),
    )
