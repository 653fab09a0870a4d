"""How long the way is from a response to its effect on the crawl, and from the finding to it.

Measured where the effect begins: when the crawl knows of a place. What was found before the crawl
began says nothing of the way. Reads no clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from datetime import datetime, timedelta
from statistics import median

from reusewatch.streams.steering.places import KeptOut

# The last ones, of which the median is.
_KEPT = 1000


class Delays:
    """The delays of the findings that were made since a crawl began, in seconds."""

    def __init__(self, began: datetime) -> None:
        self.count = 0
        self._began = began
        self._known: set[str] = set()
        self._from: dict[str, deque[float]] = {
            "response": deque(maxlen=_KEPT), "finding": deque(maxlen=_KEPT),
        }  # fmt: skip
        self._most = dict.fromkeys(self._from, 0.0)

    def saw(self, places: Iterable[KeptOut], now: datetime) -> None:
        """These are open now; each counts when it is seen first."""
        places = list(places)
        for place in places:
            if place.alert not in self._known and place.fetched_at >= self._began:
                self.count += 1
                self._note("response", now - place.fetched_at)
                self._note("finding", now - place.since)
        self._known = {place.alert for place in places}

    def _note(self, since: str, passed: timedelta) -> None:
        seconds = max(passed.total_seconds(), 0.0)
        self._from[since].append(seconds)
        self._most[since] = max(self._most[since], seconds)

    def figures(self) -> dict[str, float]:
        """By name; nothing where nothing was found meanwhile."""
        if not self.count:
            return {}
        return {
            **{f"{since}_median": round(median(held), 3) for since, held in self._from.items()},
            **{f"{since}_most": round(most, 3) for since, most in self._most.items()},
        }
