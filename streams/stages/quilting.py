"""Quilts and partial copies (Najork 2012): a part of the stage `index`.

Keeps the gram postings of the window. Every page enters when it comes, and is judged once, when it
has settled (`settling`): its sources may come a little after it. Says which pages are quilts or
hold a part of another page, with the patches, and how alike two pages are in what is their own;
`quilt_reports` makes alerts of that.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow as pa

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.streams.blocks.arrays import array_of
from reusewatch.streams.blocks.for_quilts import QuiltColumns, has_grams, is_wordy
from reusewatch.streams.blocks.subject import Subject
from reusewatch.streams.stages.labeled import MOST_SAID
from reusewatch.streams.stages.quilt_reports import NOTHING_SAID, Said
from reusewatch.streams.stages.settling import Posted
from reusewatch.streams.stages.snapshot import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reusewatch.detector.quilts.judging import Judged
    from reusewatch.detector.quilts.patches import Patch, Stands
    from reusewatch.detector.quilts.postings import GramPages, GramPostings

_SAID_BYTES = 300
_DONORS = 10
"""Donors that are told of one page: those that bring most."""


@dataclass(frozen=True, eq=False)
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
    stands: Stands
    whole: Any | None
    here: float
    there: float

    @cached_property
    def patches(self) -> list[tuple[Any, Patch]]:
        """Donors, and where on them and on the page a part stands. Most of what is stitched is told
        as a near-duplicate, and nobody asks."""
        return self.stands.patches()


class Quilting:
    """The gram postings, and what was found of pages by them."""

    def __init__(
        self,
        scheme: HashScheme,
        rules: QuiltRules,
        *,
        sample: float,
        max_bytes: int,
        max_age_us: int | None = None,
    ) -> None:
        self._rules = rules
        self._sample = sample
        self._columns = QuiltColumns(scheme, sample=sample)
        self._bounds: dict[str, Any] = {"max_bytes": max_bytes, "max_age_us": max_age_us}
        self.restore(None)

    def remember(self, page: int, said: Said) -> None:
        """What was found of a page, for verdicts that come later."""
        self._said[page] = said
        self._said.move_to_end(page)
        if len(self._said) > MOST_SAID:
            self._said.popitem(last=False)

    def said(self, page: int) -> Said:
        """What was found of a page when it had settled."""
        return self._said.get(page, NOTHING_SAID)

    def told_of(self, pages: Sequence[int]) -> list[int]:
        """The places of those pages of which anything was found."""
        said = self._said
        return [at for at, page in enumerate(pages) if page in said] if said else []

    def own(self, pairs: Sequence[tuple[int, int]]) -> list[float | None]:
        """How alike the pages of each pair are in what is their own, all by their words; None of
        pages that are not remembered."""
        return self._postings.own(pairs)

    @property
    def rules(self) -> QuiltRules:
        """What a quilt is."""
        return self._rules

    def add(
        self,
        block: pa.RecordBatch,
        subjects: list[Subject],
        sites: NDArray[np.uint64],
        owned: NDArray[np.bool_],
        *,
        now: int,
    ) -> Posted | None:
        """The pages of a block enter; those that did, to be judged when they have settled."""
        from reusewatch.detector.window.adding import HOUR_US, WEB_BEGINS_US

        if not has_grams(block):
            return None
        wordy = is_wordy(block)
        # Another page may have forged what was salvaged: it is no document of the window.
        own = ~np.array([one.salvaged for one in subjects], bool)
        subjects = list(compress(subjects, wordy & own))
        if not subjects:
            return None
        if not own.all():
            block, sites, owned = block.filter(array_of(own)), sites[own], owned[own]
        pages = self._columns.of(block, sites, owned)
        at = pages.documents["at"]
        self._postings.add(pages, dated=(at >= WEB_BEGINS_US) & (at <= now + HOUR_US))
        return Posted(subjects, pages)

    def judge(self, posted: Posted) -> Iterator[Stitched]:
        """Which of these pages are quilts or hold a part of another; owned ones never are."""
        from reusewatch.detector.quilts.judging import judge, partial_copies, quilted
        from reusewatch.detector.quilts.store import OWNED

        for part, subjects in _parts(posted):
            holders = self._postings.ask(
                part.grams.values, most=self._rules.m, of=part,
                # What no other site has is no patch by this rule, and most grams are such.
                apart=self._rules.foreign == "domain",
            )  # fmt: skip
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
        from reusewatch.detector.quilts.patches import Stands

        record, documents = judged.pages[row], judged.holders.documents
        sources = judged.sources_of(row)[:_DONORS]
        closest = int(record["donor"])
        numbers = sources["document"].tolist() if is_quilt else [closest]
        grams = slice(int(part.grams.offsets[row]), int(part.grams.offsets[row + 1]))
        stands = Stands.of(judged.holders, grams, part.starts[grams], part.ends[grams], numbers)
        # Copies: a record is part of the answer, which is let go.
        of_sources = documents[sources["document"]]
        return Stitched(
            subject=subject,
            fraction=float(record["fraction"]),
            sources=int(record["sources"]),
            is_quilt=is_quilt,
            donors=tuple(zip(of_sources, sources["share"].tolist(), strict=True)),
            stands=stands,
            whole=documents[[closest]][0] if is_copy else None,
            here=float(record["here"]),
            there=float(record["there"]),
        )

    def nbytes(self) -> int:
        """Bytes of the postings, and about of what was found."""
        return self._postings.nbytes + len(self._said) * _SAID_BYTES

    def save(self) -> State:
        """The postings, and what was found."""
        arrays = {f"postings/{name}": array for name, array in self._postings.save().items()}
        return State(arrays, {"said": msgspec.to_builtins(list(self._said.items()))})

    def restore(self, state: State | None) -> None:
        """Take up what was saved, or begin with nothing."""
        from reusewatch.detector.quilts.postings import GramPostings

        self._postings: GramPostings = GramPostings(**self._bounds)
        self._said: OrderedDict[int, Said] = OrderedDict()
        if state is None:
            return
        self._postings.restore(state.by_head()["postings"])
        for page, one in state.facts["said"]:
            self._said[page] = msgspec.convert(one, Said)


_MOST_GRAMS = 16_384
"""Grams that are asked for at once; one page may have more."""


def _parts(posted: Posted) -> Iterator[tuple[GramPages, list[Subject]]]:
    """The pages in groups whose answers are of bounded size."""
    from reusewatch.detector.quilts.postings import GramPages
    from reusewatch.detector.ragged import Ragged

    pages, offsets = posted.pages, posted.pages.grams.offsets
    begin = 0
    while begin < len(pages):
        end = int(np.searchsorted(offsets, offsets[begin] + _MOST_GRAMS, "right")) - 1
        end = min(max(end, begin + 1), len(pages))
        some = slice(int(offsets[begin]), int(offsets[end]))
        grams = Ragged(pages.grams.values[some], offsets[begin : end + 1] - offsets[begin])
        part = GramPages(pages.documents[begin:end], grams, pages.starts[some], pages.ends[some])
        yield part, posted.subjects[begin:end]
        begin = end
