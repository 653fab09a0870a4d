"""Bytes on disk for as long as somebody holds their place."""

from __future__ import annotations

import gc
import os
import resource
from pathlib import Path

import pytest

from reusewatch.streams.bus import Unreachable
from reusewatch.streams.stages import shelf
from reusewatch.streams.stages.shelf import Shelf, restored, saved


def test_what_was_put_there_is_read_again_also_when_it_was_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "FILE_BYTES", 20)
    made = Shelf(tmp_path / "new")
    texts = [bytes([n]) * (n + 1) for n in range(12)]
    places = [made.put(text) for text in texts]
    assert [bytes(place.read()) for place in places] == texts
    assert not list((tmp_path / "new").iterdir())  # without names: a crash leaves nothing
    files, rows = saved(places[3:])
    again = restored(files, rows)
    assert [bytes(place.read()) for place in again] == texts[3:]
    # What was restored is saved again beside what came since.
    files, rows = saved([*again, made.put(b"new")])
    assert [bytes(place.read()) for place in restored(files, rows)] == [*texts[3:], b"new"]


def open_below(directory: Path) -> int:
    """How many files of this directory the process has open."""
    handles = Path("/proc/self/fd")
    names = [
        os.readlink(handles / name) for name in os.listdir(handles) if _is_open(handles / name)
    ]
    return sum(name.startswith(str(directory)) for name in names)


def _is_open(handle: Path) -> bool:
    return handle.is_symlink()  # not that of the listing itself, which is closed by now


def test_a_file_is_closed_once_nobody_holds_a_place_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "FILE_BYTES", 1)
    made = Shelf(tmp_path)
    places = [made.put(b"x" * 100) for _ in range(5)]
    assert open_below(tmp_path) == len(places)
    del places[:3]
    gc.collect()
    assert open_below(tmp_path) == len(places)


def test_files_are_few_however_much_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "FILE_BYTES", 1)
    made = Shelf(tmp_path)
    places = [made.put(b"x" * 10) for _ in range(800)]
    assert open_below(tmp_path) < 250
    assert bytes(places[-1].read()) == b"x" * 10


def test_who_has_too_many_files_open_is_told_that(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.open("/dev/null", os.O_RDONLY)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
    try:
        with pytest.raises(Unreachable, match=r"raise the limit of open files \(ulimit -n\) and"):
            Shelf(tmp_path).put(b"x")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Unreachable, match="similar_pages"):
        Shelf(tmp_path / "file").put(b"x")
