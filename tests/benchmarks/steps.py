"""Where the time of one page goes: each step of the local path, by its own time.

The steps' functions are wrapped while one run is made; a step's time is what was spent in it and
in no step inside it, in CPU time: waiting for the disk is not in it. What no step accounts for is
the rest.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import wraps
from importlib import import_module
from statistics import median
from typing import Any
from unittest.mock import patch

from tests.benchmarks.clock import pinned

# In the order of a page's way. Each is named where it is called from.
STEPS: Mapping[str, tuple[str, ...]] = {
    "read record": (
        "reusewatch.crawler.archives.reading:read_fast",
        "reusewatch.crawler.archives.reading:read_members",
    ),
    "make page": (
        "reusewatch.crawler.archives.usual:usual_page",
        "reusewatch.crawler.archives.usual:judge",
    ),
    "encode page": ("reusewatch.streams.running.local_sink:page_message",),
    "decode page": ("reusewatch.streams.stages.fingerprinting:read_page",),
    "fingerprint": ("reusewatch.detector.sketching.fingerprint:fingerprints",),
    "match labels": ("reusewatch.streams.labels.marking:Labeler.marks",),
    "columns": ("reusewatch.streams.stages.fingerprinting:block_of",),
    "rest of the row": ("reusewatch.streams.stages.fingerprinting:FingerprintStage.process",),
    "encode block": ("reusewatch.streams.blocks.format:_encoded",),
    "append to log": ("reusewatch.streams.segments:LogWriter.append",),
    "read log": ("reusewatch.streams.segments:LogReader.read",),
    "decode block": (
        "reusewatch.streams.stages.indexing:read_block",
        "reusewatch.streams.stages.neighboring:read_block",
    ),
    "discovery": ("reusewatch.streams.stages.discovering:Discovering.add",),
    "similar pages": (
        "reusewatch.streams.stages.similarity:Similarity.weighted",
        "reusewatch.streams.stages.similarity:Similarity.add",
    ),
    "labeled pages": ("reusewatch.streams.stages.labeled:LabeledPages.judge_block",),
    "index": ("reusewatch.detector.window.index:NearDuplicateIndex.add",),
    "encode verdict": ("reusewatch.streams.stages.index_reports:Reporter.verdict",),
    "encode alert": ("reusewatch.streams.stages.index_reports:Reporter._alerts",),
    "rest of judging": ("reusewatch.streams.stages.indexing:IndexStage.process",),
    "neighborhoods": ("reusewatch.streams.stages.neighboring:NeighborhoodStage.process",),
    "worker loop": ("reusewatch.streams.running.worker:Worker.step",),
    "commit": (
        "reusewatch.streams.local:LocalOutlet.flush",
        "reusewatch.streams.local:LocalInlet.commit",
    ),
    "snapshot": (
        "reusewatch.streams.running.worker:Snapshots.save",
        "reusewatch.streams.stages.indexing:IndexStage.save",
        "reusewatch.streams.stages.neighboring:NeighborhoodStage.save",
    ),
}
REST = "rest"


class Stopwatch:
    """Time by step; inside a step, that of the outer one stands still."""

    def __init__(self, steps: Mapping[str, tuple[str, ...]] = STEPS) -> None:
        self._all = steps
        self.seconds: dict[str, float] = defaultdict(float)
        self._steps = [REST]
        self._since = time.thread_time()

    def _turn(self) -> None:
        now = time.thread_time()
        self.seconds[self._steps[-1]] += now - self._since
        self._since = now

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Within, time is this step's."""
        self._begin(name)
        try:
            yield
        finally:
            self._end()

    def _begin(self, name: str) -> None:
        self._turn()
        self._steps.append(name)

    def _end(self) -> None:
        self._turn()
        self._steps.pop()

    def wrap(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, timed; of a generator, what it does between its values."""

        @wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            self._begin(name)
            try:
                made = function(*args, **kwargs)
            finally:
                self._end()
            return self._generator(name, made) if hasattr(made, "send") else made

        return timed

    def _generator(self, name: str, made: Any) -> Iterator[Any]:
        while True:
            self._begin(name)
            try:
                value = next(made)
            except StopIteration as end:
                return end.value
            finally:
                self._end()
            yield value

    def finish(self) -> dict[str, float]:
        """The seconds of each step, in the order of a page's way."""
        self._turn()
        return {name: self.seconds[name] for name in (*self._all, REST)}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """The steps' functions are wrapped within."""
        with ExitStack() as stack:
            for name, targets in self._all.items():
                for target in targets:
                    owner, attribute = _owner(target)
                    wrapped = self.wrap(name, getattr(owner, attribute))
                    stack.enter_context(patch.object(owner, attribute, wrapped))
            yield


def _owner(target: str) -> tuple[Any, str]:
    module, _, path = target.partition(":")
    *outer, attribute = path.split(".")
    owner: Any = import_module(module)
    for name in outer:
        owner = getattr(owner, name)
    return owner, attribute


def measured(
    work: Callable[[], object],
    steps: Mapping[str, tuple[str, ...]],
    pages: int,
    rounds: int,
    *,
    less: Callable[[], object] | None = None,
    less_pages: int = 0,
) -> dict[str, float]:
    """Microseconds a page of each step of this work: the median over the rounds.

    `less` is the beginning of the work, which is not counted.
    """
    _one(work, steps)
    runs = []
    for _ in range(rounds):
        before = _one(less, steps) if less else dict[str, float]()
        runs.append({name: time - before.get(name, 0) for name, time in _one(work, steps).items()})
    return {
        name: median(run[name] for run in runs) / (pages - less_pages) * 1e6 for name in runs[0]
    }


def _one(work: Callable[[], object], steps: Mapping[str, tuple[str, ...]]) -> dict[str, float]:
    with pinned():
        watch = Stopwatch(steps)
        with watch.watching():
            work()
        return watch.finish()
