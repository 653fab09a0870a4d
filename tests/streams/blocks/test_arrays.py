"""Arrays of numpy's are Arrow's: the same values and types as `pa.array` gives them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as of_numpy
from numpy.typing import NDArray

from reusewatch.streams.blocks.arrays import array_of

KINDS = st.sampled_from([np.uint64, np.int64, np.uint32, np.int32, np.uint16, np.float32, np.bool_])


@given(KINDS.flatmap(lambda kind: of_numpy.arrays(kind, st.integers(0, 40))), st.integers(1, 3))
def test_an_array_is_what_arrow_makes_of_it(values: NDArray[Any], step: int) -> None:
    some = values[::step]
    made, expected = array_of(some), pa.array(some)
    made.validate(full=True)
    assert made.type == expected.type
    assert made.to_pylist().__repr__() == expected.to_pylist().__repr__()  # NaN is not itself
    assert not made.null_count


def test_numbers_are_not_copied() -> None:
    values = np.arange(9, dtype=np.uint64)
    assert np.shares_memory(array_of(values).to_numpy(), values)
