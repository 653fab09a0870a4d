"""What an attack costs is no more, byte for byte, than a plain archive many times over.

CPU time and memory are compared with those of an ordinary archive in the same process: the numbers
of one machine say nothing on another. The bounds are generous; each attack broke them by far.
"""

from __future__ import annotations

import io
import os
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from reusewatch.crawler.archives import wacz
from reusewatch.crawler.replaying.sources import expand
from tests.crawler.archives import zoo
from tests.crawler.archives.zoo import read_all

SIZE = 1 << 18
# Small records are dear: a byte of them costs this many times less than any attack may.
SLOWER = 25
_FIRST = zoo.member_each([zoo.response(zoo.A)])


def package(count: int) -> bytes:
    """A package of so many empty members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for number in range(count):
            file.writestr(f"archive/{number}.warc.gz", b"")
    return out.getvalue()


def dictionary_bomb(size: int) -> bytes:
    """A dictionary, itself compressed, that decompresses to so many bytes."""
    content = zstandard.compress(bytes(size))
    return b"\x5d\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content


ATTACKS: dict[str, Callable[[], bytes]] = {
    "gzip magic": lambda: _FIRST + b"\x1f\x8b\x08" * (SIZE // 3),
    "gzip heads": lambda: _FIRST + b"\x1f\x8b\x08\0\0\0\0\0\0\3\4" * (SIZE // 11),
    "lines that begin heads": lambda: zoo.response(zoo.A) + b"WARC/1.0\r\nA:\r\n" * (SIZE // 13),
    "heads without a length": lambda: (
        zoo.response(zoo.A) + b"WARC/1.0\r\nWARC-Type: x\r\n\r\n" * (SIZE // 26)
    ),
}


def plain() -> bytes:
    return zoo.member_each(
        zoo.response(zoo.url(number), zoo.html(f"words {number} " * 40)) for number in range(900)
    )


def seconds_a_byte(path: Path, data: bytes) -> float:
    """The least of three, of CPU time."""
    path.write_bytes(data)
    spent = []
    for _ in range(3):
        before = time.process_time()
        read_all(path)
        spent.append(time.process_time() - before)
    return min(spent) / len(data)


def peak(path: Path, data: bytes) -> int:
    path.write_bytes(data)
    tracemalloc.start()
    try:
        read_all(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_read_in_linear_time(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x"
    assert seconds_a_byte(path, ATTACKS[name]()) < SLOWER * seconds_a_byte(path, plain())


def test_a_package_is_linear_in_its_members(tmp_path: Path) -> None:
    path = tmp_path / "x.wacz"
    few, many = (seconds_a_byte(path, package(count)) for count in (100, 1600))
    assert many < 4 * few


def test_a_dictionary_is_bounded_as_every_expansion_is(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.zst"
    bomb = dictionary_bomb(256 << 20)
    assert len(bomb) < SIZE
    ordinary = peak(path, zoo.one_frame(zoo.crawl(4)))
    assert peak(path, bomb) < ordinary + (32 << 20)
    (event,) = read_all(path)
    assert event.damage is not None
    assert event.damage.reason == "too-large"


def test_a_file_that_only_might_be_an_archive_is_looked_at_within_bounds(tmp_path: Path) -> None:
    """Whatever lies in a directory that is replayed: without a name that says what it is."""
    (tmp_path / "notes.bin").write_bytes(dictionary_bomb(256 << 20))
    (tmp_path / "x.warc.gz").write_bytes(_FIRST)
    tracemalloc.start()
    try:
        list(expand([str(tmp_path)]))
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


def test_members_that_share_bytes_are_refused(tmp_path: Path) -> None:
    data = bytearray(package(2))
    at = data.rindex(b"PK\x01\x02")
    data[at + 42 : at + 46] = bytes(4)
    path = tmp_path / "x.wacz"
    path.write_bytes(data)
    assert any("overlaps" in event.damage.detail for event in read_all(path) if event.damage)


def test_a_member_of_two_sizes_is_refused(tmp_path: Path) -> None:
    """By the one it would overlap nothing, by the other it would be read over all others."""
    data = bytearray(package(1))
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = (1 << 30).to_bytes(4, "little")
    path = tmp_path / "x.wacz"
    path.write_bytes(data)
    assert any("two sizes" in event.damage.detail for event in read_all(path) if event.damage)


def test_a_name_without_end_is_looked_for_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    monkeypatch.setattr(os.path, "isfile", looked.append)
    assert wacz.split("x" + "!" * 1_000_000) is None
    assert looked == []
