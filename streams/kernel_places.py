"""Where the machine code of kernels is kept, and of whom it is taken.

The place is a directory for one installation, interpreter and processor: below NUMBA_CACHE_DIR, in
the user's cache directory, or in a private one beside temporary files. numba runs what it finds
there, so a place in which another user could have written is refused, and the next one is taken.
"""

from __future__ import annotations

import os
import platform
import stat
import tempfile
from contextlib import suppress
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import xxhash

from reusewatch import detector
from reusewatch.streams.disk import replace_file
from reusewatch.streams.trust import foreign, foreign_file, foreign_within, make_private

VARIABLE = "NUMBA_CACHE_DIR"
NAMED = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")
_ABOUT_PROCESSOR = Path("/proc/cpuinfo")
_LASTING = ("vendor_id", "cpu family", "model", "stepping", "flags", "CPU ", "Features")
# Bytes of an image, which has one megabyte: what is larger is none.
_LARGEST = 64 << 20
# What each level of x86-64 has beyond the one before (psABI), by the names of Linux.
_LEVELS = {
    "x86-64": "",
    "x86-64-v2": "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3",
    "x86-64-v3": "abm avx avx2 bmi1 bmi2 f16c fma movbe xsave",
    "x86-64-v4": "avx512bw avx512cd avx512dq avx512f avx512vl",
}
# Where LLVM has another name than Linux.
_OF_LINUX = {"bmi": "bmi1", "lzcnt": "abm", "sse3": "pni", "sse4.1": "sse4_1", "sse4.2": "sse4_2"}


class Place(NamedTuple):
    """The directory, None where there is none; and, for people, which others were refused."""

    path: Path | None
    remarks: tuple[str, ...]


@cache
def place() -> Place:
    """Where the machine code is kept."""
    remarks = [said] if (said := name_this_processor()) else []
    below = f"kernels-{digest()}"
    if given := os.environ.get(VARIABLE):
        where = Path(given)  # as a process that started this one has named it
        before = len(remarks)
        found = _safe(where if where.name == below else where / below, remarks)
        if len(remarks) == before:
            return Place(found, tuple(remarks))
    home = _home()
    kept = home / "reusewatch" / below if home else None
    if kept and (found := _safe(kept, remarks)):
        return Place(found, tuple(remarks))
    with suppress(OSError):  # no directory for temporary files can be written
        private = Path(tempfile.gettempdir(), f"reusewatch-{os.getuid()}", below)
        found = _safe(private, remarks)
        if found and kept:
            _take_over(kept, found, remarks)
        return Place(found, tuple(dict.fromkeys(remarks)))
    return Place(None, tuple(remarks))


def _safe(path: Path, remarks: list[str]) -> Path | None:
    """The directory, made if need be, if it can be written, and by this user alone."""
    # Links are followed here, once: a link could lead elsewhere after it was looked at.
    path = Path(os.path.realpath(path))
    why = foreign(path)
    if why is None and _is_writable(path):
        why = foreign_within(path)
        if why is None:
            return path
    if why is not None:
        remarks.append(f"{why}: no machine code is taken from there")
    return None


def _is_writable(path: Path) -> bool:
    try:
        make_private(path)
        with tempfile.TemporaryFile(dir=path):
            return True
    except OSError:
        return False


def _take_over(warm: Path, path: Path, remarks: list[str]) -> None:
    """Copy what was compiled where nothing can be written any more, as in an image: numba writes
    beside what it reads."""
    warm = Path(os.path.realpath(warm))
    with suppress(OSError):  # what cannot be read either is compiled anew, and kept here
        marks = [one for one in warm.iterdir() if one.is_file()]
        if all((path / one.name).exists() for one in marks):
            return
        if why := foreign_within(warm):
            remarks.append(f"{why}: no machine code is taken from there")
            return
        # The marks say that the others are there.
        for source in (*sorted(set(warm.rglob("*")) - set(marks)), *marks):
            target = path / source.relative_to(warm)
            if source.is_dir():
                target.mkdir(exist_ok=True, mode=0o700)
            elif (data := read(source)) is not None:
                replace_file(target, data)


def read(path: Path) -> bytes | None:
    """What a kept file holds; None of a pipe or a device, which might never end, of a file that is
    too large to be ours, and of one that another user could have written."""
    with open(path, "rb", opener=_at_once) as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_size > _LARGEST:
            return None
        return None if foreign_file(path, about) else file.read()


def _at_once(path: str, flags: int) -> int:
    # To open a pipe waits for who writes to it.
    return os.open(path, flags | os.O_NONBLOCK)


def _home() -> Path | None:
    given = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(given) if given else Path.home() / ".cache"
    except RuntimeError:  # a user without a home
        return None


def digest() -> str:
    """Of where the sources stand (numba keeps code by its path), and of what compiles them."""
    root = Path(next(iter(detector.__path__)))
    found = xxhash.xxh3_64(os.fsencode(root.absolute()))
    packages = (version(name) for name in ("numba", "llvmlite", "numpy"))
    # The ABI: builds with and without the GIL have the same version.
    python = platform.python_version(), EXTENSION_SUFFIXES[0]
    found.update(" ".join((*python, *packages, *_processor())).encode())
    return found.hexdigest()


def _processor() -> tuple[str, ...]:
    """What the machine code is for. Code for a level of x86-64 is for every processor that has it:
    a container's image may run elsewhere than where it was built."""
    name, features = given = (os.environ.get(NAMED[0], ""), os.environ.get(NAMED[1], ""))
    if lasting := _lasting():
        return given if _is_general(name, features, _flags(lasting)) else (*given, *lasting)
    from llvmlite.binding import get_host_cpu_features, get_host_cpu_name  # slow to load

    return *given, get_host_cpu_name(), get_host_cpu_features().flatten()


def _lasting() -> list[str]:
    """What Linux says of the first processor, without what changes from one moment to the next."""
    try:
        first = _ABOUT_PROCESSOR.read_text().partition("\n\n")[0].splitlines()
    except OSError:
        return []
    return [line for line in first if line.startswith(_LASTING)]


def _flags(lasting: list[str]) -> set[str]:
    return {flag for line in lasting if line.startswith("flags") for flag in line.split()}


def _is_general(name: str, features: str, flags: set[str]) -> bool:
    """Whether code is for a level of x86-64, and for features that are known to be there."""
    asked = [one[1:] for one in features.split(",") if one.startswith("+")]
    return name in _LEVELS and _level(name) | {_OF_LINUX.get(one, one) for one in asked} <= flags


def _level(name: str) -> set[str]:
    names = list(_LEVELS)
    return {flag for one in names[: names.index(name) + 1] for flag in _LEVELS[one].split()}


def name_this_processor() -> str | None:
    """Take back a name of a level of x86-64 that this processor has not: its code would end the
    process. Says so."""
    name, flags = os.environ.get(NAMED[0], ""), _flags(_lasting())
    if name not in _LEVELS or not flags or not (lacks := _level(name) - flags):
        return None
    for one in NAMED:
        os.environ.pop(one, None)
    return (
        f"{NAMED[0]}={name}: this processor lacks {', '.join(sorted(lacks))}; the kernels are "
        "compiled for what it has"
    )
