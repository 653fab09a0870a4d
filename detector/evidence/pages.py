"""A page as evidence needs it: its words as hashes, their places in the body, and text for people.

Pages are scanned together, once each. Strings are made of the few words that are shown: hashes and
places are all that an alignment needs of a page of thousands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.fields import Field
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged, page_offsets
from reusewatch.detector.scanning import state
from reusewatch.detector.scanning.decoding import Decoded, decode
from reusewatch.detector.scanning.readable import Readable
from reusewatch.detector.scanning.scan import Batch, Scan, scan_batch
from reusewatch.detector.sketching.excerpts import excerpts_of
from reusewatch.detector.sketching.fingerprint import Document, source_of
from reusewatch.detector.sketching.grams import GRAM_K
from reusewatch.detector.sketching.identity import identity_hashes
from reusewatch.detector.sketching.shingles import phrases

LONGEST = 80
"""Characters of a word that is shown; pages come from strangers."""
# A number: to compare a column with an enum's member looks through the enum each time.
_TITLE = int(Field.TITLE)
_NONE = np.empty(0, np.uint64)


@dataclass(slots=True, eq=False)
class PageWords:
    """The words of a page, title first. Places are counted in words, spans in bytes of the body."""

    decoded: Decoded
    scanned: Scan
    hashes: NDArray[np.uint64]
    # Of `GRAM_K` words each, and what depends on all words.
    grams: NDArray[np.uint64]
    identity: np.uint64
    _readable: Readable | None = field(default=None, init=False)

    def __len__(self) -> int:
        return len(self.hashes)

    def spans(
        self, first: NDArray[np.int64], stop: NDArray[np.int64]
    ) -> tuple[list[int], list[int]]:
        """Where runs of words, none of them empty, begin and end in the body."""
        first = self._in_order(first, stop)
        starts = self.scanned.starts[first].astype(np.int64)
        ends = self.scanned.ends[stop - 1].astype(np.int64)
        found = self.decoded.body_offsets(np.stack((starts, np.maximum(starts, ends))))
        return found[0].tolist(), found[1].tolist()

    def _in_order(self, first: NDArray[np.int64], stop: NDArray[np.int64]) -> NDArray[np.int64]:
        """A title that stands behind the text comes first among the words, and a run from it on
        would end before it begins: its part in the text is the run."""
        fields, starts = self.scanned.fields[: len(self)], self.scanned.starts
        if not fields.size or fields[0] != _TITLE:
            return first
        titled = int((fields == _TITLE).sum())
        behind = titled < fields.size and starts[0] > starts[titled]
        crosses = (first < titled) & (titled < stop)
        return np.where(crosses, titled, first) if behind else first

    def texts(self, first: NDArray[np.int64], stop: NDArray[np.int64]) -> list[str]:
        """The beginning of what each of some runs of words says."""
        if not first.size:
            return []
        return excerpts_of([self.decoded.utf8] * first.size, self.scanned, first, stop)

    def word(self, at: int) -> str:
        """One word, as it was hashed."""
        source = self.decoded.utf8[int(self.scanned.starts[at]) : int(self.scanned.ends[at])]
        if source.isascii() and source.isalnum() and not (self.scanned.images == at).any():
            return _shown(source.decode().lower())
        # Markup, references or another script in it: by a second pass over the page.
        if self._readable is None:
            self._readable = Readable(self.scanned)
        return _shown(self._readable.word(at))


@dataclass(frozen=True, slots=True, eq=False)
class ManyWords:
    """The words of many pages, in shared columns: of each the same as `PageWords` has."""

    decoded: Sequence[Decoded]
    batch: Batch
    words: Ragged
    grams: Ragged
    identities: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.decoded)

    def page(self, at: int) -> PageWords:
        """One of them."""
        scanned, words, grams = self.batch[at], self.words[at], self.grams[at]
        return PageWords(self.decoded[at], scanned, words, grams, self.identities[at])

    def spans(
        self, pages: NDArray[np.int64], first: NDArray[np.int64], stop: NDArray[np.int64]
    ) -> tuple[list[int], list[int]]:
        """Where runs of words, none of them empty, begin and end in the bodies of these pages."""
        at = self.batch.token_at[pages]
        first = self._in_order(pages, first, stop) + at
        starts = self.batch.starts[first].astype(np.int64)
        found = np.stack((starts, np.maximum(starts, self.batch.ends[stop + at - 1])))
        for page in set(pages.tolist()):
            if self.decoded[page].charset != "utf-8":
                own = pages == page
                found[:, own] = self.decoded[page].body_offsets(found[:, own])
        return found[0].tolist(), found[1].tolist()

    def _in_order(
        self, pages: NDArray[np.int64], first: NDArray[np.int64], stop: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """As `PageWords` has it: of a run across a title that stands behind the text, the text."""
        at, fields, starts = self.batch.token_at[pages], self.batch.fields, self.batch.starts
        last = fields[at + np.minimum(stop, self.words.counts[pages]) - 1]
        # A title's words are the first of a page's.
        crosses = np.flatnonzero((fields[at + first] == _TITLE) & (last != _TITLE))
        titled = fields == _TITLE
        ends = np.flatnonzero(titled[:-1] & ~titled[1:]) + 1
        begins = at[crosses]
        texts = ends[ends.searchsorted(begins, "right")]
        behind = starts[begins] > starts[texts]
        first = first.copy()
        first[crosses[behind]] = (texts - begins)[behind]
        return first

    def texts(
        self, pages: NDArray[np.int64], first: NDArray[np.int64], stop: NDArray[np.int64]
    ) -> list[str]:
        """The beginning of what each of some runs of words says."""
        at = self.batch.token_at[pages]
        utf8 = [self.decoded[page].utf8 for page in pages.tolist()]
        return excerpts_of(utf8, self.batch, at + first, at + stop) if utf8 else []

    def told(self, pages: NDArray[np.int64], places: NDArray[np.int64]) -> list[str]:
        """Some words, each of a page, as they were hashed."""
        batch = self.batch
        at = batch.token_at[pages] + places
        # In rising order, and behind them one that is none.
        images = np.append(batch.images, 0) + np.repeat(
            batch.token_at, np.append(np.diff(batch.image_at), 1)
        )  # fmt: skip
        rows = zip(
            pages.tolist(), places.tolist(), batch.starts[at].tolist(), batch.ends[at].tolist(),
            (images[images.searchsorted(at)] == at).tolist(), strict=True,
        )  # fmt: skip
        found: dict[int, PageWords] = {}
        out = []
        for page, place, start, end, image in rows:
            source = self.decoded[page].utf8[start:end]
            if source.isascii() and source.isalnum() and not image:
                out.append(_shown(source.decode().lower()))
                continue
            if page not in found:
                found[page] = self.page(page)
            out.append(found[page].word(place))
        return out


def many_words(documents: Sequence[Document], scheme: HashScheme) -> ManyWords:
    """The pages scanned, all in one call."""
    decoded = [decode(document.body, document.charset) for document in documents]
    batch = scan_batch(list(map(source_of, documents, decoded)), key=scheme.key)
    sizes = batch.facts[:, state.TEXT_TOKENS].tolist()
    hashes = [
        batch.hashes[at : at + size]
        for at, size in zip(batch.token_at.tolist(), sizes, strict=False)
    ]
    words = Ragged(np.concatenate([_NONE, *hashes]), page_offsets(sizes))
    grams = phrases(words, GRAM_K, scheme, circular=False)
    return ManyWords(decoded, batch, words, grams, identity_hashes(words, scheme))


def words_of_pages(documents: Sequence[Document], scheme: HashScheme) -> list[PageWords]:
    """The same, page by page."""
    found = many_words(documents, scheme)
    return [found.page(at) for at in range(len(found))]


def _shown(word: str) -> str:
    return word if len(word) <= LONGEST else word[: LONGEST - 1] + "…"
