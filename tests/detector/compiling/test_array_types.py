"""Arrays are of the types that numba itself takes them for."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numba import typeof, types
from numba.core.errors import NumbaTypeError, NumbaValueError
from numpy.typing import NDArray

from reusewatch.detector.compiling import cache

_FIRST = """
import sys
import numpy as np
from numba import typeof
from reusewatch.detector.compiling import cache
print(typeof(np.zeros(3, np.uint8)), "numpy.ma" in sys.modules)
"""
RECORD = np.dtype([("page", "u8"), ("at", "i4")])
READ_ONLY = np.zeros(4, np.uint32)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    "array",
    [np.zeros(3, np.uint8), np.zeros((2, 3), np.uint64), np.zeros((2, 3)).T, np.zeros(9)[::2],
     np.zeros(3, RECORD), np.zeros(3, RECORD)["at"], READ_ONLY, np.zeros((), np.int64)],
)  # fmt: skip
def test_types_are_those_of_numba(
    array: NDArray[np.generic], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cache
    monkeypatch.delitem(sys.modules, "numpy.ma", raising=False)
    mine = typeof(array)
    monkeypatch.setitem(sys.modules, "numpy.ma", np.ma)
    assert mine == typeof(array)
    assert isinstance(mine, types.Array)


def test_what_numba_has_no_type_for_is_refused_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "numpy.ma", raising=False)
    with pytest.raises(NumbaValueError, match="Unsupported array dtype"):
        typeof(np.zeros(2, np.longdouble))


def test_masked_arrays_are_loaded_by_who_has_any_and_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FIRST], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["array(uint8,", "1d,", "C)", "False"]
    with pytest.raises(NumbaTypeError, match="MaskedArray"):
        typeof(np.ma.zeros(3))
