"""Where machine code is kept: on disk, or, where nothing can be written, for this process alone.

numba asks only whether the file of a kernel has changed, and not those of its parts: it would run
machine code of parts that have been edited since. Here a kernel is kept under a digest of all
modules that its own stands on (`sources`): an edit renews what is built on it, and nothing else.
The place is numba's to find: the process that loads the kernels names it before.

A kernel is there once its module is imported, or once it is called first: `timing`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numba as _numba
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.runtime.nrt import rtsys

from reusewatch.detector.compiling.array_types import leave_masks_out
from reusewatch.detector.compiling.declaring import declared, left_to_calls, make
from reusewatch.detector.compiling.indexing import WithoutEnds
from reusewatch.detector.compiling.loading import load_lazily
from reusewatch.detector.compiling.sources import digest_of
from reusewatch.detector.compiling.timing import is_left_to_calls

# numba's own classes and functions are not typed.
# mypy: disable-error-code="no-untyped-call"
_njit: Any = _numba.njit
_FunctionCache: Any = FunctionCache
load_lazily()
leave_masks_out()


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


class _Late:
    """The same, looked for when it is needed: finding the place and the digest takes as long as
    loading a small kernel."""

    def __init__(self, function: Any) -> None:
        self._function = function

    @cached_property
    def _found(self) -> Any:
        try:
            return _Cache(self._function)
        except RuntimeError:  # no place can be written: it is compiled for this process
            return NullCache()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._found, name)


def kept(signature: Any = None, **options: Any) -> Callable[[Any], Any]:
    """numba's `njit`; what it compiles is kept, if there is a place for it."""

    def compile_(function: Any) -> Any:
        dispatcher = _njit(pipeline_class=WithoutEnds, **options)(function)
        dispatcher._cache = _Late(function)
        if signature is not None:
            declared(dispatcher, signature)
            (left_to_calls if is_left_to_calls() else make)(dispatcher, signature)
        return dispatcher

    return compile_
