"""Pages like a given one, of those that were seen last (Das et al.): a part of the stage `index`.

Keeps the weighted terms of so many pages, which are most of what a page takes; hence a window of
its own, smaller than the index's. Revisits bring no terms, and error pages are like each other.

Most pages are never asked for: their terms stand on disk (`shelf`), in memory is where. A question
is one pass over them; a worker that is asked again and again files them, in memory.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from reusewatch.detector.errors import BadState
from reusewatch.detector.hashing import HashScheme, hex_of
from reusewatch.detector.page_rows import ABSENT, PageRows
from reusewatch.detector.saved import array_of, within
from reusewatch.detector.sketching.agreement import b_similarity, c_similarity
from reusewatch.streams.blocks.occurrences import lists_of, text_of
from reusewatch.streams.questions import BadQuestion, Parameters, Rows, number
from reusewatch.streams.stages.shelf import Place, Shelf, restored, saved
from reusewatch.streams.stages.snapshot import State
from reusewatch.streams.urls import place
from reusewatch.streams.wire import Malformed

if TYPE_CHECKING:
    from reusewatch.detector.similar.answers import Search, Weighted
    from reusewatch.detector.similar.index import MwoIndex
    from reusewatch.detector.similar.kept_pages import KeptPages, Stands
    from reusewatch.detector.similar.one_pass import Found
    from reusewatch.detector.similar.overlap import Runs
    from reusewatch.detector.similar.weighted_pages import WeightedPages
    from reusewatch.detector.window.index import NearDuplicateIndex

THRESHOLD = 0.75
_TOP = 20
# Of an answer: the terms that decided.
_TERMS = 10
# To file pages takes as long as so many passes over them, and three times their memory.
PASSES = 32
# A pair is asked for with each verdict of its page: these that were asked for last are known.
_OVERLAPS = 8192
# And a page is a near one of several that come near each other: the terms of so many.
_READ = 512
_FILED, _KEPT, _STANDS = "filed", "kept", "stands"
_ROWS = 1 << 32
_NOWHERE = np.empty((2, 0), np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    """A batch that came at this moment: where its terms stand, and of its pages what tells which
    version is the later."""

    place: Place
    page: np.ndarray[Any, Any]
    at: np.ndarray[Any, Any]
    stands: Stands
    now: int

    def read(self) -> KeptPages:
        from reusewatch.detector.similar.kept_pages import KeptPages

        return KeptPages.unpacked(self.place.read())

    def runs_of(self, row: int) -> Runs:
        return self.stands.terms_in(self.place.part, row)

    def terms_of(self, row: int) -> Weighted:
        return self.runs_of(row).weighted()


class Similarity:
    """The weighted terms of the last pages; `add` keeps, `similar` asks."""

    def __init__(
        self,
        scheme: HashScheme,
        *,
        max_pages: int,
        max_age_us: int | None = None,
        directory: Path | None = None,
        passes: int = PASSES,
        prepare: Callable[[], None] = lambda: None,
    ) -> None:
        """`directory`: where terms stand; `passes`: how many questions are answered before pages
        are filed; `prepare` has the kernels of the files ready, called before they are needed."""
        self._scheme = scheme
        self._prepare = prepare
        self._passes = passes
        self._directory = directory
        self._bounds: dict[str, Any] = {"max_pages": max_pages, "max_age_us": max_age_us}
        self._index: MwoIndex | None = None
        # Pages that are kept, batches that have left, and pages of the first one that have.
        self._count = self._gone = self._left = 0
        # The pages that were brought last, with their times, and how many of them have come.
        self._coming: list[tuple[int, int]] = []
        self._come = 0
        # Those of them of which another version was here before, or has come.
        self._known = set[int]()
        self.restore(None)

    def weighted(self, block: pa.RecordBatch) -> WeightedPages:
        """The pages of a block as they are kept. Malformed where their weights are none."""
        from reusewatch.detector.ragged import Ragged
        from reusewatch.detector.similar.weighted_pages import WeightedPages

        terms, offsets = lists_of(block.column("terms"))
        weights, _ = lists_of(block.column("term_weights"))
        at = block.column("fetched_at").view(pa.int64()).to_numpy()
        try:
            return WeightedPages(
                block.column("page").to_numpy(), at, Ragged(terms, offsets), weights,
                *text_of(block.column("url")),
            )  # fmt: skip
        except ValueError as error:
            raise Malformed(f"a fingerprint block whose terms are none: {error}") from error

    def add(self, weighted: WeightedPages, *, now: int) -> None:
        """Keep pages; each replaces what was kept of it, if it is not older."""
        self.bring(weighted, now=now)
        self.reach(None)

    def bring(self, weighted: WeightedPages, *, now: int) -> None:
        """Keep pages, of which none has come yet: see `reach`."""
        from reusewatch.detector.similar.kept_pages import KeptPages

        self.reach(None)
        pages = KeptPages.of(weighted)
        self._keep(self._shelf.put(pages.packed()), now, pages)

    def _keep(self, place: Place, now: int, pages: KeptPages) -> None:
        # Copies: a view would keep the whole block alive, or what was read of a file.
        kept = _Kept(place, pages.page.copy(), pages.at.copy(), pages.stands(), now)
        self._unfiled.append(kept)
        self._count += len(pages)
        numbers = pages.page.tolist()
        self._coming = list(zip(numbers, pages.at.tolist(), strict=True))
        self._come, self._known = 0, self._where.among(numbers)

    def reach(self, count: int | None) -> None:
        """So many of the pages that were brought last have come, or all of them. What is asked of
        a page must not hang on those behind it: a block might have ended before these."""
        end = len(self._coming) if count is None else min(count, len(self._coming))
        base = (self._gone + len(self._unfiled) - 1) * _ROWS
        for row in range(self._come, end):
            page, at = self._coming[row]
            known = self._found(page) if page in self._known else None
            if known is None or at >= int(known[0].at[known[1]]):
                (self._where.put if known is None else self._where.replace)(page, base + row)
                self._known.add(page)
        self._come = max(self._come, end)

    def ended(self) -> None:
        """A step of pages has ended: those that are too many by now leave, the first ones. Neither
        before, nor as blocks: which pages there are would hang on where these end."""
        self.reach(None)
        while (many := self._count - self._bounds["max_pages"]) > 0:
            first = self._unfiled[0]
            end = min(self._left + many, len(first.page))
            past = self._gone * _ROWS + end
            self._where.drop_below(first.page[self._left : end], past)
            self._count -= end - self._left
            self._left = end
            if end == len(first.page):
                self._unfiled.popleft()
                self._gone, self._left = self._gone + 1, 0

    def _found(self, page: int) -> tuple[_Kept, int] | None:
        """The batch that holds the latest version of a page that is not filed, and its row."""
        where = self._where.get(page)
        if where == ABSENT:
            return None
        batch, row = divmod(where, _ROWS)
        return self._unfiled[batch - self._gone], row

    def _filed(self) -> MwoIndex:
        """The index, made when something is filed: until then nobody needs its kernels."""
        if self._index is None:
            self._prepare()
            from reusewatch.detector.similar.index import MwoIndex

            self._index = MwoIndex(**self._bounds)
        return self._index

    def _file(self) -> MwoIndex:
        index = self._filed()
        self.reach(None)
        for kept in self._unfiled:
            index.add(kept.read().weighted(), now=kept.now)
        self._forget()
        return index

    def _forget(self) -> None:
        self._unfiled: deque[_Kept] = deque()
        self._where = PageRows(*_NOWHERE)
        self._overlaps: OrderedDict[tuple[int, int], float] = OrderedDict()
        self._read: OrderedDict[int, Runs] = OrderedDict()
        self._count = self._gone = self._left = 0
        self._coming, self._come = [], 0
        self._known = set()

    def _terms_of(self, page: int, where: int) -> Runs | None:
        if where == ABSENT:
            filed = None if self._index is None else self._index.terms_of(page)
            return None if filed is None else _runs(filed)
        known = self._read.get(where)
        if known is None:
            batch, row = divmod(where, _ROWS)
            known = self._read[where] = self._unfiled[batch - self._gone].runs_of(row)
            if len(self._read) > _READ:
                self._read.popitem(last=False)
        return known

    def overlap(self, page: int, other: int) -> float | None:
        """MWO of two pages; None where one has left."""
        from reusewatch.detector.similar.overlap import overlap_of

        pair = self._where.get(page), self._where.get(other)
        if (known := self._overlaps.get(pair)) is not None:
            return known
        one, two = self._terms_of(page, pair[0]), self._terms_of(other, pair[1])
        if one is None or two is None:
            return None
        found = overlap_of(one, two)
        if ABSENT not in pair:  # where both stand, which says their versions, too
            self._overlaps[pair] = found
            if len(self._overlaps) > _OVERLAPS:
                self._overlaps.popitem(last=False)
        return found

    def similar(self, parameters: Parameters, near: NearDuplicateIndex) -> Rows:
        """Pages like the one with these `terms` and `weights`, or like that of a `url`.

        One row: the answers, with B- and C-similarity where the near-duplicate window has both
        pages, and how the search came by them.
        """
        self._asked += 1
        ask = self._search if self._index is None and self._asked <= self._passes else self._look_up
        page = None
        if "url" in parameters:
            page = int(place(parameters["url"], self._scheme).page_id, 16)
        given = None if page is not None else _given(parameters)
        sketches = _sketches(parameters) if page is None else _kept_sketches(near, page)
        threshold, top = _share(parameters), number(parameters, "top", _TOP)
        try:
            found = ask(page, given, threshold, top)
        except ValueError as error:
            raise BadQuestion(str(error)) from error
        if isinstance(found, int):
            raise BadQuestion(
                f"{parameters['url']}: not among the {found} pages whose terms are kept; it left, "
                "or never came (similar_pages keeps more)"
            )
        return [self._told(found, sketches, near)]

    def _look_up(
        self, page: int | None, given: Weighted | None, threshold: float, top: int
    ) -> Search | int:
        """The answer of the files; how many pages there are, where the asked one is none."""
        index = self._file()
        asked = given or index.terms_of(page or 0)
        if asked is None:
            return len(index)
        return index.similar(*asked, threshold=threshold, top=top, without=page)

    def _search(
        self, page: int | None, given: Weighted | None, threshold: float, top: int
    ) -> Search | int:
        """The same by one pass."""
        from reusewatch.detector.similar.answers import Search, Similar, shared_terms

        at = None if page is None else self._found(page)
        asked = given if at is None else at[0].terms_of(at[1])
        none = np.empty(0, np.uint64), np.empty(0, np.float32)
        found = self._passed(asked or none, threshold, top, page)
        if page is not None:
            if found.itself is None:
                return found.pages
            row = found.itself
            here = self._unfiled[row.batch], row.row
            if here != at:  # of two fetches at one time it is the other that counts
                asked = here[0].terms_of(here[1])
                found = self._passed(asked, threshold, top, page)
        answers = []
        for row in found.rows:
            pages = self._unfiled[row.batch].read()
            terms = pages.terms[row.row], pages.weights_of(row.row)
            answers.append(
                Similar(
                    int(pages.page[row.row]), pages.url_of(row.row), row.overlap,
                    shared_terms(asked or none, terms),
                )
            )  # fmt: skip
        return Search(
            tuple(answers), pages=found.pages, candidates=found.compared, mezzanine=found.compared,
            found=found.found, unseen=0, cut=0,
        )  # fmt: skip

    def _passed(self, asked: Weighted, threshold: float, top: int, without: int | None) -> Found:
        from reusewatch.detector.similar.one_pass import OnePass

        question = OnePass(*asked)
        for kept in self._unfiled:
            question.look(kept.read(), now=kept.now)
        return question.found(threshold, top=top, without=without, **self._bounds)

    def _told(
        self, found: Search, sketches: _Sketches | None, near: NearDuplicateIndex
    ) -> dict[str, Any]:
        answers = []
        for one in found.answers:
            b, c = _agreement(sketches, _kept_sketches(near, one.page))
            terms = [
                {"term": hex_of(x.term), "weight": x.weight, "other": x.other}
                for x in one.terms[:_TERMS]
            ]
            answers.append({"url": one.url, "mwo": one.mwo, "b": b, "c": c, "terms": terms})
        return {
            "answers": answers, "pages": found.pages, "candidates": found.candidates,
            "mezzanine": found.mezzanine, "found": found.found, "unseen": found.unseen,
            "cut": found.cut,
        }  # fmt: skip

    def nbytes(self) -> int:
        """Bytes in memory: of what is filed, and about of where the rest stands."""
        filed = 0 if self._index is None else self._index.nbytes
        return filed + self._where.nbytes

    def save(self) -> State:
        """All terms."""
        filed = {} if self._index is None else self._index.save()
        arrays = {f"{_FILED}/{name}": array for name, array in filed.items()}
        files, places = saved(kept.place for kept in self._unfiled)
        arrays |= {f"{_KEPT}/{name}": array for name, array in files.items()}
        kept = [one.now for one in self._unfiled]
        # As it stands: of a page whose later version was fetched earlier none is left when that one
        # leaves, which the versions that are left do not say.
        self.reach(None)
        stands = np.stack(self._where.columns(), axis=1)
        stands[:, 1] -= np.uint64(self._gone * _ROWS)
        arrays[f"{_STANDS}/where"] = stands
        return State(arrays, {"places": places, "kept": kept, "left": self._left})

    def restore(self, state: State | None) -> None:
        """Take up saved terms, or begin with none."""
        from reusewatch.detector.similar.kept_pages import KeptPages

        self._index = None
        self._shelf = Shelf(self._directory)
        self._asked = 0
        self._forget()
        if state is None:
            return
        known = state.by_head()
        if filed := known.get(_FILED):
            self._filed().restore(filed)
        places = restored(known.get(_KEPT, {}), state.facts["places"])
        for where, now in zip(places, state.facts["kept"], strict=True):
            pages = KeptPages.unpacked(where.read())
            pages.check()
            self._keep(where, now, pages)
        self._come = len(self._coming)
        stands = array_of(known[_STANDS], "where", np.uint64, (None, 2))
        batch, row = np.divmod(stands[:, 1], np.uint64(_ROWS))
        within("where", batch, 0, len(self._unfiled))
        sizes = np.array([len(one.page) for one in self._unfiled], np.uint64)
        if (row >= sizes[batch]).any():
            raise BadState("where names rows that no batch of pages has")
        self._where = PageRows(*np.ascontiguousarray(stands.T))
        self._left = state.facts["left"]
        self._count -= self._left


def _runs(filed: Weighted) -> Runs:
    from reusewatch.detector.similar.overlap import Runs

    return Runs.of(*filed)


_Sketches = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def _given(parameters: Parameters) -> Weighted:
    return (
        np.array(_numbers(parameters, "terms", _hash), np.uint64),
        np.array(_numbers(parameters, "weights", float), np.float32),
    )


def _kept_sketches(near: NearDuplicateIndex, page: int) -> _Sketches | None:
    """Supershingles, in the 32 bits that are kept of each, and the simhash of a page."""
    entry = near.entry_of(page)
    return None if entry is None else (entry["super8"], entry["simhash"])


def _sketches(parameters: Parameters) -> _Sketches | None:
    """The same of a page that is asked with."""
    if not parameters.get("supershingles8") or not parameters.get("simhash"):
        return None
    from reusewatch.detector.window.sightings import short_supershingles

    supershingles = np.array(_numbers(parameters, "supershingles8", _hash), np.uint64)
    simhash = np.array(_numbers(parameters, "simhash", _hash), np.uint64)
    if supershingles.shape != (6,) or simhash.shape != (6,):
        raise BadQuestion("supershingles8 and simhash are six numbers each")
    return short_supershingles(supershingles), simhash


def _agreement(one: _Sketches | None, other: _Sketches | None) -> tuple[int | None, int | None]:
    """B- and C-similarity; None where one of the pages has no sketches any more."""
    if one is None or other is None:
        return None, None
    return b_similarity(one[0], other[0]), c_similarity(one[1], other[1])


def _hash(text: str) -> int:
    value = int(text, 16)
    if not 0 <= value < 1 << 64:
        raise ValueError(text)
    return value


def _numbers(parameters: Parameters, name: str, kind: Callable[[str], Any]) -> list[Any]:
    text = parameters.get(name, "")
    try:
        return [kind(part) for part in text.split(",")] if text else []
    except (ValueError, OverflowError):
        raise BadQuestion(f"{name}: numbers with commas between them are expected") from None


def _share(parameters: Parameters) -> float:
    text = parameters.get("threshold", str(THRESHOLD))
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= 1:
        raise BadQuestion(f"threshold={text}: a share above 0, up to 1, is expected")
    return found
