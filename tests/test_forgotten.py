"""A test is told of a database that was not closed, and of no other."""

from __future__ import annotations

import gc
import sqlite3
import warnings
from contextlib import closing
from pathlib import Path


def test_a_database_that_nobody_closed_is_an_error(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        sqlite3.connect(tmp_path / "forgotten")
        with closing(sqlite3.connect(tmp_path / "closed")):
            pass
        gc.collect()
    [one] = found
    assert Path(__file__).name in str(one.message)
