"""What a worker says of itself: a line when its state changes, and none in between.

Lines for people, or JSON for a collector of logs. Decides nothing, and counts nothing: who knows
that something has changed says so here.

News        what a worker is handed
Brief       only what is wrong, as a command says it: a replay has a summary of its own
WorkerLog   every change, with time and level
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Literal, Protocol

from reusewatch.streams.bus import Partition

Level = Literal["info", "warning", "error"]
Form = Literal["plain", "json"]
Fact = int | float | str | Sequence[str]


class News(Protocol):
    """Who is told."""

    def tell(self, event: str, text: str, *, level: Level = "info", **facts: Fact) -> None:
        """`event` is one of a closed set; `facts` are figures of the text, for programs."""

    def answered_seconds(self) -> float:
        """For how long the broker has been there, as far as was said: 0 while it is away."""


class Brief:
    """Passes on what is wrong, and nothing else."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def tell(self, event: str, text: str, *, level: Level = "info", **facts: Fact) -> None:
        """Say it, unless all is well."""
        if level != "info":
            self._say(text)

    def answered_seconds(self) -> float:
        """There is none that could be away, or nobody says so here."""
        return math.inf


class WorkerLog:
    """The lines of one worker."""

    def __init__(
        self,
        stage: str,
        form: Form,
        write: Callable[[str], None],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._stage = stage
        self._form = form
        self._write = write
        self._now = now
        self._away_since: float | None = None
        self._back_at = -math.inf

    def tell(self, event: str, text: str, *, level: Level = "info", **facts: Fact) -> None:
        """One line."""
        at = self._now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if self._form == "plain":
            # A newline in it, of a page or a broker, must not look like a line of ours.
            self._write(f"{at} {level} {self._stage}: {' '.join(text.splitlines())}")
            return
        line = {"at": at, "level": level, "stage": self._stage, "event": event, "text": text}
        # In ASCII: nothing is left in it for a terminal, or a collector of logs, to obey.
        self._write(json.dumps(line | facts))

    def note(self, text: str) -> None:
        """Something goes on that takes a while."""
        self.tell("note", text)

    def trouble(self, text: str) -> None:
        """Something is wrong, and the worker goes on."""
        self.tell("trouble", text, level="warning")

    def away(self, text: str) -> None:
        """The broker does not answer: said once, however often it is tried."""
        if self._away_since is None:
            self._away_since = time.monotonic()
            self.tell("broker-away", f"broker away: {text}", level="warning")

    def back(self) -> None:
        """The broker answers somebody who had waited for it."""
        since, self._away_since = self._away_since, None
        if since is not None:
            self._back_at = time.monotonic()
            seconds = time.monotonic() - since
            text = f"broker back, {seconds:.0f} s after it was said to be away"
            self.tell("broker-back", text, seconds=round(seconds, 3))

    def answered_seconds(self) -> float:
        """For how long the broker has been there, as far as was said: 0 while it is away."""
        return 0.0 if self._away_since is not None else time.monotonic() - self._back_at


def named(parts: Sequence[Partition]) -> list[str]:
    """Partitions as `topic/number`, in order."""
    return [f"{part.topic}/{part.number}" for part in sorted(parts)]


def in_words(parts: Sequence[Partition]) -> str:
    """Partitions for people.

    >>> in_words([Partition("pages", 2), Partition("pages", 0)])
    'pages 0, 2'
    """
    numbers: dict[str, list[str]] = {}
    for part in sorted(parts):
        numbers.setdefault(part.topic, []).append(str(part.number))
    return "; ".join(f"{topic} {', '.join(these)}" for topic, these in numbers.items())
