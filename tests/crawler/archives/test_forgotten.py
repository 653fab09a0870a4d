"""A stream keeps a window of what was read, and reading an archive never asks for what left it."""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from reusewatch.crawler.compression.views import STEP
from reusewatch.crawler.pages.archive_events import Limits
from tests.crawler.archives.containers import frame_each, member_each, one_frame, one_member, plain
from tests.crawler.archives.records import arc_record, html, http, record, response
from tests.crawler.archives.specimens import A, B, C, read_all, seen

Pack = Callable[[Iterable[bytes]], bytes]
LIMITS = Limits(max_body_bytes=4096, max_record_bytes=20_000, max_header_bytes=4096)
LARGE = http(html("words " * 5000))
# More line ends than a window keeps behind the place that is read.
BLANKS = b"\r" * (2 * STEP) + b"\n"

# Name: the records, the pages that are read of them, and the damage.
ARCHIVES: dict[str, tuple[list[bytes], tuple[str, ...], tuple[str, ...]]] = {
    "a block too long to be kept, whose length leads nowhere": (
        [response(A), record("response", B, LARGE, length=len(LARGE) - 9), response(C)],
        (A, C), ("bad-length",),
    ),
    "a block too long to be kept, whose length ends with the archive": (
        [response(A), record("response", B, LARGE)[:-4]],
        (A, B), (),
    ),
    "a block too long to be kept, which the archive's end cuts by a byte": (
        [response(A), record("response", B, LARGE)[:-5]],
        (A,), ("truncated",),
    ),
    "a block too long to be kept, which is cut by an end that was seen before": (
        [response(A), b"no record\r\n" * 500, record("response", B, LARGE, length=1 << 20)],
        (A,), ("garbage", "truncated"),
    ),
    "a sound record before many line ends": (
        [response(A)[:-4], BLANKS, response(C)],
        (A, C), (),
    ),
    "a length that leads to many line ends and to no record": (
        [response(A), response(B)[:-4], BLANKS, b"no record\r\n\r\n", response(C)],
        (A, B, C), ("garbage",),
    ),
    "a wrong digest before many line ends": (
        [response(A), response(B).replace(b"<p>", b"<b>")[:-4], BLANKS, response(C)],
        (A, C), ("wrong-digest",),
    ),
    "an ARC with many line ends": (
        [arc_record(A, http(html("a")))[:-1], BLANKS, arc_record(C, http(html("c")))],
        (A, C), (),
    ),
}  # fmt: skip


@pytest.mark.parametrize("pack", [one_member, one_frame])
@pytest.mark.parametrize("name", ARCHIVES)
def test_a_stream_is_read_to_its_end(name: str, pack: Pack, tmp_path: Path) -> None:
    records, pages, damages = ARCHIVES[name]
    path = tmp_path / "x"
    path.write_bytes(pack(records))
    assert seen(read_all(path, limits=LIMITS)) == (pages, {}, damages)


@pytest.mark.parametrize("name", [name for name in ARCHIVES if "kept" not in name])
def test_a_file_gives_the_same(name: str, tmp_path: Path) -> None:
    """A file can be read at any place: what it gives is what a stream has to give as well."""
    records, pages, damages = ARCHIVES[name]
    (tmp_path / "x").write_bytes(plain(records))
    assert seen(read_all(tmp_path / "x", limits=LIMITS)) == (pages, {}, damages)


GARBAGE = random.Random(1).randbytes(2 * STEP)
DAMAGED: dict[str, Callable[[Pack], bytes]] = {
    "garbage between members": lambda pack: pack([response(A)]) + GARBAGE + pack([response(C)]),
    "a member cut short": lambda pack: (
        pack([response(A)]) + pack([response(B, GARBAGE)])[: -STEP // 2] + pack([response(C)])
    ),
    "a member too large to be kept, cut short": lambda pack: (
        pack([response(A)]) + pack([response(B, 8 * GARBAGE)])[: -STEP // 2] + pack([response(C)])
    ),
}


@pytest.mark.parametrize("pack", [member_each, frame_each, one_member])
@pytest.mark.parametrize("name", DAMAGED)
def test_a_pipe_is_read_on_behind_much_damage(
    name: str, pack: Pack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, limits = tmp_path / "x", Limits(max_record_bytes=4 * STEP)
    path.write_bytes(DAMAGED[name](pack))
    with path.open("rb") as file:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(file))
        piped = seen(read_all("-", limits=limits))
    assert piped[0] == (A, C)
    assert piped == seen(read_all(path, limits=limits))
