"""Owned pages stand before all others, whenever they were seen: of a pair they are the original.

An owned page counts as seen earlier by `AHEAD_US`, more than any two dates are apart. So one
number, since when a row counts as seen, says both: who owns it, and among those of one kind who
was first; and all that goes by that order (identity sets, near pages, classes) needs no rule more.
Of two owned pages neither is a copy. Never decides who owns what: the caller says it of each page.
"""

from __future__ import annotations

from typing import Any

from reusewatch.detector.compiling.kernels import part, types

AHEAD_US = 1 << 62
NEVER = 1 << 61
"""Since when a page without a date counts as seen: after all that have one."""
_OWNED_UNTIL = -(1 << 60)


@part(types.boolean(types.int64))
def owned(since: Any) -> Any:
    """Whether a page that counts as seen since this is an owned one."""
    return since < _OWNED_UNTIL


def is_owned(since: int) -> bool:
    """The same, of a number that a kernel has told."""
    return since < _OWNED_UNTIL


def real(since: int) -> int:
    """When a page counts as seen, without what owned pages are ahead.

    >>> real(5 - AHEAD_US), real(5)
    (5, 5)
    """
    return since + AHEAD_US if is_owned(since) else since


def date_of(since: int) -> int | None:
    """The same; None of a page without a date.

    >>> date_of(5 - AHEAD_US), date_of(NEVER), date_of(NEVER - AHEAD_US)
    (5, None, None)
    """
    date = real(since)
    return None if date == NEVER else date
