"""Pages like a given one, of those that were seen last (Das et al.): a part of the stage `index`.

Keeps the weighted terms of so many pages, which are most of what a page takes; hence a window of
its own, smaller than the index's. Revisits bring no terms, and error pages are like each other.

Pages are filed when somebody asks: filing one costs more than all that judges it, and most are
never asked for. Until then they are kept as they came.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from reusewatch.detector.hashing import HashScheme, hex_of
from reusewatch.detector.sketching.agreement import b_similarity, c_similarity
from reusewatch.streams.blocks.occurrences import lists_of
from reusewatch.streams.questions import BadQuestion, Parameters, Rows, number
from reusewatch.streams.stages.snapshot import State
from reusewatch.streams.urls import place
from reusewatch.streams.wire import Malformed

if TYPE_CHECKING:
    from reusewatch.detector.similar.index import MwoIndex, Search
    from reusewatch.detector.similar.kept_pages import KeptPages
    from reusewatch.detector.similar.weighted_pages import WeightedPages
    from reusewatch.detector.window.index import NearDuplicateIndex

THRESHOLD = 0.75
_TOP = 20
# Of an answer: the terms that decided.
_TERMS = 10
_WHERE_BYTES = 200
_FILED = "filed/"
Terms = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


class Similarity:
    """The weighted terms of the last pages; `add` keeps, `similar` asks."""

    def __init__(
        self,
        scheme: HashScheme,
        *,
        max_pages: int,
        max_age_us: int | None = None,
        prepare: Callable[[], None] = lambda: None,
    ) -> None:
        """`prepare` has the kernels of `similar` ready; called when somebody asks first."""
        self._scheme = scheme
        self._prepare = prepare
        self._bounds: dict[str, Any] = {"max_pages": max_pages, "max_age_us": max_age_us}
        self._index: MwoIndex | None = None
        self.restore(None)

    def weighted(self, block: pa.RecordBatch) -> WeightedPages:
        """The pages of a block as they are kept. Malformed where their weights are none."""
        from reusewatch.detector.ragged import Ragged
        from reusewatch.detector.similar.weighted_pages import WeightedPages

        terms, offsets = lists_of(block.column("terms"))
        weights, _ = lists_of(block.column("term_weights"))
        at = block.column("fetched_at").cast(pa.int64()).to_numpy()
        try:
            # Copies: a view would keep the whole block alive.
            return WeightedPages.of(
                block.column("page").to_numpy().copy(), at.copy(), Ragged(terms.copy(), offsets),
                weights, block.column("url").to_pylist(),
            )  # fmt: skip
        except ValueError as error:
            raise Malformed(f"a fingerprint block whose terms are none: {error}") from error

    def add(self, weighted: WeightedPages, *, now: int) -> None:
        """Keep pages; each replaces what was kept of it, if it is not older."""
        from reusewatch.detector.similar.kept_pages import KeptPages

        self._keep(KeptPages.of(weighted), now)

    def _keep(self, pages: KeptPages, now: int) -> None:
        self._unfiled.append((pages, now))
        self._count += len(pages)
        for row, (page, at) in enumerate(zip(pages.page.tolist(), pages.at.tolist(), strict=True)):
            known = self._where.get(page)
            if known is None or at >= int(known[0].at[known[1]]):
                self._where[page] = (pages, row)
        # Filed, these would have left for those that came after them.
        while self._count - len(self._unfiled[0][0]) >= self._bounds["max_pages"]:
            gone, _ = self._unfiled.popleft()
            self._count -= len(gone)
            for page in gone.page.tolist():
                if page in self._where and self._where[page][0] is gone:
                    del self._where[page]

    def _filed(self) -> MwoIndex:
        """The index, made when something is filed: until then nobody needs its kernels."""
        if self._index is None:
            self._prepare()
            from reusewatch.detector.similar.index import MwoIndex

            self._index = MwoIndex(**self._bounds)
        return self._index

    def _file(self) -> MwoIndex:
        index = self._filed()
        for pages, now in self._unfiled:
            index.add(pages.weighted(), now=now)
        self._unfiled.clear()
        self._where.clear()
        self._count = 0
        return index

    def _terms_of(self, page: int) -> Terms | None:
        found = self._where.get(page)
        if found is None:
            return None if self._index is None else self._index.terms_of(page)
        pages, row = found
        return pages.terms[row], pages.weights_of(row)

    def overlap(self, page: int, other: int) -> float | None:
        """MWO of two pages; None where one has left."""
        from reusewatch.detector.similar.overlap import decide

        one, two = self._terms_of(page), self._terms_of(other)
        return None if one is None or two is None else decide(*one, *two)

    def similar(self, parameters: Parameters, near: NearDuplicateIndex) -> Rows:
        """Pages like the one with these `terms` and `weights`, or like that of a `url`.

        One row: the answers, with B- and C-similarity where the near-duplicate window has both
        pages, and how the search came by them.
        """
        page, index = None, self._file()
        if "url" in parameters:
            page = int(place(parameters["url"], self._scheme).page_id, 16)
            kept = index.terms_of(page)
            if kept is None:
                raise BadQuestion(
                    f"{parameters['url']}: not among the {len(index)} pages whose terms are "
                    "kept; it left, or never came (similar_pages keeps more)"
                )
            terms, weights = kept
        else:
            terms = np.array(_numbers(parameters, "terms", _hash), np.uint64)
            weights = np.array(_numbers(parameters, "weights", float), np.float32)
        sketches = _sketches(parameters) if page is None else _kept_sketches(near, page)
        try:
            found = index.similar(
                terms, weights, threshold=_share(parameters), top=number(parameters, "top", _TOP),
                without=page,
            )  # fmt: skip
        except ValueError as error:
            raise BadQuestion(str(error)) from error
        return [self._told(found, sketches, near)]

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
        """Bytes of all terms."""
        unfiled = sum(pages.nbytes for pages, _ in self._unfiled)
        filed = 0 if self._index is None else self._index.nbytes
        return filed + unfiled + _WHERE_BYTES * len(self._where)

    def save(self) -> State:
        """All terms."""
        filed = {} if self._index is None else self._index.save()
        arrays = {_FILED + name: array for name, array in filed.items()}
        for batch, (pages, _) in enumerate(self._unfiled):
            arrays |= {f"{batch}/{name}": array for name, array in pages.arrays().items()}
        return State(arrays, {"unfiled": [now for _, now in self._unfiled]})

    def restore(self, state: State | None) -> None:
        """Take up saved terms, or begin with none."""
        from reusewatch.detector.similar.kept_pages import KeptPages

        self._index = None
        self._unfiled: deque[tuple[KeptPages, int]] = deque()
        self._where: dict[int, tuple[KeptPages, int]] = {}
        self._count = 0
        if state is None:
            return
        saved = state.by_head()
        if filed := saved.get(_FILED.rstrip("/")):
            self._filed().restore(filed)
        for batch, now in enumerate(state.facts["unfiled"]):
            self._keep(KeptPages.of_arrays(saved[str(batch)]), now)


_Sketches = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


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
