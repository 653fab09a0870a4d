"""Threads beside the main one, which a second Ctrl-C cannot make wait for ever.

`concurrent.futures` and `queue.Queue` take their locks in Python code: where KeyboardInterrupt is
raised there, a lock stays acquired, and the thread that needs it next waits for ever. The main
thread shares with these threads only what acquires and releases a lock in one call of C.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

from reusewatch.streams.signals import to_the_end

T = TypeVar("T")


class Dropped(Exception):
    """A call that was never made."""


class Promise(Generic[T]):
    """What a call in another thread returns or raises."""

    def __init__(self) -> None:
        self._outcome: tuple[Any, BaseException | None] | None = None
        self._pending = Lock()
        self._pending.acquire()

    def done(self) -> bool:
        """Whether `result` returns at once."""
        return self._outcome is not None

    def result(self) -> T:
        """Wait for it."""
        while self._outcome is None:
            with self._pending:
                pass
        value, error = self._outcome
        if error is not None:
            raise error
        returned: T = value
        return returned

    def settle(self, value: T | None = None, error: BaseException | None = None) -> None:
        """Let those that wait go on; once."""
        self._outcome = value, error
        self._pending.release()

    def keep(self, call: Callable[[], T]) -> None:
        """Make the call in this thread, and settle with its outcome."""
        try:
            value = call()
        except BaseException as error:
            self.settle(error=error)
        else:
            self.settle(value)


class Threads:
    """So many threads, which make calls in the order in which they are given."""

    def __init__(self, count: int) -> None:
        self._calls: SimpleQueue[tuple[Promise[Any], Callable[[], Any]] | None] = SimpleQueue()
        # Daemons: after an interrupt that kept others from closing this, the process ends all the
        # same.
        self._threads = [Thread(target=self._work, daemon=True) for _ in range(count)]
        with to_the_end():
            for thread in self._threads:
                thread.start()

    def submit(self, call: Callable[[], T]) -> Promise[T]:
        """Have the call made."""
        promise: Promise[T] = Promise()
        self._calls.put((promise, call))
        return promise

    def _work(self) -> None:
        while (given := self._calls.get()) is not None:
            promise, call = given
            promise.keep(call)
            # Or they would be kept until the next call comes.
            del given, promise, call

    def drop(self) -> None:
        """Make no call that was not begun: who waits for one gets Dropped."""
        with suppress(Empty):
            while True:
                if (given := self._calls.get_nowait()) is not None:
                    given[0].settle(error=Dropped())

    def close(self) -> None:
        """Make the calls that were given, and end."""
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join()
