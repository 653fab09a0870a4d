"""Parts: compiled into the kernels that call them, and never on their own."""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from numba import njit

from reusewatch.detector.compiling.kernels import part, wide


@part()
def _half(x: Any) -> Any:
    return x // 2


@part(inline=True)
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
    with pytest.raises(TypeError, match="_half is called by kernels only"):
        _half(8)


def test_what_is_wide_is_so_to_the_compiler() -> None:
    @njit
    def doubled(values: Any) -> None:
        wide()
        for i in range(values.size):
            values[i] += values[i]

    doubled(values := np.ones(3, np.uint64))
    assert values.tolist() == [2, 2, 2]
    (code,) = doubled.inspect_llvm().values()
    assert '"prefer-vector-width"="512"' in code


def test_nobody_else_calls_the_parts_of_a_kernel_or_needs_their_environments() -> None:
    assert _longest(3) == 1
    (made,) = _longest.overloads.values()
    module = made.library._final_module
    known = [each for each in module.functions if not each.is_declaration]
    assert not [each for each in known if each.linkage == llvm.Linkage.linkonce_odr]
    rooms = {each.name for each in module.global_variables if "08NumbaEnv" in each.name}
    assert {room for room in rooms if not room.startswith(".const")} == {made.fndesc.env_name}
