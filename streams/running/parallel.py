"""The parsing half on several processes: batches out, outputs back in the order they went out.
Between these they make the evidence of alerts, from pages that they read again.

The order is that of the source whatever the number of processes, so that what is found is too.
Each process has a pipe of its own and shares no queue and no lock with another: one that is killed
in the middle of anything takes nothing with it, and a parent that is killed ends them all.
"""

from __future__ import annotations

import os
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from threading import Lock
from typing import Any, Protocol

from reusewatch.streams.bus import Message
from reusewatch.streams.dead_letter_limit import WorkerStopped
from reusewatch.streams.records import Alert
from reusewatch.streams.running.chain import Chain, Following, Task, Tell
from reusewatch.streams.running.channel import Channel, channel
from reusewatch.streams.running.fork_server import load_ahead, started
from reusewatch.streams.running.forks import Fork, can_fork
from reusewatch.streams.stages.evidencing import Allowance, Made, Making
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.stage import Output, Stage
from reusewatch.streams.threads import Promise, Threads
from reusewatch.streams.wire import packed_alerts, unpacked_alerts

_TRIES = 3
_END_SECONDS = 5.0
_BEHIND = 10


@dataclass(frozen=True, slots=True)
class Evidence:
    """Alerts whose evidence is to be made."""

    alerts: Sequence[Alert]
    allowance: Allowance

    def __reduce__(self) -> Any:
        return _evidence, (packed_alerts(self.alerts), self.allowance)

    def __str__(self) -> str:
        return f"the evidence of {self.alerts[0].url} and those behind it"


def _evidence(alerts: bytes, allowance: Allowance) -> Evidence:
    return Evidence(unpacked_alerts(alerts), allowance)


Work = Sequence[Message] | Task | Evidence


class Runner(Protocol):
    """Runs batches of a stage that has no state."""

    def submit(self, batch: Sequence[Message]) -> Iterator[Output]:
        """Take a batch; yields what is ready of earlier ones, in their order."""

    def drain(self) -> Iterator[Output]:
        """Everything that was submitted and not yielded yet."""

    def let_go(self) -> None:
        """Nothing comes any more: the processes end beside what this one does before `close`."""

    def close(self) -> None:
        """End the processes."""


class ProcessPool:
    """Several processes, a bounded number of batches under way."""

    def __init__(self, stage: Stage, workers: int) -> None:
        self._bound = 2 * workers
        self._waiting: deque[Promise[Output]] = deque()
        self._processes = [_Process(stage) for _ in range(workers)]
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        for process in self._processes:
            self._idle.put(process)
        forked = can_fork()
        if forked:
            # Once, and not in each of them.
            _get_ready(stage)
            for process in self._processes:
                process.fork()
        else:
            load_ahead(getattr(stage, "read_origin", None))
        # A thread for each process: one waits for its pipe while another's is served. Not before
        # the forks: there are none where there are threads.
        self._threads = Threads(workers)
        if not forked:
            for process in self._processes:
                self._threads.submit(process.begin)

    def submit(self, batch: Sequence[Message]) -> Iterator[Output]:
        """Take a batch, and wait for the oldest while there are two for each process."""
        self._waiting.append(self._threads.submit(partial(self._run, batch)))
        while len(self._waiting) > self._bound:
            yield self._waiting.popleft().result()

    def ahead(self, first: Task, following: Following) -> Iterator[tuple[Any, Output]]:
        """The processes read themselves, from the first task on: what each told, and its output."""

        def start(task: Task, tell: Tell) -> Promise[Output]:
            return self._threads.submit(partial(self._run, task, tell))

        return iter(Chain(start, first, following, self._bound))

    def evidence(self, alerts: Sequence[Alert], allowance: Allowance) -> Promise[Made]:
        """Have one of the processes make the evidence of these; it reads their pages itself."""
        return self._threads.submit(partial(self._run, Evidence(alerts, allowance)))

    def _run(self, batch: Work, tell: Tell | None = None) -> Any:
        process = self._idle.get()
        try:
            return process.run(batch, tell)
        finally:
            self._idle.put(process)

    def drain(self) -> Iterator[Output]:
        """Wait for all."""
        while self._waiting:
            yield self._waiting.popleft().result()

    def let_go(self) -> None:
        """End the processes and do not wait for that, which takes as long as to release all of
        their memory; what is under way is dropped."""
        self._threads.drop()
        for process in self._processes:
            process.let_go()

    def close(self) -> None:
        """The same, and wait."""
        self.let_go()
        for process in self._processes:
            process.close()
        self._threads.close()
        for process in self._processes:
            process.leave()


