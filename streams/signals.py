"""Ctrl-C and SIGTERM ask to stop: the batch is finished, and a second Ctrl-C does not wait."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from types import FrameType

# What kernels call back. An exception that is raised there ends the process with SIGSEGV.
_CALLED_BY_KERNELS = "reusewatch.detector.compiling.image"
_MOMENT_SECONDS = 0.01


class Stop(threading.Event):
    """Set when somebody asks to stop; `interrupted`: whether it was Ctrl-C; `why`, for people;
    `again`: what a second Ctrl-C does instead of raising KeyboardInterrupt.

    It is set by a signal's handler, maybe while the main thread waits for it. An Event would then
    wait for its own lock, for ever; putting into a SimpleQueue waits for none.
    """

    def __init__(self) -> None:
        super().__init__()
        self._news: SimpleQueue[None] = SimpleQueue()
        self._asked = self.interrupted = False
        self.why = "asked to"
        self.again: Callable[[], None] | None = None

    def is_set(self) -> bool:
        """Whether somebody has asked."""
        return self._asked

    def set(self) -> None:
        """Ask to stop."""
        self._asked = True
        self._news.put(None)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for so long that somebody asks. Whether somebody has."""
        if not self._asked:
            with suppress(Empty):
                self._news.get(timeout=timeout)
                self._news.put(None)  # for others that wait
        return self._asked


@contextmanager
def stopping() -> Iterator[Stop]:
    """While this lasts, the first signal sets the event."""
    stop = Stop()

    def asked(number: int, frame: FrameType | None) -> None:
        if stop.is_set() and number == signal.SIGINT:
            if stop.again is not None:
                stop.again()
            elif _is_called_by_kernels(frame):
                threading.Timer(_MOMENT_SECONDS, os.kill, (os.getpid(), number)).start()
            else:
                raise KeyboardInterrupt
            return
        stop.interrupted = stop.interrupted or number == signal.SIGINT
        stop.why = "Ctrl-C" if stop.interrupted else signal.Signals(number).name
        stop.set()

    before = {number: signal.signal(number, asked) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_called_by_kernels(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_globals.get("__name__") != _CALLED_BY_KERNELS:
        frame = frame.f_back
    return frame is not None


@contextmanager
def to_the_end() -> Iterator[None]:
    """Ctrl-C while this lasts is heard when it has ended, a second one at once.

    For calls that share locks with a thread of their own: where it is raised between taking one and
    letting it go, nobody ever gets that one again.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[FrameType | None] = []

    def asked(number: int, frame: FrameType | None) -> None:
        if heard and callable(before):
            before(number, frame)
        heard.append(frame)

    before = signal.signal(signal.SIGINT, asked)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if heard and callable(before):
            before(signal.SIGINT, heard[0])
