"""On real pages: the index answers as brute force does, and terms lead back to their words."""

from __future__ import annotations

import numpy as np
import pytest

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.scanning.mixing import word_hash
from reusewatch.detector.similar.index import MwoIndex
from reusewatch.detector.similar.overlap import decide, least
from reusewatch.detector.similar.weighted_pages import WeightedPages
from reusewatch.detector.sketching.fingerprint import Document, fingerprints
from reusewatch.detector.sketching.term_words import words_of
from tests.detector.similar.paper_filters import with_paper_filters
from tests.detector.similar.twin import NOW, T0
from tests.real_pages import real_pages


@pytest.mark.timeout(600)
def test_the_index_loses_nothing_on_real_pages() -> None:
    documents = [Document(body) for _, body in real_pages()][-150:]
    made = fingerprints(documents, HashScheme()).sketches.terms
    count, offsets = len(documents), made.hashes.offsets
    index = MwoIndex(max_pages=count)
    index.add(
        WeightedPages.of(range(count), np.arange(count) + T0, made.hashes, made.weights,
                         [str(i) for i in range(count)]),
        now=NOW,
    )  # fmt: skip
    rows = [(made.hashes[i], made.weights[offsets[i] : offsets[i + 1]]) for i in range(count)]
    for row in rows[::5]:
        overlaps = {page: decide(*row, *other) for page, other in enumerate(rows)}
        for threshold in (0.3, 0.5, 0.7, 0.9):
            found = index.similar(*row, threshold=threshold)
            expected = {page: m for page, m in overlaps.items() if m >= least(threshold)}
            assert {answer.page: answer.mwo for answer in found.answers} == expected
            filtered = with_paper_filters(index).similar(*row, threshold=threshold)
            assert filtered.found <= found.found
    wanted = rows[0][0][:20].tolist()
    words = words_of(documents[0], HashScheme(), wanted)
    assert words.keys() == set(wanted)
    assert all(word_hash(word.encode(), HashScheme().key) == term for term, word in words.items())
