"""On how many pages discovered content is by now: its alert goes out again when a step of pages
ends and these are twice as many as it said, and, when the stream stands still, where they are a
tenth more. So the figures that are told do not hang on where batches end.

Of what was told only: what the quota spared stays untold. Never decides what is discovered.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import replace

from reusewatch.streams.records import Alert
from reusewatch.streams.stages.snapshot import State

if TYPE_CHECKING:
    from reusewatch.detector.discovery.online import Discovered, Discovery, Occurrences
    from reusewatch.detector.discovery.spread import Spread

# What is counted: paragraphs, or whole pages.
Counted = Literal["chunk", "file"]
MOVED = 1.1
_ALERT_BYTES = 2000


class Figures:
    """The alerts that were told of each unit, and the pages of what they tell."""

    def __init__(self, counting: Mapping[Counted, Discovery], period: int) -> None:
        self._counting, self._period = counting, period
        self.restore(None)

    def nbytes(self) -> int:
        """Bytes, about."""
        told = sum(len(alerts) for alerts in self._told.values())
        return sum(one.nbytes for one in self._spreads.values()) + told * _ALERT_BYTES

    def follow(self, unit: Counted, what: Discovered, alert: Alert, row: int) -> bool:
        """An alert was told of a row of the block that is added next: its pages are counted from
        that one on, those known so far among them."""
        marks, old = self._counting[unit].marks(what.hash)
        if not self._spreads[unit].follow(what.hash, marks, old, since=row):
            return False
        self._told[unit][what.hash] = alert
        return True

    def add(self, unit: Counted, seen: Occurrences) -> None:
        """The pages of a block have come."""
        told, spread = self._told[unit], self._spreads[unit]
        self._risen[unit] |= spread.add(seen)
        if len(told) > len(spread):
            self._told[unit] = {value: alert for value, alert in told.items() if value in spread}

    def ended(self, now: datetime) -> list[Alert]:
        """A step of pages has ended: the alerts whose figure is twice what they said."""
        again = []
        for unit, risen in self._risen.items():
            told = self._told[unit]
            for value in sorted(risen & told.keys()):
                if (pages := self._spreads[unit].pages(value)) >= 2 * told[value].figure:
                    again.append(self._again(unit, value, pages, now))
            risen.clear()
        return again

    def settled(self, now: datetime) -> list[Alert]:
        """The stream stands still: the alerts whose figure is more by now than they said."""
        return [
            self._again(unit, value, pages, now)
            for unit, told in self._told.items()
            for value, alert in list(told.items())
            if (pages := self._spreads[unit].pages(value)) >= MOVED * alert.figure
        ]

    def _again(self, unit: Counted, value: int, pages: int, now: datetime) -> Alert:
        alert = replace(
            self._told[unit][value], figure=float(pages), approximate=True, detected_at=now
        )
        self._told[unit][value] = alert
        return alert

    def save(self) -> State:
        """All state."""
        arrays = {
            f"{unit}/{name}": array
            for unit, spread in self._spreads.items() for name, array in spread.save().items()
        }  # fmt: skip
        told = {
            unit: [[value, msgspec.to_builtins(alert)] for value, alert in alerts.items()]
            for unit, alerts in self._told.items()
        }
        risen = {unit: sorted(values) for unit, values in self._risen.items()}
        return State(arrays, {"told": told, "risen": risen})

    def restore(self, state: State | None) -> None:
        """Be as when this was saved, or as at first."""
        from reusewatch.detector.discovery.spread import (
            Spread,  # kernels, loaded by who really works
        )

        self._spreads: dict[Counted, Spread] = {
            unit: Spread(salt=counting.salt, period=self._period)
            for unit, counting in self._counting.items()
        }
        self._told: dict[Counted, dict[int, Alert]] = {unit: {} for unit in self._counting}
        # What more pages have since the last step ended.
        self._risen: dict[Counted, set[int]] = {unit: set() for unit in self._counting}
        if state is None:
            return
        arrays = state.by_head()
        for unit, rows in state.facts["told"].items():
            self._spreads[unit].restore(arrays[unit])
            self._told[unit] = {value: msgspec.convert(alert, Alert) for value, alert in rows}
            self._risen[unit] = set(state.facts.get("risen", {}).get(unit, ()))
