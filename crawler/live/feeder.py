"""A thread between a crawl and its sink, so that neither waits inside the other.

A sink may wait: for a broker, for the stages, for the disk. A reactor must not. Between them is a
queue with a bound in items and in bytes; who offers to a full one is told, and comes again when
`changed` was called. Everything that touches the sink happens in the thread, its opening too,
since databases and Kafka clients belong to the thread that made them. Knows nothing of Scrapy.

What comes is gathered for a moment and handed on together: a thread that wakes for each page takes
Python's lock away from the crawl each time, and so does the Kafka client's for each message.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from reusewatch.crawler.live.fetched import Fetched, Maker
from reusewatch.streams.records import Alert, DeadLetter, Page
from reusewatch.streams.running.sinks import PageSink

# An alert is of what was found without its page.
Item = Fetched | DeadLetter | Alert
# How long: a crawl that is steered has a second from a response to its effect.
GATHER_SECONDS, STEERED_GATHER_SECONDS = 0.2, 0.05


@dataclass(frozen=True, slots=True)
class Capacity:
    """How much may wait in the queue. One item alone always fits."""

    items: int = 512
    bytes: int = 16 << 20

    def __post_init__(self) -> None:
        if min(self.items, self.bytes) < 1:
            raise ValueError("a queue has room for at least one")


@dataclass(frozen=True, slots=True)
class Account:
    """What became of what was offered, as of one moment."""

    pages: int = 0
    not_pages: int = 0
    dead_letters: int = 0
    # None where another process finds them.
    alerts: int | None = None
    # After a failure: what was taken, and is not known to be on the bus.
    not_safe: int = 0
    # What was given up on the way, as `on_trouble` has it.
    given_up: int = 0
    # Alerts of what was found without a page that the bus refused.
    untold: int = 0
    # What waits somewhere at the end, and what to do about it.
    remark: str | None = None

    @property
    def lost(self) -> int:
        """Responses that are not known to be on the bus, and will not come to it."""
        return self.not_safe + self.given_up


class Feeder:
    """Opens a sink, feeds it, checkpoints it, closes it. `changed` is called in the thread."""

    def __init__(
        self,
        open_sink: Callable[[], PageSink],
        make: Maker,
        *,
        checkpoint_seconds: float,
        changed: Callable[[], None],
        capacity: Capacity = Capacity(),
        gather_seconds: float = GATHER_SECONDS,
    ) -> None:
        self.opened = self.closed = False
        self.failure: Exception | None = None
        self.account = Account()
        self.most_waiting = 0
        self.taken = 0
        self._open_sink = open_sink
        self._make = make
        self._checkpoint_seconds = checkpoint_seconds
        self._changed = changed
        self._capacity = capacity
        self._gather_seconds = gather_seconds
        self._pages = self._not_pages = 0
        self._guard = threading.Condition()
        self._queue: deque[Item] = deque()
        self._bytes = 0
        self._room_wanted = self._ending = False
        self._unsettled = 0
        # How many were taken when the sink gave something up for the first time, but for those
        # since the last checkpoint.
        self._whole: int | None = None
        # A daemon: who is told twice to stop does not wait for a broker.
        self._thread = threading.Thread(target=self._run, name="reusewatch-feeder", daemon=True)

    def start(self) -> None:
        """Open the sink, and take what is offered."""
        self._thread.start()

    @property
    def started(self) -> bool:
        """Whether it was."""
        return self._thread.ident is not None

    def offer(self, item: Item) -> bool:
        """Take an item, or return False: the queue is full, `changed` tells when to come again."""
        with self._guard:
            if self.failure is not None or self.closed:
                self._count_unsafe(1)
                return True
            if self._is_full(item):
                self._room_wanted = True
                return False
            self._queue.append(item)
            self.taken += 1
            self._bytes += _size(item)
            self.most_waiting = max(self.most_waiting, len(self._queue))
            if len(self._queue) == 1 or not self._is_half_empty():
                self._guard.notify()
            return True

    def finish(self) -> None:
        """Take nothing more; `closed` is set once everything taken is safe, or has failed."""
        with self._guard:
            self._ending = True
            self._guard.notify()

    def waiting(self) -> int:
        """What was taken and is not known to be safe yet."""
        with self._guard:
            return len(self._queue) + self._unsettled

    def safe(self) -> int:
        """How many of those taken first are known to be safe; none once something has failed, and
        none of those that came with or behind one that was given up."""
        with self._guard:
            if self.failure is not None:
                return 0  # the queue was emptied: what was lost would count as safe
            if self._whole is not None:
                return self._whole
            return self.taken - len(self._queue) - self._unsettled

    def may_be_safe(self, count: int) -> bool:
        """Whether so many of those taken first are safe, or can come to be: see `safe`."""
        with self._guard:
            return self._whole is None or count <= self._whole

    def join(self) -> None:
        """Wait for the end of the thread."""
        self._thread.join()

    def _is_full(self, item: Item) -> bool:
        over = self._bytes + _size(item) > self._capacity.bytes
        return bool(self._queue) and (over or len(self._queue) >= self._capacity.items)

    def _run(self) -> None:
        try:
            sink = self._open_sink()
        except Exception as error:
            self._fail(error)
        else:
            self.opened = True
            self._changed()
            self._use(sink)
        self.closed = True
        self._changed()

    def _use(self, sink: PageSink) -> None:
        try:
            self._feed(sink)
            sink.checkpoint()
            # From here on nothing that fails can lose a page.
            self._settled(sink)
            sink.close()
        except Exception as error:
            # Told first: giving a broker up can take seconds in which the crawl would go on.
            self._fail(error)
            with suppress(Exception):  # the first error is the one to tell
                sink.abandon()
        self._note(sink)

    def _feed(self, sink: PageSink) -> None:
        settled_at = time.monotonic()
        while (item := self._next(settled_at + self._checkpoint_seconds)) is not _END:
            if isinstance(item, Item):
                self._deliver(sink, item)
                if not self._queue:
                    self._note(sink)
            if self._unsettled and time.monotonic() >= settled_at + self._checkpoint_seconds:
                sink.checkpoint()
                self._settled(sink)
                self._note(sink)
            if not self._unsettled:
                settled_at = time.monotonic()

    def _settled(self, sink: PageSink) -> None:
        """All that was delivered is safe, or was given up."""
        with self._guard:
            if sink.lost and self._whole is None:
                self._whole = self.taken - len(self._queue) - self._unsettled
            self._unsettled = 0

    def _next(self, due: float) -> Item | object | None:
        """The next item; None when a checkpoint is due; _END when there is none to come."""
        with self._guard:
            while not self._queue:
                if self._ending:
                    return _END
                left = due - time.monotonic() if self._unsettled else None
                if left is not None and left <= 0:
                    return None
                self._guard.wait(left)
                self._gather()
            item = self._queue.popleft()
            self._bytes -= _size(item)
            self._unsettled += 1
            wanted = self._room_wanted and self._is_half_empty()
            self._room_wanted = self._room_wanted and not wanted
        if wanted:
            self._changed()
        return item

    def _gather(self) -> None:
        """Let more come to the first item, unless much waits already."""
        if self._queue:
            self._guard.wait_for(
                lambda: self._ending or not self._is_half_empty(), self._gather_seconds
            )

    def _is_half_empty(self) -> bool:
        # At half, not at once: else every item taken wakes everybody who waits.
        few = len(self._queue) <= self._capacity.items // 2
        return few and self._bytes <= self._capacity.bytes // 2

    def _deliver(self, sink: PageSink, item: Item) -> None:
        made = self._make(item) if isinstance(item, Fetched) else item
        if isinstance(made, Page):
            sink.put(made)
        elif isinstance(made, Alert):
            sink.report(made)
        elif made is not None:
            sink.bury(made)
        self._pages += isinstance(made, Page)
        # What was no page from the beginning was counted then.
        self._not_pages += made is None and isinstance(item, Fetched) and item.skipped is None

    def _note(self, sink: PageSink) -> None:
        self.account = replace(
            self.account, pages=self._pages, not_pages=self._not_pages,
            dead_letters=sink.dead.total(), alerts=sink.alerts, given_up=sink.lost,
            untold=sink.untold, remark=sink.remark,
        )  # fmt: skip

    def _fail(self, error: Exception) -> None:
        with self._guard:
            self.failure = error
            self._count_unsafe(len(self._queue) + self._unsettled)
            self._queue.clear()
            self._bytes = 0
        self._changed()

    def _count_unsafe(self, count: int) -> None:
        self.account = replace(self.account, not_safe=self.account.not_safe + count)


_END = object()


def _size(item: Item) -> int:
    return len(item.body) if isinstance(item, Fetched) else 0
