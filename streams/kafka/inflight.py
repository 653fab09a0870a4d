"""What was sent and is not yet safe: an ordered ledger with a bound.

A message leaves it when it and every earlier one of its partition are acknowledged, so that
what remains can be sent again in order at any moment. The ledger is plain memory and a lock; it
never sends.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from reusewatch.streams.bus import Outgoing, Partition


@dataclass(slots=True, eq=False)
class Entry:
    """One message under way. Identity matters, for one message may be sent twice."""

    message: Outgoing
    partition: Partition
    size: int
    order: int
    epoch: int
    acknowledged: bool = False


class InFlight:
    """The entries by partition, in the order of sending. Safe between two threads."""

    def __init__(self, max_bytes: int, max_messages: int) -> None:
        self._max_bytes = max_bytes
        self._max_messages = max_messages
        self._changed = threading.Condition()
        self._queues: defaultdict[Partition, deque[Entry]] = defaultdict(deque)
        self._bytes = 0
        self._count = 0
        self._order = 0
        self._epoch = 0
        self._failures: list[tuple[Entry, BaseException]] = []
        self._progress = time.monotonic()

    def __len__(self) -> int:
        return self._count

    def full(self, size: int) -> bool:
        """Whether another message of this size must wait. One alone always fits."""
        over = self._bytes + size > self._max_bytes or self._count >= self._max_messages
        return over and self._count > 0

    def add(self, sent: Sequence[tuple[Outgoing, Partition, int]]) -> list[Entry]:
        """Enter messages, each with where it goes and its size."""
        with self._changed:
            if not self._count:
                self._progress = time.monotonic()
            epoch, first = self._epoch, self._order + 1
            entries = [
                Entry(message, partition, size, order, epoch)
                for order, (message, partition, size) in enumerate(sent, first)
            ]
            for entry in entries:
                self._queues[entry.partition].append(entry)
                self._bytes += entry.size
            self._order += len(entries)
            self._count += len(entries)
            return entries

    def acknowledge(self, *entries: Entry) -> None:
        """The broker has them, which are of one partition."""
        with self._changed:
            mine = [entry for entry in entries if entry.epoch == self._epoch]
            if not mine:
                return
            for entry in mine:
                entry.acknowledged = True
            self._progress = time.monotonic()
            queue = self._queues[mine[0].partition]
            # From the head only: what follows a lost message must be sent again after it.
            while queue and queue[0].acknowledged:
                self._leave(queue.popleft())
            self._changed.notify_all()

    def fail(self, entry: Entry, error: BaseException) -> None:
        """The broker will not have it from this producer."""
        with self._changed:
            if entry.epoch == self._epoch:
                self._failures.append((entry, error))
                self._changed.notify_all()

    @property
    def failed(self) -> bool:
        """Whether anything did since the last `restart`. Asked for each message, without the lock:
        what fails a moment later is seen with the next one, as if it had failed then."""
        return bool(self._failures)

    def failures(self) -> Sequence[tuple[Entry, BaseException]]:
        """What failed since the last `restart`."""
        with self._changed:
            return tuple(self._failures)

    def drop(self, entry: Entry) -> None:
        """Give up a message that is under way."""
        with self._changed:
            self._queues[entry.partition].remove(entry)
            self._leave(entry)

    def restart(self) -> Sequence[Outgoing]:
        """Forget all; what was under way, in the order of sending, to be sent again.

        Answers that still come for the old entries touch nothing of what is added after.
        """
        with self._changed:
            self._epoch += 1
            entries = sorted((e for q in self._queues.values() for e in q), key=_by_order)
            self._queues.clear()
            self._failures = []
            self._bytes = self._count = 0
            self._progress = time.monotonic()
            return [entry.message for entry in entries]

    def wait(self, timeout: float) -> None:
        """Until something is acknowledged or fails, at most so many seconds."""
        with self._changed:
            if self._count and not self._failures:
                self._changed.wait(timeout)

    def stalled(self) -> float:
        """Seconds since the last acknowledgement, 0 when nothing is under way."""
        with self._changed:
            return time.monotonic() - self._progress if self._count else 0.0

    def _leave(self, entry: Entry) -> None:
        self._bytes -= entry.size
        self._count -= 1


def _by_order(entry: Entry) -> int:
    return entry.order
