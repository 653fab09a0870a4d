"""Reading ahead: each task says what comes after it as soon as it has read, while its pages are
still being processed.

Tasks run in several processes, and what they come to is handed out in their order. So many are
under way at most; what is behind them is not begun.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from reusewatch.streams.records import Page
from reusewatch.streams.threads import Promise

if TYPE_CHECKING:
    from reusewatch.streams.stages.stage import Output


class Task(Protocol):
    """Something to read, in a process beside this one: plain values only."""

    def read(self) -> tuple[Any, Sequence[Page]]:
        """What is told of it, and its pages."""


Tell = Callable[[Any], None]
Start = Callable[[Task, Tell], "Promise[Output]"]
Following = Callable[[Any], "Task | None"]


class Chain:
    """Tasks one behind the other, from the first on, which is begun at once."""

    def __init__(self, start: Start, first: Task, following: Following, bound: int) -> None:
        self._start = start
        self._following = following
        self._bound = bound
        self._next: Task | None = first
        self._under_way: deque[tuple[Promise[Any], Promise[Output]]] = deque()
        # Held while one is begun: the thread of a process and that of the reader both do.
        self._lock = Lock()

        self._advance()

    def __iter__(self) -> Iterator[tuple[Any, Output]]:
        while self._under_way:
            told, made = self._under_way[0]
            output = made.result()  # first: one that fails has told nothing
            with self._lock:
                self._under_way.popleft()
            self._advance()
            yield told.result(), output

    def _advance(self) -> None:
        with self._lock:
            if self._next is None or len(self._under_way) >= self._bound:
                return
            task, self._next = self._next, None
            told: Promise[Any] = Promise()
            self._under_way.append((told, self._start(task, lambda said: self._tell(told, said))))

    def _tell(self, told: Promise[Any], said: Any) -> None:
        if told.done():
            return  # a process died over it, and another one has read it again
        with self._lock:
            self._next = self._following(said)
        told.settle(said)
        self._advance()
