"""What is written in pieces is all written."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from reusewatch.streams.disk import PIECE, write_pieces


class _Taking:
    """Takes some of what it is given, as a file may."""

    def __init__(self, most: int) -> None:
        self.most, self.taken, self.largest = most, bytearray(), 0

    def write(self, data: memoryview, /) -> int:
        self.largest = max(self.largest, len(data))
        self.taken += data[: self.most]
        return min(self.most, len(data))


@given(st.binary(max_size=300), st.integers(1, 400))
def test_whatever_a_file_takes_at_once_all_of_it_is_written(data: bytes, most: int) -> None:
    file = _Taking(most)
    write_pieces(file, data)
    assert file.taken == data


def test_no_piece_is_large(tmp_path: Path) -> None:
    data, file = bytes(3 * PIECE + 5), _Taking(4 * PIECE)
    write_pieces(file, data)
    assert file.largest == PIECE
    with (tmp_path / "all").open("wb") as real:
        write_pieces(real, data)
    assert (tmp_path / "all").read_bytes() == data
