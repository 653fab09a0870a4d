"""A command as its user starts it: a process of its own, and what it cost from begin to end.

`python started.py OUT COMMAND…` starts the command, waits for it, and writes its usage to OUT. The
command is the child of a small process, and not of the one that measures: what a process had in
memory at its most is inherited by whatever it starts.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
# Of `getrusage`: what was written to disks is counted in blocks of so many bytes.
_BLOCK = 512


@dataclass(frozen=True, slots=True)
class Usage:
    """Of a command and all that it started: CPU and wall seconds, the most memory that one of
    these had, and bytes written to disks."""

    cpu: float
    wall: float
    peak_bytes: int
    written_bytes: int


def usage_of(*command: str, env: Mapping[str, str] | None = None) -> Usage:
    """Run a command to its end. Raises RuntimeError with what it said if it fails."""
    own = {
        name: value
        for name, value in os.environ.items()
        # Without kept bytecode each command would compile every module that it imports.
        if not name.startswith("REUSEWATCH_") and name != "PYTHONDONTWRITEBYTECODE"
    }
    with tempfile.TemporaryDirectory() as directory:
        out, said = Path(directory) / "usage.json", Path(directory) / "said"
        with said.open("wb") as file:
            done = subprocess.run(
                [sys.executable, "-I", "-S", __file__, str(out), *command], cwd=_ROOT, check=False,
                stdin=subprocess.DEVNULL, stdout=file, stderr=file, env={**own, **(env or {})},
            )  # fmt: skip
        if done.returncode:
            text = said.read_text(errors="replace")
            raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}\n{text}")
        return Usage(**json.loads(out.read_text()))


def reusewatch(*arguments: str, env: Mapping[str, str] | None = None) -> Usage:
    """`reusewatch …`, as it is installed."""
    return usage_of(str(Path(sys.executable).with_name("reusewatch")), *arguments, env=env)


def _adopt() -> None:
    """What the command leaves behind, and whatever that had started, is waited for here: what
    nobody waits for is in no sum."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(36, 1, 0, 0, 0)


def _die_with_parent() -> None:
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(1, 9)


def _main(out: str, *command: str) -> int:
    _die_with_parent()
    _adopt()
    begin = time.perf_counter()
    process = subprocess.Popen(command, preexec_fn=_die_with_parent)  # noqa: PLW1509 - no thread
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    all_used = [used, *_left_behind()]
    usage = {
        "cpu": sum(one.ru_utime + one.ru_stime for one in all_used),
        "wall": wall,
        "peak_bytes": max(one.ru_maxrss for one in all_used) << 10,
        "written_bytes": sum(one.ru_oublock for one in all_used) * _BLOCK,
    }
    Path(out).write_text(json.dumps(usage))
    return os.waitstatus_to_exitcode(status)


def _left_behind() -> Iterator[resource.struct_rusage]:
    while True:
        try:
            yield os.wait3(0)[2]
        except ChildProcessError:
            return


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
