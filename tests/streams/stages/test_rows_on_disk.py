"""Rows in a file of the process."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.streams.bus import Unreachable
from reusewatch.streams.stages import rows_on_disk
from reusewatch.streams.stages.rows_on_disk import RowsOnDisk


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 6)), max_size=20))
def test_rows_are_read_as_they_were_written_last(writes: list[tuple[int, int]]) -> None:
    made, known = RowsOnDisk(3), np.zeros((0, 3), np.uint32)
    for number, (begin, count) in enumerate(writes):
        begin = min(begin, len(known))  # noqa: PLW2901 - no gaps
        rows = np.arange(3 * count, dtype=np.uint32).reshape(-1, 3) + 1000 * number
        made.write(begin, rows)
        if begin + count > len(known):
            known = np.vstack((known, np.zeros((begin + count - len(known), 3), np.uint32)))
        known[begin : begin + count] = rows
        assert np.array_equal(made.read(0, len(known)), known)
        assert np.array_equal(made.read(begin, begin + count), rows)
        assert np.array_equal(made.all(len(known)), known)
    assert made.all(0).shape == (0, 3)


def test_a_file_has_no_name_and_is_closed_with_its_rows(tmp_path: Path) -> None:
    made = RowsOnDisk(2, tmp_path / "new")
    made.write(0, np.ones((5, 2), np.uint32))
    assert not list((tmp_path / "new").iterdir())
    file = made._file
    del made
    with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
        os.fstat(file)


def test_a_full_disk_is_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    made = RowsOnDisk(2, tmp_path, instead="keep none")
    monkeypatch.setattr(rows_on_disk.os, "pwrite", full)
    with pytest.raises(Unreachable, match="start again, or keep none"):
        made.write(0, np.ones((5, 2), np.uint32))
