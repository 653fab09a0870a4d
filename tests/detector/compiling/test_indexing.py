"""Indices within the package's kernels do not count from the end; others' do, as numba has it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from reusewatch.detector.compiling import kernels
from reusewatch.detector.compiling.indexing import WithoutEnds

_VALUES = np.arange(5, dtype=np.int64)


def _compiled(source: str, module: str) -> Any:
    """A function as if it stood in this module, by whose name numba knows it."""
    space: dict[str, Any] = {"__name__": module, "np": np}
    exec(f"def function(values, at): return {source}", space)  # noqa: S102
    return njit(pipeline_class=WithoutEnds)(space["function"])


def test_an_index_of_ours_does_not_count_from_the_end() -> None:
    ours = _compiled("values[at]", kernels.__name__)
    # Of a view that begins at 1: what stands before it is 0, and at its end 4.
    assert [ours(_VALUES[1:], at) for at in (-1, 0, 3)] == [0, 1, 4]


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.uint8, np.uint64])
def test_an_index_may_have_any_width(kind: Any) -> None:
    assert _compiled("values[at]", kernels.__name__)(_VALUES, kind(3)) == 3


def test_an_index_of_others_counts_from_the_end() -> None:
    assert _compiled("values[at]", "another.module")(_VALUES[1:], -1) == 4


def test_what_numba_has_of_its_own_counts_from_the_end_within_kernels() -> None:
    assert _compiled("np.diff(values)[at]", kernels.__name__)(_VALUES, 3) == 1
