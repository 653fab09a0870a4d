"""The command `reusewatch` as users start it: in a process of its own, piped or at a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.forked import Forks

ROOT = Path(__file__).resolve().parents[1]
COMMAND = (sys.executable, "-m", "reusewatch.crawler")
PATIENCE = 120
FORKS = Forks()


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended, and what it printed where."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        """Stdout, an object a line."""
        return [json.loads(line) for line in self.out.splitlines()]


def environment(**extra: str) -> dict[str, str]:
    """Ours without settings of reusewatch."""
    unwanted = ("REUSEWATCH_", "NO_COLOR", "COLUMNS", "FORCE_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    ours = {"PYTHONSAFEPATH": "1", "TERM": "xterm-256color"}
    return kept | ours | extra


def start(*arguments: str | Path, cwd: Path, **extra: str) -> subprocess.Popen[str]:
    """The command, started; its output is piped."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)], cwd=cwd, env=environment(**extra), text=True,
        encoding="utf-8", bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip


def ended(process: subprocess.Popen[str]) -> Done:
    """The end of a command that was started."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    return Done(process.returncode, out, err)


def run(*arguments: str | Path, cwd: Path, **extra: str) -> Done:
    """The command, to its end; forked, as most tests ask what it does, not how it starts."""
    words = [*COMMAND[1:], *map(str, arguments)]
    return Done(*FORKS.run(words, cwd=cwd, env=environment(**extra), timeout=PATIENCE))


def read_lines(process: subprocess.Popen[str], count: int) -> list[str]:
    """So many lines of a running command's stdout."""
    assert process.stdout is not None
    return [process.stdout.readline() for _ in range(count)]


def at_terminal(
    *arguments: str | Path, cwd: Path, columns: int = 80, env: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """The command at a terminal: its code, and everything that the terminal got."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)], cwd=cwd, env=environment(**(env or {})),
        stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    received = b""
    with suppress(OSError):  # the terminal is gone when the command has ended
        while data := os.read(ours, 1 << 16):
            received += data
    os.close(ours)
    code = process.wait(PATIENCE)
    return code, received.decode("utf-8").replace("\r\n", "\n")
