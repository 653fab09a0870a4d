"""Parts: compiled into the kernels that call them, and never on their own."""

from __future__ import annotations

from typing import Any

import pytest
from numba import njit

from reusewatch.detector.compiling.linking import linked


@linked()
def _half(x: Any) -> Any:
    return x // 2


@linked(forceinline=True)
def _steps(x: Any) -> Any:
    steps = 0
    while x > 1:
        x = _half(x) if x % 2 == 0 else 3 * x + 1
        steps += 1
    return steps


@njit
def _longest(most: Any) -> Any:
    best = 0
    for x in range(1, most):
        best = max(best, _steps(x))
    return best


def test_a_kernel_takes_in_its_parts() -> None:
    assert _longest(28) == 111  # steps from 27 to 1


def test_a_part_is_not_called_from_python() -> None:
    with pytest.raises(KeyError):
        _half(8)
