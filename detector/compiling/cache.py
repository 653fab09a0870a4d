"""Where machine code is kept: on disk, or, where nothing can be written, for this process alone.

numba asks only whether the file of a kernel has changed, and not those of its parts: it would run
machine code of parts that have been edited since. Here a kernel is kept under a digest of all
modules that its own stands on (`sources`): an edit renews what is built on it, and nothing else.
The place is numba's to find: the process that loads the kernels names it before.

Only for who compiles, or has no image of the kernels (`image`).
"""

from __future__ import annotations

from typing import Any

import numba as _numba
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.runtime.nrt import rtsys

from reusewatch.detector.compiling.array_checks import check_arrays
from reusewatch.detector.compiling.declaring import declared
from reusewatch.detector.compiling.indexing import WithoutEnds
from reusewatch.detector.compiling.later import now
from reusewatch.detector.compiling.loading import load_lazily
from reusewatch.detector.compiling.sources import digest_of

# numba's own classes and functions are not typed.
# mypy: disable-error-code="no-untyped-call"
_njit: Any = _numba.njit
_FunctionCache: Any = FunctionCache
check_arrays()
load_lazily()


class _Cache(_FunctionCache):  # type: ignore[misc]
    """A kernel's files, which hold for as long as what it stands on is what it was."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file = IndexDataCacheFile(
            self._cache_path, self._impl.filename_base, digest_of(function.__module__)
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """numba would first take in all that it can compile: what is compiled needs none of it."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


def kept(function: Any, signature: Any, options: Any) -> Any:
    """numba's `njit`; what it compiles is kept, if there is a place for it."""
    dispatcher = _njit(pipeline_class=WithoutEnds, **options)(function)
    try:
        dispatcher._cache = _Cache(function)
    except RuntimeError:  # no place can be written: it is compiled for this process
        dispatcher._cache = NullCache()
    return dispatcher if signature is None else declared(dispatcher, now(signature))
