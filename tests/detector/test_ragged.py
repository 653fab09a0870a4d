"""A ragged column is sound once it is built."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from reusewatch.detector.ragged import Ragged, as_column
from tests.detector.sketching.strategies import pages


@given(pages)
def test_pages_come_back(pages: list[list[int]]) -> None:
    column = Ragged.of(pages)
    assert [page.tolist() for page in column] == pages
    assert column.counts.tolist() == [len(page) for page in pages]


@pytest.mark.parametrize("offsets", [[], [1, 3], [0, 2], [0, 4], [0, 2, 1, 3], [[0, 3]]])
def test_offsets_that_do_not_cut_the_column_are_refused(offsets: list[int]) -> None:
    with pytest.raises(ValueError, match="offsets"):
        Ragged(np.zeros(3, np.uint64), np.array(offsets, np.int64))


def test_columns_may_be_read_only_views() -> None:
    stored = np.arange(4, dtype=np.uint64).tobytes()
    column = Ragged(np.frombuffer(stored, np.uint64), np.array([0, 4]))
    assert not column.values.flags.writeable
    assert column[0].tolist() == [0, 1, 2, 3]


def test_a_column_is_copied_only_where_kernels_cannot_take_it() -> None:
    words = np.arange(8, dtype=np.uint64)
    assert as_column(words, np.uint64) is words
    for other in ([0, 2, 4, 6], words[::2], words[::2].astype(np.uint32)):
        made = as_column(other, np.uint64)
        assert (made.dtype, made.tolist()) == (np.uint64, [0, 2, 4, 6])
        assert made.flags.c_contiguous
    shifted = np.frombuffer(b"\0" + words.tobytes(), np.uint64, offset=1)
    assert as_column(shifted, np.uint64).flags.aligned
    assert as_column(shifted, np.uint64).tolist() == words.tolist()
