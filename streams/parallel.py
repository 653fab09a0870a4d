"""The parsing half on several processes: batches out, outputs back in the order they went out.

The order is that of the source whatever the number of processes, so that what is found is too.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Protocol

from streams.bus import Message
from streams.stages import Output, Stage
from streams.worker import WorkerStopped

_TRIES = 3


class Runner(Protocol):
    """Runs batches of a stage that has no state."""

    def submit(self, batch: Sequence[Message]) -> Iterator[Output]:
        """Take a batch; yields what is ready of earlier ones, in their order."""

    def drain(self) -> Iterator[Output]:
        """Everything that was submitted and not yielded yet."""

    def close(self) -> None:
        """End the processes."""


class InProcess:
    """One process: this one."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def submit(self, batch: Sequence[Message]) -> Iterator[Output]:
        """Done at once."""
        yield self._stage.process(batch)

    def drain(self) -> Iterator[Output]:
        """Nothing waits."""
        return iter(())

    def close(self) -> None:
        """Nothing to end."""


class ProcessPool:
    """Several processes, a bounded number of batches under way."""

    def __init__(self, stage: Stage, workers: int) -> None:
        self._stage = stage
        self._workers = workers
        self._waiting: deque[tuple[Sequence[Message], Future[Output]]] = deque()
        self._pool = self._start()

    def _start(self) -> ProcessPoolExecutor:
        # Spawned, not forked: this process may have threads.
        return ProcessPoolExecutor(
            self._workers,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
            initargs=(self._stage,),
        )

    def submit(self, batch: Sequence[Message]) -> Iterator[Output]:
        """Take a batch, and wait for the oldest while there are two for each process."""
        self._waiting.append((batch, self._send(batch)))
        while len(self._waiting) > 2 * self._workers:
            yield self._oldest()

    def _send(self, batch: Sequence[Message]) -> Future[Output]:
        try:
            return self._pool.submit(_process, batch)
        except BrokenProcessPool as error:  # told again, and mended, when its turn comes
            broken: Future[Output] = Future()
            broken.set_exception(error)
            return broken

    def drain(self) -> Iterator[Output]:
        """Wait for all."""
        while self._waiting:
            yield self._oldest()

    def _oldest(self) -> Output:
        for _ in range(_TRIES):
            try:
                output = self._waiting[0][1].result()
            except BrokenProcessPool:
                self._mend()
                continue
            self._waiting.popleft()
            return output
        first = self._waiting[0][0][0]
        raise WorkerStopped(
            f"a worker process died {_TRIES} times over the batch that begins at "
            f"{first.key} (offset {first.offset}): out of memory? Try fewer --workers, or a "
            "smaller --batch-pages"
        )

    def _mend(self) -> None:
        """A process was killed: start anew and send again what was under way."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = self._start()
        self._waiting = deque((batch, self._send(batch)) for batch, _ in self._waiting)

    def close(self) -> None:
        """End the processes; what is under way is dropped."""
        self._pool.shutdown(wait=True, cancel_futures=True)


_stage: Stage | None = None


def _begin(stage: Stage) -> None:
    global _stage  # noqa: PLW0603 - one stage for each worker process
    _stage = stage
    # Ctrl-C reaches the whole group: the parent decides when its workers end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # Each worker holds both ends of the queue that it waits on: a parent that was killed would
    # leave them waiting for ever.
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _process(batch: Sequence[Message]) -> Output:
    if _stage is None:
        raise RuntimeError("the worker process was not begun")
    return _stage.process(batch)
