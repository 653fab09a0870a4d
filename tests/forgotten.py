"""Databases that nobody closed, under every Python: from 3.13 on it says so itself, but not where
they were opened. The warning is an error, in the test that runs when the connection is collected.
"""

from __future__ import annotations

import sqlite3
import sys
import traceback
import warnings
from functools import partial
from typing import Any

_FRAMES = 6


class _Connection(sqlite3.Connection):
    _opened = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        frames = traceback.extract_stack(sys._getframe(1), limit=_FRAMES)
        self._opened = "; ".join(f"{frame.filename}:{frame.lineno}" for frame in frames)

    def close(self) -> None:
        super().close()
        self._opened = ""

    def __del__(self) -> None:
        if self._opened:
            opened = self._opened
            self.close()  # or Python 3.13 would warn as well
            warnings.warn(f"unclosed database, opened at {opened}", ResourceWarning, 2)


def install() -> None:
    """From here on, in this process."""
    sqlite3.connect = partial(sqlite3.connect, factory=_Connection)  # type: ignore[assignment]
