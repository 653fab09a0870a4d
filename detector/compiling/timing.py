"""When kernels are there: as their modules are imported, or, each by itself, as they are called.

As they are imported, unless somebody says that all are kept and only need to be loaded: what has to
be compiled is not to be found out by a page, half a minute into its batch. Loads no numba.
"""

from __future__ import annotations

from typing import ClassVar


class _Now:
    left_to_calls: ClassVar = False


def leave_to_calls(*, all_are_kept: bool) -> None:
    """From now on, in this process; kernels whose modules are imported already stay as they are."""
    _Now.left_to_calls = all_are_kept


def is_left_to_calls() -> bool:
    """Whether a kernel waits for its first call."""
    return _Now.left_to_calls
