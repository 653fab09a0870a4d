"""The product as users install it: a wheel of this tree, and environments that hold it.

An environment has the packages that the wheel's own metadata asks for, and theirs, no others. They
are linked from the environment of the tests, file by file: so they are the versions of the lock,
and neither a network nor a minute is needed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email import message_from_bytes
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

from tests.command import ROOT, Done, ended, environment

_PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"


def tree_copied(to: Path) -> Path:
    """The files that are in the repository, or will be; nothing that was made beside them."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True, text=True,
    ).stdout.split("\0")  # fmt: skip
    for name in filter(None, listed):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, to / name)
    return to


def wheel_of(tree: Path, to: Path) -> Path:
    """The wheel of a tree."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--no-index", "--wheel-dir", str(to), str(tree)], check=True)
    (wheel,) = to.glob("*.whl")
    return wheel


def needed(wheel: Path, extras: Iterable[str] = ()) -> dict[str, Distribution]:
    """What the wheel asks for, and what that asks for in turn, by name."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        asked = message_from_bytes(archive.read(name)).get_all("Requires-Dist", [])
    found: dict[str, Distribution] = {}
    waiting = [(line, frozenset(extras)) for line in asked]
    while waiting:
        line, wanted = waiting.pop()
        requirement = Requirement(line)
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if name in found or not _holds(requirement, wanted):
            continue
        found[name] = distribution(name)
        more = frozenset(requirement.extras)
        waiting += [(line, more) for line in found[name].requires or ()]
    return found


def _holds(requirement: Requirement, extras: frozenset[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": one}) for one in ("", *extras))


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment of its own."""

    directory: Path

    @property
    def packages(self) -> Path:
        """Where its packages are."""
        return self.directory / "lib" / _PYTHON / "site-packages"

    def start(self, *arguments: str, cwd: Path, **extra: str) -> subprocess.Popen[str]:
        """A program of this environment."""
        program, *rest = arguments
        return subprocess.Popen(
            [str(self.directory / "bin" / program), *rest], cwd=cwd, env=environment(**extra),
            text=True, encoding="utf-8", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, *arguments: str, cwd: Path, **extra: str) -> Done:
        """The same, to its end."""
        return ended(self.start(*arguments, cwd=cwd, **extra))


def installed(wheel: Path, directory: Path, extras: Iterable[str] = ()) -> Installed:
    """A new environment with the wheel, what it needs, and nothing else."""
    made = Installed(directory)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(directory)], check=True)
    for one in needed(wheel, extras).values():
        _link(one, made.packages)
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(directory / "bin" / "python"), "install",
         "--quiet", "--no-deps", "--no-index", str(wheel)], check=True,
    )  # fmt: skip
    return made


def _link(package: Distribution, to: Path) -> None:
    for source, name in _files(package):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        (to / name).symlink_to(source)


def _files(package: Distribution) -> Iterator[tuple[Path, str]]:
    for file in package.files or ():
        # Programs stand outside of the packages, with the path of another Python in them.
        if not str(file).startswith("..") and file.suffix != ".pyc":
            source = Path(str(file.locate()))
            if source.is_file():
                yield source, str(file)
