"""The metrics of a process that nobody asks for any: as `metrics.Meters`, and nothing is counted.

A replay without a port tells nobody what it counts, and Prometheus' client loads a web server, TLS
and all: as long as a hundred pages take, for each command.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from reusewatch.streams.bus import Partition
    from reusewatch.streams.labels.marking import InForce
    from reusewatch.streams.running.metrics import Meters


class _Meter:
    """Takes what any kind of meter is told."""

    def labels(self, *_: str) -> _Meter:
        return self

    def inc(self, amount: float = 1) -> None:
        pass

    def set(self, value: float) -> None:
        pass

    def observe(self, amount: float) -> None:
        pass

    def observe_all(self, values: Sequence[float]) -> None:
        pass

    def time(self) -> AbstractContextManager[object]:
        return nullcontext()


_METER = _Meter()


class _Meters:
    def __getattr__(self, name: str) -> _Meter:
        return _METER

    def begin(self, stage: str) -> None:
        pass

    def show_labels(self, stage: str, found: InForce) -> None:
        pass

    def forget(self, parts: Sequence[Partition]) -> None:
        pass


def uncounted() -> Meters:
    """What stands in where no metrics are served."""
    return cast("Meters", _Meters())
