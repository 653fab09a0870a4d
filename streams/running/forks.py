"""Processes that are forked from this one: what it has loaded they need not load.

Only while this one has no other thread of Python's: a lock that such a thread holds would be held
in the fork for ever. So it is done at a start, once what they need is loaded and before anything
else begins; one that dies later is replaced by way of `fork_server`.

Nothing that is open here stays open there: the lock of a bus would be held after the end of this
process, and the pipe to another process would not end with it.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

from reusewatch.streams.running.allocation import keep_large_apart

NEW_OBJECTS = 50_000
"""Between two looks for garbage: loading makes many objects, and so does a batch of pages."""
_STANDARD = 3


def can_fork() -> bool:
    """Whether a process may be forked from this one."""
    return os.path.isdir("/proc/self/fd") and threading.active_count() == 1


def load_all() -> None:
    """Load what makes fingerprints and evidence, ahead of the processes that need it."""
    from reusewatch.detector.compiling.calling import make_all
    from reusewatch.detector.evidence import many_pairs  # noqa: F401
    from reusewatch.streams.labels import matching  # noqa: F401
    from reusewatch.streams.stages import fingerprinting  # noqa: F401
    from reusewatch.streams.urls import site_of

    make_all()
    site_of("localhost")  # reads the list of suffixes
    keep_large_apart()
    # What is loaded stays: a collection that looked through it would write to all of it, and what
    # is written to after a fork is copied.
    gc.freeze()


class Fork:
    """A process that is forked from this one, and ends with what it runs."""

    def __init__(self, run: Callable[[], None], keep: int) -> None:
        """`keep`: the descriptor that stays open there. Raises OSError where there can be none."""
        # What is not written yet would be written by both.
        _flush()
        self._is_there = True
        with undisturbed():
            self._pid = os.fork()
            if not self._pid:
                _run(run, keep)

    def kill(self) -> None:
        """End it at once. Nothing where its end was waited for: another may have its number."""
        if self._is_there:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def join(self, timeout: float | None = None) -> None:
        """Wait for the end of one that was killed, which takes no time."""
        if self._is_there:
            with suppress(ChildProcessError):
                os.waitpid(self._pid, 0)
            self._is_there = False


def _run(run: Callable[[], None], keep: int) -> NoReturn:
    code = 1
    try:
        # SIGINT stays blocked. What this process does at the others is not done there.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        gc.set_threshold(NEW_OBJECTS, 10, 10)
        _close_all_but(keep)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        run()
        code = 0
    except BaseException:
        # What Python writes to may have been closed above, as it is no standard descriptor.
        os.write(2, traceback.format_exc().encode("utf-8", "replace"))
    finally:
        # Without what is to be done at the end of the process that it was forked from.
        os._exit(code)


def _close_all_but(keep: int) -> None:
    # Those that are open, one by one: up to the highest number that there may be takes minutes
    # where a machine allows a billion, and the system has no call for it.
    for name in os.listdir("/proc/self/fd"):
        if (number := int(name)) >= _STANDARD and number != keep:
            with suppress(OSError):  # the one that the list was read from
                os.close(number)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or there is none
            stream.flush()


@contextmanager
def undisturbed() -> Iterator[None]:
    """For processes that begin: Ctrl-C reaches the whole group, and the parent decides when its
    workers end. Inherited, so that it holds from the first instruction on."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
