"""What every sink is: the one protocol that sources of pages know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Protocol, runtime_checkable

from reusewatch.streams.records import Alert, DeadLetter, Page
from reusewatch.streams.running.chain import Following, Task

BATCH_BYTES = 16 << 20
"""Bytes of pages at which a batch ends, though it has room for more: what the fingerprint stage
makes one block of (`PART_BYTES`)."""


class PageSink(Protocol):
    """Takes pages; may make the source wait."""

    @property
    def dead(self) -> Counter[str]:
        """Dead letters by reason."""

    @property
    def alerts(self) -> int | None:
        """Alerts that came of the pages, where this process knows."""

    @property
    def lost(self) -> int:
        """Pages that were given up, as `on_trouble` has it."""

    @property
    def untold(self) -> int:
        """Alerts of what was found without a page that the bus refused."""

    @property
    def remark(self) -> str | None:
        """After closing: what waits somewhere, and what to do about it."""

    def put(self, page: Page) -> None:
        """Take a page."""

    def bury(self, letter: DeadLetter) -> None:
        """Take what could not become a page."""

    def report(self, alert: Alert) -> None:
        """Take what was found without a page."""

    def checkpoint(self) -> None:
        """Return when everything taken so far is safe."""

    def close(self) -> None:
        """Checkpoint, and release what is held."""

    def abandon(self) -> None:
        """Release what is held, as after an error."""


@runtime_checkable
class JudgesHere(Protocol):
    """A sink that judges what it takes, and makes it safe with one checkpoint, as well as what came
    of it and the cursor that stands for it. Others send to who sees that nothing more comes."""

    def settle(self) -> None:
        """Judge what waits for later pages: there are none. Safe with the next checkpoint."""

    def checkpoint_at(self, cursor: Callable[[], tuple[str, int]]) -> None:
        """A checkpoint of pages; what was found may follow with the next one. `cursor` is called
        when all that was taken is sent and nothing of it is safe: a replay, and the number of the
        cursor that stands for what it has brought."""


@runtime_checkable
class ReadsAhead(Protocol):
    """A sink with processes that can read pages themselves."""

    @property
    def batch_pages(self) -> int:
        """Pages that are judged together."""

    @property
    def passed(self) -> int:
        """Pages that were taken, as the steps of judging count them."""

    def ahead(self, first: Task, following: Following) -> Iterator[Any] | None:
        """What each task told, once its pages are taken; None: it takes pages only."""


def room(passed: int, most: int) -> int:
    """How many pages the next batch takes. One that was cut short is made up for by the next: else
    all that follow would lie across two steps, and be judged in two parts.

    >>> room(512, 256), room(600, 256), room(760, 256)
    (256, 168, 264)
    """
    left = most - passed % most
    return left if left > most // 4 else left + most
