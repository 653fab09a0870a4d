"""Values of columns: what Arrow's own functions say of them, also of slices."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.streams.blocks.values import filled, is_here, known_of, matrix_of

NUMBERS = st.one_of(
    st.lists(st.none() | st.integers(0, 2**64 - 1), max_size=40),
    st.lists(st.none(), max_size=20),
    st.lists(st.integers(0, 2**64 - 1), max_size=20),
)
PLACES = st.tuples(st.integers(0, 20), st.integers(0, 20))


@given(NUMBERS, PLACES)
def test_who_has_a_number_and_which(values: list[int | None], place: tuple[int, int]) -> None:
    column = pa.array(values, pa.uint64()).slice(*place)
    assert is_here(column).tolist() == column.is_valid().to_pylist()
    assert known_of(column, np.uint64).tolist() == column.drop_null().to_pylist()
    assert filled(column).tolist() == pc.fill_null(column, pa.scalar(0, pa.uint64())).to_pylist()


@given(st.lists(st.none() | st.lists(st.integers(0, 9)), max_size=20), PLACES)
def test_who_has_a_list(values: list[list[int] | None], place: tuple[int, int]) -> None:
    column = pa.array(values, pa.list_(pa.uint32())).slice(*place)
    assert is_here(column).tolist() == column.is_valid().to_pylist()


def test_who_has_a_struct() -> None:
    column = pa.array([None, {"a": None}, {"a": 1}], pa.struct([pa.field("a", pa.int64())]))
    assert is_here(column).tolist() == [False, True, True]
    assert is_here(pa.nulls(2, column.type)).tolist() == [False, False]


@given(st.lists(st.tuples(*[st.integers(0, 2**64 - 1)] * 3), max_size=20), PLACES)
def test_lists_of_one_length_are_rows(rows: list[tuple[int, ...]], place: tuple[int, int]) -> None:
    column = pa.array(rows, pa.list_(pa.uint64(), 3)).slice(*place)
    found = matrix_of(column)
    assert found.shape == (len(column), 3)
    assert found.tolist() == column.to_pylist()
