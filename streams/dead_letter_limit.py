"""How much poison a worker bears: past a share of dead letters it stops, and says so.

WorkerStopped
└── Flood   too large a share of the records is poison: somebody must look
"""

from __future__ import annotations

from collections import deque

_FLOOD_RECORDS = 1000
_FLOOD_LEAST = 100


class WorkerStopped(Exception):
    """The worker stopped by itself, and why."""


class Flood(WorkerStopped):
    """Too many dead letters."""


class DeadLetterLimit:
    """The share of dead letters among the last thousand records."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._recent: deque[tuple[int, int]] = deque()
        self._records = 0
        self._dead = 0

    def saw(self, records: int, dead: int, example: str) -> None:
        """Raise Flood when the limit is passed."""
        self._recent.append((records, dead))
        self._records += records
        self._dead += dead
        while self._records - self._recent[0][0] >= _FLOOD_RECORDS:
            gone, dead_gone = self._recent.popleft()
            self._records -= gone
            self._dead -= dead_gone
        if self._dead >= _FLOOD_LEAST and self._dead > self._limit * self._records:
            raise Flood(
                f"{self._dead} of the last {self._records} records are dead letters (the limit is "
                f"{self._limit:.0%}), most lately: {example}. See `reusewatch dead-letters`; mend "
                "what sends them, or raise --dead-letter-limit, and start again"
            )
