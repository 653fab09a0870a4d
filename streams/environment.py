"""What a command sets in its environment for the libraries that it loads, and for nobody else.

Processes that it starts for its own work inherit it. A program of the operator's must not: it would
run with an allocator that its owner never chose.
"""

from __future__ import annotations

import os

_ours: set[str] = set()


def set_for_us(name: str, value: str) -> None:
    """Set a variable, unless the user has."""
    if name not in os.environ:
        os.environ[name] = value
        _ours.add(name)


def of_the_user() -> dict[str, str]:
    """The environment without what we set."""
    return {name: value for name, value in os.environ.items() if name not in _ours}
