"""The words of popular phrases, read from pages that have them.

A min-value leads to the hash of its phrase, and that to where the phrase stands on a page. The page
is read again from where it came from; where it is gone or has changed, another one with the phrase
is tried, and after a few the words are not known. No page is read twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.phrases.documents import run_begins
from reusewatch.streams.documents import document_of
from reusewatch.streams.page_text import ReadOrigin, read_unchanged

if TYPE_CHECKING:
    from reusewatch.detector.evidence.pages import PageWords
    from reusewatch.detector.phrases.popular import Phrase
    from reusewatch.streams.blocks.for_phrases import PhrasePages

MOST_TRIES = 8
"""Pages that are tried for one phrase."""


class PhraseWords:
    """Finds the words of phrases."""

    def __init__(self, pages: PhrasePages, read_origin: ReadOrigin, scheme: HashScheme) -> None:
        self._pages = pages
        self._read_origin = read_origin
        self._scheme = scheme
        self._tried: set[int] = set()

    def of(self, phrases: Sequence[Phrase]) -> dict[int, str]:
        """The words of those phrases that can be read, by their hashes."""
        known: dict[int, str] = {}
        functions = np.array([one.function for one in phrases], np.int64)
        shingles = np.array([one.shingle for one in phrases], np.uint64)
        for phrase in phrases:
            for page in self._pages_with(phrase):
                if phrase.hash in known:
                    break
                if page in self._tried:
                    continue
                self._tried.add(page)
                row = self._pages.documents.shingles[:, page]
                here = np.flatnonzero(row[functions] == shingles).tolist()
                known = self._read(page, row, [phrases[at] for at in here]) | known
        return known

    def _pages_with(self, phrase: Phrase) -> list[int]:
        """Those that are tried: of every archive the newest, then the next newest of each."""
        has = self._pages.documents.shingles[phrase.function] == np.uint64(phrase.shingle)
        rows = np.flatnonzero(has & (self._pages.sources >= 0))[::-1]
        order = np.lexsort((np.arange(rows.size), _nth_of_its_kind(self._pages.sources[rows])))
        found: list[int] = rows[order][:MOST_TRIES].tolist()
        return found

    def _read(
        self, page: int, row: NDArray[np.uint64], phrases: Sequence[Phrase]
    ) -> dict[int, str]:
        """The words of phrases that a page has; nothing where it cannot be read again."""
        from reusewatch.detector.evidence.pages import words_of_pages
        from reusewatch.detector.ragged import Ragged
        from reusewatch.detector.sketching.shingles import PHRASE_K, phrase_positions
        from reusewatch.detector.sketching.shingles import phrases as hashes_of

        facts = self._pages.facts(page)
        found = read_unchanged(self._read_origin, facts.origin, facts.file_hash, self._scheme)
        if found is None:
            return {}
        (words,) = words_of_pages([document_of(found)], self._scheme)
        tokens = Ragged(words.hashes, np.array([0, len(words)], np.int64))
        hashes = hashes_of(tokens, PHRASE_K, self._scheme, circular=True).values
        places = phrase_positions(row, hashes, self._scheme)
        return {
            one.hash: _text(words, int(places[one.function]), PHRASE_K)
            for one in phrases
            if places[one.function] >= 0
        }


def _text(words: PageWords, first: int, k: int) -> str:
    """A phrase's words; the page is a circle."""
    return " ".join(words.word((first + at) % len(words)) for at in range(k))


def _nth_of_its_kind(kinds: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many before each entry are of its kind."""
    order, at = np.argsort(kinds, kind="stable"), np.arange(kinds.size)
    begins = np.where(run_begins(kinds[order]), at, 0)
    found = np.empty(kinds.size, np.int64)
    found[order] = at - np.maximum.accumulate(begins)
    return found
