"""A file is replaced as a whole, wherever a machine or a process fails meanwhile."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from reusewatch.detector.labels.replacing import replacing

_KILLED = """
import os, signal, sys
from pathlib import Path
from reusewatch.detector.labels.replacing import replacing

def end(*_): os.kill(os.getpid(), signal.SIGKILL)

with replacing(Path(sys.argv[1])) as file:
    file.write(b"new")
    setattr(os, sys.argv[2], end)
"""


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_process_that_is_killed_before_the_end_leaves_the_old_file(
    tmp_path: Path, call: str
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", _KILLED, path, call], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"


def test_a_failing_writer_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def write() -> None:
        with replacing(path) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == {"a": b"old"}


def test_a_reader_keeps_the_file_that_it_has_opened(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with path.open("rb") as reading:
        with replacing(path) as file:
            file.write(b"new")
        assert reading.read() == b"old"
    assert path.read_bytes() == b"new"


def test_content_and_name_are_on_disk_in_that_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = []
    fsync, replace = os.fsync, os.replace

    def note_sync(handle: int) -> None:
        is_directory = stat.S_ISDIR(os.fstat(handle).st_mode)
        steps.append("directory" if is_directory else f"{os.fstat(handle).st_size} bytes")
        fsync(handle)

    def note_replace(source: Path, target: Path) -> None:
        steps.append("name")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "replace", note_replace)
    with replacing(tmp_path / "a") as file:
        file.write(b"new")
    assert steps == ["3 bytes", "name", "directory"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_permissions_of_the_old_file_stay(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "a"
    path.touch()
    path.chmod(mode)
    with replacing(path) as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == mode
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    with replacing(tmp_path / "a"):
        pass
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("there", [True, False])
def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path: Path, there: bool) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "a", tmp_path / "link"
    if there:
        target.write_bytes(b"old")
    link.symlink_to(target)
    with replacing(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_of_two_writers_each_replaces_the_file_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with replacing(path) as first:
        first.write(b"first")
        with replacing(path) as second:
            second.write(b"the second")
        assert path.read_bytes() == b"the second"
    assert path.read_bytes() == b"first"
