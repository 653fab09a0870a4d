"""Bytes that arrive: standard input, named pipes, the shell's `<(…)`, devices.

Waiting is done in short steps, so that a process that waits for a writer who never comes can be
told to stop.
"""

from __future__ import annotations

import os
import select
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from reusewatch.crawler.errors import Stopped

_STEP_MS = 200


def is_pipe(path: str) -> bool:
    """Whether a path is read as it arrives: no file, and no directory."""
    try:
        kind = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(kind) or stat.S_ISCHR(kind)


@contextmanager
def opened_pipe(path: str) -> Iterator[int]:
    """The number under which a pipe is open. Opening does not wait for a writer."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield number
    finally:
        os.close(number)


def arriving(number: int, stop: Callable[[], bool]) -> Callable[[int], bytes]:
    """What reads the next bytes, as many as there are; none at the end. Raises Stopped."""
    poll = select.poll()
    poll.register(number, select.POLLIN)

    def read(size: int) -> bytes:
        while not stop():
            if not poll.poll(_STEP_MS):
                continue
            try:
                return os.read(number, size)
            except BlockingIOError:
                continue
        raise Stopped

    return read
