"""What is said of pages is what a dictionary would hold."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.streams.stages.popular_counts import PopularCounts

_PAGES = st.one_of(st.integers(0, 9), st.integers((1 << 64) - 5, (1 << 64) - 1))
_PUT = st.dictionaries(_PAGES, st.integers(0, 84), max_size=6)


@given(st.lists(_PUT, max_size=5), st.integers(1, 8), st.lists(_PAGES, max_size=6))
def test_the_last_pages_have_their_last_counts(
    puts: list[dict[int, int]], most: int, asked: list[int]
) -> None:
    counts, twin = PopularCounts(most), dict[int, int]()
    for put in puts:
        counts.put(np.array(list(put), np.uint64), np.array(list(put.values()), np.int64))
        for page, count in put.items():
            twin.pop(page, None)
            twin[page] = count
        twin = dict(list(twin.items())[-most:])
    for found in (counts, PopularCounts(most, counts.save())):
        pages, said = (column.tolist() for column in found.save().values())
        assert list(zip(pages, said, strict=True)) == list(twin.items())
        assert found.of(asked) == [found.get(page) for page in asked] == list(map(twin.get, asked))
