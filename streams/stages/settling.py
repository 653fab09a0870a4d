"""What waits until it has settled: until so many later pages were judged.

What a page is a part of, and what of it is a template, is known when its company has come, a little
before it or after it. So it waits, by the count of the pages that came after it in its partition:
positions of the log, which a recovery repeats, whatever comes between from other partitions. Pages
settle by steps of the log, all of a step at once, and when a later step has ended: no block goes
past the end of one (`parts`). So what a page is judged by hangs on positions alone, and not on
where a block happened to end. Copies never wait. What waits is handed out once, and is part of the
stage's state.

Knows no clock: who sees that the stream stands still, or has ended, takes `all`. Never judges.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from reusewatch.detector.errors import BadState
from reusewatch.detector.saved import Kept, array_of, check
from reusewatch.streams.blocks.subject import Subject
from reusewatch.streams.stages.snapshot import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reusewatch.detector.quilts.postings import GramPages

STEP = 512
"""Pages that settle together. Fewer cost more: where a step ends, a block is cut."""
_PAGE_BYTES = 700
_GRAM_BYTES = 16


@dataclass(frozen=True, slots=True, eq=False)
class Posted:
    """Pages of a block that entered the gram postings, with their grams."""

    subjects: list[Subject]
    pages: GramPages

    @staticmethod
    def joined(parts: Sequence[Posted]) -> Posted:
        """The pages of all of these, in order: they are asked for together."""
        from reusewatch.detector.quilts.postings import GramPages
        from reusewatch.detector.ragged import Ragged

        if len(parts) == 1:
            return parts[0]
        pages = [one.pages for one in parts]
        counts = np.concatenate([one.grams.counts for one in pages])
        return Posted(
            [subject for one in parts for subject in one.subjects],
            GramPages(
                np.concatenate([one.documents for one in pages]),
                Ragged(
                    np.concatenate([one.grams.values for one in pages]),
                    np.concatenate([[0], np.cumsum(counts)]),
                ),
                np.concatenate([one.starts for one in pages]),
                np.concatenate([one.ends for one in pages]),
            ),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """What of one step waits: its pages with grams, pages that are near to others, and pages that
    came after copies before which they stand."""

    posted: tuple[Posted, ...] = ()
    near: tuple[Subject, ...] = ()
    overtaking: tuple[Subject, ...] = ()

    def __len__(self) -> int:
        posted = sum(len(one.subjects) for one in self.posted)
        return len(self.near) + len(self.overtaking) + posted

    def and_then(self, other: Waiting) -> Waiting:
        """With what came later."""
        return Waiting(
            self.posted + other.posted, self.near + other.near, self.overtaking + other.overtaking
        )


class Settling:
    """Steps in the order in which they settle, for each partition.

    A page waits for `pages` later ones and for what is left of the step: no longer than twice
    `pages`, where these are fewer than `STEP`.
    """

    def __init__(self, pages: int) -> None:
        self._step = min(pages or STEP, STEP)
        self._steps = -(-pages // self._step)
        self.restore(None)

    def __len__(self) -> int:
        return sum(len(one) for queue in self._queues.values() for _, one in queue)

    def nbytes(self) -> int:
        """Bytes, about."""
        waiting = (one for queue in self._queues.values() for _, one in queue)
        grams = sum(each.pages.grams.values.size for one in waiting for each in one.posted)
        return len(self) * _PAGE_BYTES + grams * _GRAM_BYTES

    def total(self) -> int:
        """Pages of all partitions that have come."""
        return sum(self._passed.values())

    def parts(self, partition: str, pages: int) -> list[range]:
        """So many pages of a partition as they may be judged: none of these goes past a step."""
        first = self._passed.get(partition, 0) % self._step
        ends = [*range(self._step - first, pages, self._step), pages]
        return [range(begin, end) for begin, end in pairwise([0, *ends])]

    def wait(self, partition: str, waiting: Waiting) -> None:
        """What has come with the pages at hand of a partition waits from now."""
        if not len(waiting):
            return
        step = self._passed.get(partition, 0) // self._step
        due = (step + 1 + self._steps) * self._step
        queue = self._queues.setdefault(partition, deque())
        if queue and queue[-1][0] == due:
            waiting = queue.pop()[1].and_then(waiting)
        queue.append((due, waiting))

    def passed(self, partition: str, pages: int) -> tuple[list[Waiting], bool]:
        """So many pages of a partition have come: what has settled with them, and whether a step
        has ended."""
        count = self._passed.get(partition, 0) + pages
        self._passed[partition] = count
        settled = list(_taken(self._queues.get(partition, deque()), count))
        return settled, count % self._step == 0

    def all(self) -> list[Waiting]:
        """All that waits: nothing more is to come, or it does not come now."""
        return [one for name in sorted(self._queues) for one in _taken(self._queues[name], None)]

    def save(self) -> State:
        """What waits, in order."""
        arrays: dict[str, NDArray[Any]] = {}
        rows: list[Any] = []
        for name, queue in sorted(self._queues.items()):
            for due, one in queue:
                told: list[Any] = []
                for each in one.posted:
                    head = f"{len(rows)}.{len(told)}/"
                    arrays |= {head + n: array for n, array in _arrays(each.pages).items()}
                    told.append(msgspec.to_builtins(each.subjects))
                others = msgspec.to_builtins([one.near, one.overtaking])
                rows.append([name, due, told, *others])
        return State(arrays, {"passed": dict(self._passed), "waiting": rows})

    def restore(self, state: State | None) -> None:
        """Be as when this was saved, or as at first."""
        self._queues: dict[str, deque[tuple[int, Waiting]]] = {}
        self._passed: dict[str, int] = {}
        if state is None:
            return
        self._passed = dict(state.facts["passed"])
        columns = state.by_head()
        for at, (name, due, told, *others) in enumerate(state.facts["waiting"]):
            posted = tuple(
                Posted(
                    msgspec.convert(subjects, list[Subject]),
                    _pages(columns[f"{at}.{each}"], len(subjects)),
                )
                for each, subjects in enumerate(told)
            )
            waiting = Waiting(posted, *map(_subjects, others))
            self._queues.setdefault(name, deque()).append((due, waiting))


def _subjects(saved: Any) -> tuple[Subject, ...]:
    return tuple(msgspec.convert(saved, list[Subject]))


def _taken(queue: deque[tuple[int, Waiting]], until: int | None) -> Iterator[Waiting]:
    while queue and (until is None or queue[0][0] <= until):
        yield queue.popleft()[1]


def _arrays(pages: GramPages) -> Mapping[str, NDArray[Any]]:
    return {
        "documents": pages.documents.view(np.uint8), "grams": pages.grams.values,
        "offsets": pages.grams.offsets, "starts": pages.starts, "ends": pages.ends,
    }  # fmt: skip


def _pages(arrays: Mapping[str, NDArray[Any]], pages: int) -> GramPages:
    """The grams of so many pages. Raises BadState."""
    from reusewatch.detector.quilts.postings import GramPages
    from reusewatch.detector.quilts.store import DOCUMENT, SCALE
    from reusewatch.detector.ragged import Ragged

    grams = len(array_of(arrays, "grams", np.uint64, (None,)))
    offsets = array_of(arrays, "offsets", np.int64, (None,))
    check(arrays, {
        "documents": Kept(DOCUMENT, (pages,), {"flags": (0, 1 << SCALE)}),
        "starts": Kept(np.uint32, (grams,)), "ends": Kept(np.uint32, (grams,)),
    })  # fmt: skip
    documents = array_of(arrays, "documents", DOCUMENT, (len(offsets) - 1,))
    if (documents["kept"] > np.diff(offsets)).any():
        raise BadState("documents have more postings than grams")
    return GramPages(
        # A copy: what is mapped from a snapshot may begin anywhere.
        np.array(arrays["documents"]).view(DOCUMENT),
        Ragged(np.array(arrays["grams"]), np.array(arrays["offsets"])),
        np.array(arrays["starts"]), np.array(arrays["ends"]),
    )  # fmt: skip
