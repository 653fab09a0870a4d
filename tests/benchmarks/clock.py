"""Measuring in turns: A, B, A, B, … on one core, and the median of each.

CPU time, not the clock on the wall: what else the machine does is not counted. What waits for a
disk or another process is not either, so the wall is kept beside it.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Time:
    """Seconds of one run."""

    cpu: float
    wall: float


@contextmanager
def pinned(core: int | None = None) -> Iterator[int]:
    """This process on one core, where the system can do that."""
    if not hasattr(os, "sched_setaffinity"):
        yield 0
        return
    before = os.sched_getaffinity(0)
    chosen = max(before) if core is None else core
    os.sched_setaffinity(0, {chosen})
    try:
        yield chosen
    finally:
        os.sched_setaffinity(0, before)


def cores() -> list[int]:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def timed(work: Callable[[], object]) -> Time:
    """One run, its garbage counted, what was garbage before not."""
    gc.collect()
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return Time(time.process_time() - cpu, time.perf_counter() - wall)


def in_turns(
    works: Mapping[str, Callable[[], object]], rounds: int, *, warm: bool = True
) -> dict[str, list[Time]]:
    """The times of each over the rounds, measured in turns on one core, after one unmeasured."""
    found: dict[str, list[Time]] = {name: [] for name in works}
    with pinned():
        if warm:
            for work in works.values():
                work()
        for _ in range(rounds):
            for name, work in works.items():
                found[name].append(timed(work))
    return found


def cpu(times: list[Time]) -> float:
    """The median of the CPU seconds."""
    return median(time.cpu for time in times)


def wall(times: list[Time]) -> float:
    """The median of the seconds on the wall."""
    return median(time.wall for time in times)


def ratio(over: list[Time], under: list[Time]) -> float:
    """The median of the rounds' ratios: what slows a round slows both of it."""
    return median(a.cpu / b.cpu for a, b in zip(over, under, strict=True))


def spread(times: list[Time]) -> list[float]:
    """The least and the most CPU seconds, for whoever asks how noisy it was."""
    return [min(time.cpu for time in times), max(time.cpu for time in times)]
