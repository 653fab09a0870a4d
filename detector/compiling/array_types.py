"""What type numba takes an array for, without a look at masked ones.

Of each kind of array that it meets for the first time numba asks whether it is masked, and numpy
loads `numpy.ma` to say what that is: a thirtieth of a start. Where nobody has loaded it, no array
is masked.

What this module holds on to in numba: types of values are found by `typeof_impl`, by their class.
It can be deleted when numba asks without loading.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numba.core import types
from numba.core.errors import NumbaNotImplementedError
from numba.core.typing.typeof import typeof_impl
from numba.np import numpy_support

# numba's own classes and functions are not typed.
# mypy: disable-error-code="no-untyped-call"
_typeof: Any = typeof_impl
_support: Any = numpy_support
_MASKED = "numpy.ma"


def leave_masks_out() -> None:
    """From now on, in this process."""
    usual = _typeof.dispatch(np.ndarray)

    def typeof(value: Any, purpose: Any) -> Any:
        if _MASKED in sys.modules:
            return usual(value, purpose)
        try:
            dtype = _support.from_dtype(value.dtype)
        except NumbaNotImplementedError:
            return usual(value, purpose)  # which says what is wrong
        layout = _support.map_layout(value)
        return types.Array(dtype, value.ndim, layout, readonly=not value.flags.writeable)

    _typeof.register(np.ndarray, typeof)
