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
from reusewatch.detector.scanning.decoding import Decoded, decode
from reusewatch.detector.scanning.readable import Readable
from reusewatch.detector.scanning.scan import Scan, scan_batch
from reusewatch.detector.sketching.excerpts import excerpts_of
from reusewatch.detector.sketching.fingerprint import Document, source_of
from reusewatch.detector.sketching.grams import GRAM_K
from reusewatch.detector.sketching.identity import identity_hashes
from reusewatch.detector.sketching.shingles import phrases

LONGEST = 80
"""Characters of a word that is shown; pages come from strangers."""
# A number: to compare a column with an enum's member looks through the enum each time.
_TITLE = int(Field.TITLE)


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


def words_of_pages(documents: Sequence[Document], scheme: HashScheme) -> list[PageWords]:
    """The pages scanned, all in one call."""
    decoded = [decode(document.body, document.charset) for document in documents]
    batch = scan_batch(list(map(source_of, documents, decoded)), key=scheme.key)
    scanned = [batch[page] for page in range(len(batch))]
    hashes = [one.hashes[: one.text_tokens] for one in scanned]
    words = Ragged(np.concatenate(hashes), page_offsets(map(len, hashes)))
    grams = phrases(words, GRAM_K, scheme, circular=False)
    return list(map(PageWords, decoded, scanned, hashes, grams, identity_hashes(words, scheme)))


def _shown(word: str) -> str:
    return word if len(word) <= LONGEST else word[: LONGEST - 1] + "…"
