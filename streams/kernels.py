"""The detector's kernels: compiled once for a machine, kept in the user's cache directory.

Their machine code is kept under a digest of the detector's sources and of what compiles them: an
upgrade never runs what an older version left. The installation itself may be read-only.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import xxhash

import detector
from streams.console import say

_VARIABLE = "NUMBA_CACHE_DIR"
_MARK = "compiled"
_ASKED = "compiled-questions"
_SCAN = "from detector.scan import scan; scan(b'', key=0)"
# Of a replay and of every worker, without the scan.
MODULES = tuple(
    f"detector.{name}" for name in ("neardup", "discovery", "overlap", "labels", "sketches")
)
QUESTIONS = "detector.mwo_index"
_SKETCHES = f"import {MODULES[-1]}"
_TWO = 2


@cache
def directory() -> Path:
    """Where the machine code is kept: NUMBA_CACHE_DIR, or below the user's cache directory."""
    given = os.environ.get(_VARIABLE)
    if given:
        return Path(given)
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    below = Path("reusewatch", f"kernels-{_digest()}")
    for base in (home, Path(tempfile.gettempdir(), f"reusewatch-{os.getuid()}")):
        try:
            (base / below).mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        if os.access(base / below, os.W_OK):
            return base / below
    return home / below  # numba says that it cannot be written


def _digest() -> str:
    root = Path(next(iter(detector.__path__)))
    digest = xxhash.xxh3_64()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.read_bytes())
    built = (platform.python_version(), version("numba"), version("numpy"), platform.machine())
    digest.update(" ".join(built).encode())
    return digest.hexdigest()


def are_compiled(*, questions: bool = False) -> bool:
    """Whether the next start loads them in a moment; or those that only questions need."""
    return (directory() / (_ASKED if questions else _MARK)).exists()


@cache
def prepare(tell: Callable[[str], None] = say) -> None:
    """Have the kernels ready: loaded, or compiled with a word about it. Before they are imported.

    Processes that this one starts load what it compiled.
    """
    where = _chosen()
    if not are_compiled():
        tell("compiling the kernels, once for this machine: about half a minute")
        _compile_together()
    from detector.fingerprint import Document, fingerprints
    from detector.hashing import HashScheme

    fingerprints([Document(b"<p>ready")], HashScheme())
    _keep(where / _MARK, tell)


@cache
def prepare_questions(tell: Callable[[str], None] = say) -> None:
    """The same of what nobody needs who does not ask: the first run does not wait for it."""
    where = _chosen()
    if not are_compiled(questions=True):
        tell("compiling the kernels of `similar`, once for this machine: about ten seconds")
    import_module(QUESTIONS)
    _keep(where / _ASKED, tell)


def _chosen() -> Path:
    where = directory()
    os.environ[_VARIABLE] = str(where)
    if "numba" in sys.modules:  # imported by somebody else: it has read its environment
        sys.modules["numba"].config.CACHE_DIR = str(where)
    return where


def _keep(mark: Path, tell: Callable[[str], None]) -> None:
    try:
        mark.touch()
    except OSError as error:
        tell(
            f"the kernels cannot be kept in {mark.parent} ({error.strerror}): "
            "each start compiles them"
        )


def _compile_together() -> None:
    """numba compiles one kernel at a time in a process: half of them go into one beside this one.

    With more cores than two, what a page is sketched with goes into a third. If one fails, this
    process compiles what is missing, and says what is wrong.
    """
    root = Path(next(iter(detector.__path__))).parent
    commands = [_SCAN, _SKETCHES]
    if len(os.sched_getaffinity(0)) <= _TWO:
        commands = ["; ".join(commands)]
    beside = [
        subprocess.Popen([sys.executable, "-c", command], cwd=root)  # noqa: S603 - ours
        for command in commands
    ]
    try:
        for module in MODULES[:-1]:
            import_module(module)
    finally:
        for process in beside:
            process.wait()
    import_module(MODULES[-1])
