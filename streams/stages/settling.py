"""What waits until it has settled: until so many later pages were judged.

What a page is a part of, and what of it is a template, is known when its company has come, a little
before it or after it. So it waits, by the count of the pages that came after it in its partition:
positions of the log, which a recovery repeats, whatever comes between from other partitions. Copies
never wait. What waits is handed out once, and is part of the stage's state.

Knows no clock: who sees that the stream stands still, or has ended, takes `all`. Never judges.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from reusewatch.streams.blocks.subject import Subject
from reusewatch.streams.stages.snapshot import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reusewatch.detector.quilts.postings import GramPages

_PAGE_BYTES = 700
_GRAM_BYTES = 16


@dataclass(frozen=True, slots=True, eq=False)
class Posted:
    """Pages of a block that entered the gram postings, with their grams."""

    subjects: list[Subject]
    pages: GramPages


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """What of one block waits: its pages with grams, and pages that are near to others."""

    posted: Posted | None
    near: list[Subject]

    def __len__(self) -> int:
        return len(self.near) + (0 if self.posted is None else len(self.posted.subjects))


class Settling:
    """Blocks in the order in which they settle, for each partition."""

    def __init__(self, pages: int) -> None:
        self._pages = pages
        self.restore(None)

    def __len__(self) -> int:
        return sum(len(one) for queue in self._queues.values() for _, one in queue)

    def nbytes(self) -> int:
        """Bytes, about."""
        posted = (one.posted for queue in self._queues.values() for _, one in queue)
        grams = sum(one.pages.grams.values.size for one in posted if one is not None)
        return len(self) * _PAGE_BYTES + grams * _GRAM_BYTES

    def wait(self, partition: str, waiting: Waiting) -> None:
        """What has come with the pages at hand of a partition waits from now."""
        if len(waiting):
            due = self._passed.get(partition, 0) + self._pages
            self._queues.setdefault(partition, deque()).append((due, waiting))

    def passed(self, partition: str, pages: int) -> list[Waiting]:
        """So many pages of a partition have come: what has settled with them."""
        count = self._passed.get(partition, 0) + pages
        self._passed[partition] = count
        return list(_taken(self._queues.get(partition, deque()), count))

    def all(self) -> list[Waiting]:
        """All that waits: nothing more is to come, or it does not come now."""
        return [one for name in sorted(self._queues) for one in _taken(self._queues[name], None)]

    def save(self) -> State:
        """What waits, in order."""
        arrays: dict[str, NDArray[Any]] = {}
        rows: list[Any] = []
        for name, queue in sorted(self._queues.items()):
            for due, one in queue:
                posted = None
                if one.posted is not None:
                    head = f"{len(rows)}/"
                    arrays |= {head + column: a for column, a in _arrays(one.posted.pages).items()}
                    posted = msgspec.to_builtins(one.posted.subjects)
                rows.append([name, due, posted, msgspec.to_builtins(one.near)])
        return State(arrays, {"passed": dict(self._passed), "waiting": rows})

    def restore(self, state: State | None) -> None:
        """Be as when this was saved, or as at first."""
        self._queues: dict[str, deque[tuple[int, Waiting]]] = {}
        self._passed: dict[str, int] = {}
        if state is None:
            return
        self._passed = dict(state.facts["passed"])
        for at, (name, due, told, near) in enumerate(state.facts["waiting"]):
            posted, head = None, f"{at}/"
            if told is not None:
                columns = {
                    n.removeprefix(head): a for n, a in state.arrays.items() if n.startswith(head)
                }
                posted = Posted(msgspec.convert(told, list[Subject]), _pages(columns))
            waiting = Waiting(posted, msgspec.convert(near, list[Subject]))
            self._queues.setdefault(name, deque()).append((due, waiting))


def _taken(queue: deque[tuple[int, Waiting]], until: int | None) -> Iterator[Waiting]:
    while queue and (until is None or queue[0][0] <= until):
        yield queue.popleft()[1]


def _arrays(pages: GramPages) -> Mapping[str, NDArray[Any]]:
    return {
        "documents": pages.documents.view(np.uint8), "grams": pages.grams.values,
        "offsets": pages.grams.offsets, "starts": pages.starts, "ends": pages.ends,
    }  # fmt: skip


def _pages(arrays: Mapping[str, NDArray[Any]]) -> GramPages:
    from reusewatch.detector.quilts.postings import GramPages
    from reusewatch.detector.quilts.store import DOCUMENT
    from reusewatch.detector.ragged import Ragged

    return GramPages(
        # A copy: what is mapped from a snapshot may begin anywhere.
        np.array(arrays["documents"]).view(DOCUMENT),
        Ragged(np.array(arrays["grams"]), np.array(arrays["offsets"])),
        np.array(arrays["starts"]), np.array(arrays["ends"]),
    )  # fmt: skip
