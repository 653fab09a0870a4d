"""What the small installation leaves out, and the one line that says so.

`pip install reusewatch` brings what a crawl host needs; the extra `all` brings the rest. What the
extra holds is read from the installed package's own metadata, so that there is no second list.

NotInstalled   something was asked for that needs more than is installed; names the extra
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec

HOW = 'pip install "reusewatch[all]"'
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_OF_THE_EXTRA = re.compile(r"""extra\s*==\s*["']all["']""")


class NotInstalled(Exception):
    """A part that is not installed here."""


@contextmanager
def needed_for(what: str) -> Iterator[None]:
    """Import inside; what is missing of the extra becomes NotInstalled, and says what needs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if module not in in_the_extra():
            raise  # our own mistake, or a broken installation: no extra mends it
        raise NotInstalled(f"{what} needs {module}, which is not installed: {HOW}") from error


def require_for(what: str) -> None:
    """Raise NotInstalled where the extra is not here; loads nothing of it."""
    if gone := missing():
        raise NotInstalled(f"{what} needs {gone[0]}, which is not installed: {HOW}")


def missing() -> list[str]:
    """What the extra would bring and is not here."""
    return sorted(name for name in in_the_extra() if find_spec(name) is None)


@cache
def in_the_extra() -> frozenset[str]:
    """The modules that only `reusewatch[all]` brings."""
    from importlib.metadata import requires  # slow to load, and seldom asked for

    asked = (line for line in requires("reusewatch") or () if _OF_THE_EXTRA.search(line))
    return frozenset(
        match[0].replace("-", "_").lower() for line in asked if (match := _NAME.match(line))
    )
