"""The wheel: one import package, all rooms of the tree, their data, nothing of another build."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from fnmatch import fnmatch
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.command import ROOT
from tests.installed import tree_copied, wheel_of

TOP = ("crawler", "streams", "detector")


def project() -> dict[str, Any]:
    """What pyproject.toml says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built beside what an older build has left."""
    tree = tree_copied(tmp_path_factory.mktemp("tree"))
    return wheel_of(tree, tmp_path_factory.mktemp("wheel"))


def names(wheel: Path) -> set[str]:
    """The files of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_every_room_is_listed() -> None:
    rooms = {
        ".".join(("reusewatch", *file.parent.relative_to(ROOT).parts))
        for top in TOP
        for file in (ROOT / top).rglob("__init__.py")
    }
    listed = project()["tool"]["setuptools"]["packages"]
    assert set(listed) == rooms, "list the rooms of the tree in pyproject.toml anew"
    assert listed == sorted(listed)


def test_every_module_stands_in_a_room() -> None:
    folders = {file.parent for top in TOP for file in (ROOT / top).rglob("*.py")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def test_all_data_is_declared() -> None:
    declared = project()["tool"]["setuptools"]["package-data"]
    for top in TOP:
        data = {
            str(file.relative_to(ROOT / top))
            for file in (ROOT / top).rglob("*")
            if file.is_file() and file.suffix not in (".py", ".pyc", ".md")
        }
        patterns = declared[f"reusewatch.{top}"]
        assert {name for name in data if not any(fnmatch(name, one) for one in patterns)} == set()
        assert "py.typed" in data


def test_the_wheel_holds_the_tree_and_nothing_else(wheel: Path) -> None:
    held = names(wheel)
    info = f"reusewatch-{version('reusewatch')}.dist-info"
    assert {name.partition("/")[0] for name in held} == {"reusewatch", info}
    modules = {
        f"reusewatch/{file.relative_to(ROOT).as_posix()}"
        for top in TOP
        for file in (ROOT / top).rglob("*.py")
    }
    data = {f"reusewatch/{top}/py.typed" for top in TOP}
    data |= {f"reusewatch/detector/data/{file.name}" for file in (ROOT / "detector/data").iterdir()}
    assert {name for name in held if name.startswith("reusewatch/")} == modules | data


def test_what_an_older_build_left_is_not_taken_up(tmp_path: Path) -> None:
    tree = tree_copied(tmp_path / "tree")
    left = tree / "build" / "lib" / "reusewatch" / "streams"
    left.mkdir(parents=True)
    (left / "stale.py").write_text("stale = True")
    subprocess.run(["git", "init", "--quiet"], cwd=tree, check=True)
    subprocess.run(
        ["make", "wheel", f"BIN={Path(sys.executable).parent}", "READY="], cwd=tree, check=True
    )
    (wheel,) = (tree / "dist").iterdir()
    assert "reusewatch/streams/bus.py" in names(wheel)
    assert "reusewatch/streams/stale.py" not in names(wheel)


def test_what_the_wheel_says_of_itself(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("METADATA"))
        said = message_from_bytes(archive.read(name))
        (entries,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
        commands = archive.read(entries).decode()
    assert (said["Name"], said["Version"]) == ("reusewatch", project()["project"]["version"])
    assert said["License-Expression"] == "Apache-2.0"
    assert "reusewatch = reusewatch.crawler.__main__:main" in commands
    assert set(said.get_all("Provides-Extra") or []) == {"all", "dev"}
