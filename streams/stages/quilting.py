"""Quilts and partial copies (Najork 2012): a part of the stage `index`.

Keeps the gram postings of the window. Every page enters when it comes, and is judged once, when so
many later pages of its partition have come: its sources may come a little after it. Says which
pages are quilts or hold a part of another page, with the patches; `quilt_reports` makes alerts of
that.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow as pa

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.streams.blocks.for_quilts import QuiltColumns, has_grams, is_wordy
from reusewatch.streams.blocks.subject import Subject
from reusewatch.streams.records import Quilt, Within
from reusewatch.streams.stages.labeled import MOST_SAID
from reusewatch.streams.stages.snapshot import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reusewatch.detector.quilts.judging import Judged
    from reusewatch.detector.quilts.patches import Patch
    from reusewatch.detector.quilts.postings import GramPages, GramPostings

_PAGE_BYTES = 700
_DONORS = 10
"""Donors that are told of one page: those that bring most."""


@dataclass(frozen=True, slots=True, eq=False)
class Stitched:
    """What was found of one page: figures, and its donors with their shares and patches.

    Donors are records as `detector.quilts.store` has them. `whole` is the one donor with which the
    page has most in common, where that makes a partial copy.
    """

    subject: Subject
    fraction: float
    sources: int
    is_quilt: bool
    donors: tuple[tuple[Any, float], ...]
    patches: tuple[tuple[Any, Patch], ...]
    whole: Any | None
    here: float
    there: float


class _Waiting:
    """Pages of one block that wait until they have settled."""

    __slots__ = ("due", "pages", "subjects")

    def __init__(self, due: int, pages: GramPages, subjects: list[Subject]) -> None:
        self.due, self.pages, self.subjects = due, pages, subjects


class Quilting:
    """The gram postings, and the pages that are not judged yet."""

    def __init__(
        self,
        scheme: HashScheme,
        rules: QuiltRules,
        *,
        sample: float,
        max_bytes: int,
        max_age_us: int | None = None,
        settle_pages: int = 0,
    ) -> None:
        self._rules = rules
        self._sample = sample
        self._columns = QuiltColumns(scheme, sample=sample)
        self._bounds: dict[str, Any] = {"max_bytes": max_bytes, "max_age_us": max_age_us}
        self._settle = settle_pages
        self.restore(None)

    def remember(self, page: int, quilt: Quilt | None, within: Within | None) -> None:
        """What was found of a page, for verdicts that come later."""
        self._said[page] = quilt, within
        self._said.move_to_end(page)
        if len(self._said) > MOST_SAID:
            self._said.popitem(last=False)

    def said(self, page: int) -> tuple[Quilt | None, Within | None]:
        """What was found of a page when it had settled."""
        return self._said.get(page, (None, None))

    @property
    def rules(self) -> QuiltRules:
        """What a quilt is."""
        return self._rules

    def __len__(self) -> int:
        return sum(len(one.subjects) for queue in self._queues.values() for one in queue)

    def add(
        self,
        block: pa.RecordBatch,
        subjects: list[Subject],
        sites: NDArray[np.uint64],
        owned: NDArray[np.bool_],
        partition: str,
        *,
        now: int,
    ) -> None:
        """The pages of a block enter, and wait; owned ones are judged never."""
        from reusewatch.detector.window.adding import HOUR_US, WEB_BEGINS_US

        if not has_grams(block):
            return
        # Another page may have forged what was salvaged: it is no document of the window.
        wordy = is_wordy(block) & ~np.array([one.salvaged for one in subjects], bool)
        if not wordy.all():
            block, sites, owned = block.filter(pa.array(wordy)), sites[wordy], owned[wordy]
            subjects = [one for one, there in zip(subjects, wordy, strict=True) if there]
        if not subjects:
            return
        pages = self._columns.of(block, sites, owned)
        at = pages.documents["at"]
        self._postings.add(pages, dated=(at >= WEB_BEGINS_US) & (at <= now + HOUR_US))
        due = self._passed.get(partition, 0) + self._settle
        self._queues.setdefault(partition, deque()).append(_Waiting(due, pages, subjects))

    def passed(self, partition: str, pages: int) -> list[Stitched]:
        """So many pages of a partition have come: what is found of those that have settled."""
        count = self._passed.get(partition, 0) + pages
        self._passed[partition] = count
        queue = self._queues.get(partition, deque())
        return [one for waited in _taken(queue, count) for one in self._judge(waited)]

    def settle(self) -> list[Stitched]:
        """The same of all that wait: nothing more is to come, or it does not come now."""
        return [
            one
            for name in sorted(self._queues)
            for waited in _taken(self._queues[name], None)
            for one in self._judge(waited)
        ]

    def _judge(self, waited: _Waiting) -> Iterator[Stitched]:
        from reusewatch.detector.quilts.judging import judge, partial_copies, quilted
        from reusewatch.detector.quilts.store import OWNED

        for part, subjects in _parts(waited):
            holders = self._postings.ask(part.grams.values, most=self._rules.m)
            judged = judge(part, holders, self._rules, sample=self._sample)
            quilts = quilted(judged.pages, self._rules)
            copies = partial_copies(judged.pages, self._rules)
            mine = (part.documents["flags"] & OWNED) > 0
            for row in np.flatnonzero((quilts | copies) & ~mine).tolist():
                yield self._stitched(
                    judged, part, row, subjects[row], bool(quilts[row]), bool(copies[row])
                )

    def _stitched(
        self, judged: Judged, part: GramPages, row: int, subject: Subject, is_quilt: bool,
        is_copy: bool,
    ) -> Stitched:  # fmt: skip
        from reusewatch.detector.quilts.patches import patches

        record, documents = judged.pages[row], judged.holders.documents
        sources = judged.sources_of(row)[:_DONORS]
        closest = int(record["donor"])
        numbers = sources["document"].tolist() if is_quilt else [closest]
        grams = slice(int(part.grams.offsets[row]), int(part.grams.offsets[row + 1]))
        found = patches(judged.holders, grams, part.starts[grams], part.ends[grams], numbers)
        return Stitched(
            subject=subject,
            fraction=float(record["fraction"]),
            sources=int(record["sources"]),
            is_quilt=is_quilt,
            donors=tuple((documents[one["document"]], float(one["share"])) for one in sources),
            patches=tuple((documents[patch.document], patch) for patch in found),
            whole=documents[closest] if is_copy else None,
            here=float(record["here"]),
            there=float(record["there"]),
        )

    def nbytes(self) -> int:
        """Bytes of the postings, and about of what waits."""
        return self._postings.nbytes + len(self) * _PAGE_BYTES

    def save(self) -> State:
        """The postings, and what waits."""
        arrays = {f"postings/{name}": array for name, array in self._postings.save().items()}
        waiting: list[Any] = []
        for name, queue in sorted(self._queues.items()):
            for one in queue:
                head = f"{len(waiting)}/"
                arrays |= {head + column: array for column, array in _arrays(one.pages).items()}
                waiting.append([name, one.due, msgspec.to_builtins(one.subjects)])
        said = [[page, *msgspec.to_builtins(found)] for page, found in self._said.items()]
        return State(arrays, {"passed": dict(self._passed), "waiting": waiting, "said": said})

    def restore(self, state: State | None) -> None:
        """Take up what was saved, or begin with nothing."""
        from reusewatch.detector.quilts.postings import GramPostings

        self._postings: GramPostings = GramPostings(**self._bounds)
        self._queues: dict[str, deque[_Waiting]] = {}
        self._passed: dict[str, int] = {}
        self._said: OrderedDict[int, tuple[Quilt | None, Within | None]] = OrderedDict()
        if state is None:
            return
        saved = state.by_head()
        self._postings.restore(saved["postings"])
        self._passed = dict(state.facts["passed"])
        for page, *found in state.facts["said"]:
            self._said[page] = msgspec.convert(found, tuple[Quilt | None, Within | None])
        for at, (name, due, rows) in enumerate(state.facts["waiting"]):
            subjects = msgspec.convert(rows, list[Subject])
            waiting = _Waiting(due, _pages(saved[str(at)]), subjects)
            self._queues.setdefault(name, deque()).append(waiting)


def _taken(queue: deque[_Waiting], until: int | None) -> Iterator[_Waiting]:
    while queue and (until is None or queue[0].due <= until):
        yield queue.popleft()


_MOST_GRAMS = 16_384
"""Grams that are asked for at once; one page may have more."""


def _parts(waited: _Waiting) -> Iterator[tuple[GramPages, list[Subject]]]:
    """The pages in groups whose answers are of bounded size."""
    from reusewatch.detector.quilts.postings import GramPages
    from reusewatch.detector.ragged import Ragged

    pages, offsets = waited.pages, waited.pages.grams.offsets
    begin = 0
    while begin < len(pages):
        end = int(np.searchsorted(offsets, offsets[begin] + _MOST_GRAMS, "right")) - 1
        end = min(max(end, begin + 1), len(pages))
        some = slice(int(offsets[begin]), int(offsets[end]))
        grams = Ragged(pages.grams.values[some], offsets[begin : end + 1] - offsets[begin])
        part = GramPages(pages.documents[begin:end], grams, pages.starts[some], pages.ends[some])
        yield part, waited.subjects[begin:end]
        begin = end


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
