"""Large arrays are zeros, grow without losing what they hold, and are moved without a copy."""

from __future__ import annotations

import numpy as np
import pytest

from reusewatch.detector.large_arrays import _LARGE, longer, move, sparse_zeros, used_up, zeros

RECORD = np.dtype([("low", "u4"), ("high", "u2")])


def moved(array: np.ndarray, size: int) -> np.ndarray:
    grown = zeros(size, array.dtype)
    move(array, grown)
    return grown


@pytest.mark.parametrize("size", [0, 10, _LARGE // 6 + 1, 3 * _LARGE + 5])
def test_longer_and_moved_hold_what_was_there(size: int) -> None:
    for grow in (longer, moved):
        array = zeros(size, RECORD)
        assert not array.view(np.uint8).any()
        array["low"], array["high"] = np.arange(size), np.arange(size) % 7
        grown = grow(array, size + 1000)
        assert grown.flags.writeable
        assert np.array_equal(grown["low"][:size], np.arange(size))
        assert np.array_equal(grown["high"][:size], np.arange(size) % 7)
        assert not grown[size:].view(np.uint8).any()


def test_tables_grow_row_by_row() -> None:
    tables = zeros((2, _LARGE), np.uint32)
    tables[0], tables[1] = 1, 2
    grown = longer(tables, _LARGE + 3)
    assert grown.sum(axis=1).tolist() == [_LARGE, 2 * _LARGE]


def test_what_is_moved_gives_its_memory_back() -> None:
    array = zeros(3 * _LARGE, np.uint8)
    array[:] = 1
    part = array[_LARGE:]
    assert moved(part, 4 * _LARGE).sum() == 2 * _LARGE
    assert array.all(), "of a part of an array nothing is given back"
    assert moved(array, 4 * _LARGE).sum() == 3 * _LARGE
    assert not array.any()


def test_tables_are_moved_a_few_rows_at_a_time() -> None:
    tables = zeros((9, _LARGE // 8), np.uint32)
    tables[:] = np.arange(9)[:, None]
    grown = zeros((9, _LARGE // 8 + 5), np.uint32)
    move(tables, grown)
    assert grown.sum(axis=1).tolist() == [row * _LARGE // 8 for row in range(9)]
    assert not tables.any()


def test_what_is_used_up_is_there_until_it_was_looked_at() -> None:
    array = zeros(2 * _LARGE // RECORD.itemsize + 77, RECORD)
    array["low"] = np.arange(len(array))
    at = 0
    for part in used_up(array):
        assert part.start == at
        assert np.array_equal(array["low"][part], np.arange(part.start, part.stop))
        at = part.stop
    assert at == len(array)
    assert not array.view(np.uint8).any()


def test_where_memory_is_full_it_is_said_as_numpy_says_it() -> None:
    with pytest.raises(MemoryError):
        sparse_zeros((1 << 60,), np.uint8)