class _Process:
    """One process and the pipe to it; started anew when it dies."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._pipe: Channel | None = None
        self._process: BaseProcess | Fork
        # Held while the process is started or ended: closing may come from another thread.
        self._changing = Lock()
        self._closed = False

    def fork(self) -> None:
        """Fork it from this process, before there are threads. Where that fails, it is started with
        the first batch."""
        ours, theirs = channel()
        try:
            self._process = Fork(partial(_serve, theirs, self._stage), theirs.fileno())
        except OSError:
            ours.close()
        else:
            self._pipe = ours
        theirs.close()

    def begin(self) -> None:
        """Start it. Where that fails, the first batch tries again, and says what is wrong."""
        with suppress(OSError, EOFError):
            self._start()

    def run(self, batch: Work, tell: Tell | None) -> Any:
        why = ""
        for _ in range(_TRIES):
            try:
                pipe = self._pipe or self._start()
                pipe.send(batch)
                outcome = pipe.recv()
                if tell is not None and not isinstance(outcome, str):
                    tell(outcome)
                    outcome = pipe.recv()
            except (EOFError, OSError) as error:
                self._end()
                if self._closed:
                    raise WorkerStopped("the processes were ended") from error
                why = f" ({error})" if str(error) else ""
                continue
            if isinstance(outcome, str):
                raise RuntimeError(f"in a worker process:\n{outcome}")
            return outcome
        raise WorkerStopped(
            f"a worker process died {_TRIES} times over {_named(batch)}{why}: out of memory? Try "
            "fewer --workers, or a smaller batch_pages"
        )

    def _start(self) -> Channel:
        with self._changing:
            if self._closed:
                raise EOFError
            if self._pipe is not None:
                return self._pipe
            ours, theirs = channel()
            self._process = started(_serve, (theirs, self._stage))
            # Or the end of the process would not be the end of the pipe.
            theirs.close()
            self._pipe = ours
            return ours

    def _end(self) -> None:
        with self._changing:
            if self._pipe is not None:
                self._process.kill()
                self._process.join(_END_SECONDS)
                self._pipe.close()
                self._pipe = None

    def let_go(self) -> None:
        with self._changing:
            self._closed = True
            if self._pipe is not None:
                # Its end is the end of the pipe, for the thread that waits there too.
                self._process.kill()

    def close(self) -> None:
        with self._changing:
            if self._pipe is not None:
                self._process.join(_END_SECONDS)

    def leave(self) -> None:
        """Close the pipe, when nobody waits there any more."""
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None


def _named(batch: Work) -> str:
    if isinstance(batch, Sequence):
        return f"the batch that begins at {batch[0].key} (offset {batch[0].offset})"
    return str(batch)


def _get_ready(stage: Stage) -> None:
    if isinstance(stage, FingerprintStage):
        stage.get_ready()


def _serve(pipe: Channel, stage: Stage) -> None:
    """In the process: until the parent is gone."""
    # All wait for the one that judges: where cores are few, it would have too little of one.
    with suppress(OSError):  # a sandbox may not allow it
        os.nice(_BEHIND)
    _get_ready(stage)
    making = None
    if isinstance(stage, FingerprintStage):
        making = Making(stage.scheme, stage.read_origin)
    while True:
        try:
            batch = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            for outcome in _outcomes(stage, making, batch):
                pipe.send(outcome)
        except OSError:
            return


def _outcomes(stage: Stage, making: Making | None, batch: Work) -> Iterator[object]:
    """What is told of a task, and an output; a mistake of ours as text: what an exception is made
    of need not survive the way."""
    try:
        if isinstance(batch, Sequence):
            yield stage.process(batch)
            return
        if isinstance(batch, Evidence):
            assert making is not None  # noqa: S101 - none else has pages that can be read again
            yield making.make(batch.alerts, batch.allowance)
            return
        told, pages = batch.read()
        yield told
        assert isinstance(stage, FingerprintStage)  # noqa: S101 - no other stage takes pages
        yield stage.pages(pages)
    except Exception:
        yield traceback.format_exc()
