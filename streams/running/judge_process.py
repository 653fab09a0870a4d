"""The process that judges, as those see it that bring pages: started when there is none.

It is a process of its own session, so that Ctrl-C in a crawl's terminal does not reach it, and it
outlives who started it. What it says goes to `DIR/judge.log`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from reusewatch.streams.local.database import told
from reusewatch.streams.local.spools import is_locked
from reusewatch.streams.settings import HANDED_OVER, Settings, handed_over

LOG = "judge.log"
_LOG_BYTES = 1 << 20
_LONGEST_PAUSE = 60.0
_TOLD_BYTES = 2000
_PLAIN = re.compile(r"\S{1,40}Z (?:info|warning|error) \S{1,40}: (?:stopping: )?")


class JudgeProcess:
    """Sees to it that somebody judges."""

    # -P: not what lies in the working directory, such as a package `crawler`.
    COMMAND = (sys.executable, "-P", "-m", "reusewatch.crawler", "work", "local")

    def __init__(self, settings: Settings, directory: Path, say: Callable[[str], None]) -> None:
        self._settings = settings
        self._directory = directory
        self._say = say
        self._child: subprocess.Popen[bytes] | None = None
        self._not_before = 0.0
        # In a row: one that judged anything for a while counts as none.
        self.failures = 0
        self.reason = ""

    def tend(self) -> None:
        """Start a judge where there is none; one that failed not at once."""
        if self._child is not None:
            code = self._child.poll()
            if code is None:
                return
            self._child = None
            if code:
                self._failed(code)
        if time.monotonic() >= self._not_before and not is_locked(self._directory):
            self._start()

    def succeeded(self) -> None:
        """Something was judged."""
        self.failures = 0

    def _failed(self, code: int) -> None:
        self.failures += 1
        self._not_before = time.monotonic() + min(2.0 ** (self.failures - 1), _LONGEST_PAUSE)
        self.reason = _last_line(self._directory / LOG) or f"it ended with {code}"
        self._say(f"the process that judges ended: {self.reason}; it is started again")

    def _start(self) -> None:
        path = self._directory / LOG
        with told(self._directory):
            large = path.exists() and path.stat().st_size > _LOG_BYTES
            with path.open("wb" if large else "ab") as log:
                self._child = subprocess.Popen(  # noqa: S603 - ourselves
                    [*self.COMMAND, "--config", HANDED_OVER],
                    stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True,
                )  # fmt: skip
        assert self._child.stdin is not None  # noqa: S101 - a pipe
        # One that ended before it read them is looked at by `tend`.
        with suppress(BrokenPipeError), self._child.stdin as stdin:
            stdin.write(handed_over(self._settings))


def _last_line(path: Path) -> str:
    try:
        text = path.read_bytes()[-_TOLD_BYTES:].decode("utf-8", "replace").strip()
    except OSError:
        return ""
    return _why(text.rpartition("\n")[2])


def _why(line: str) -> str:
    """What a line of a worker says, whichever form its lines have.

    >>> _why("2026-03-02T06:00:00.000Z error local: stopping: the disk is full")
    'the disk is full'
    >>> _why('{"event": "stopping", "why": "the disk is full"}'), _why("Killed")
    ('the disk is full', 'Killed')
    """
    try:
        said = json.loads(line)
    except ValueError:
        said = None
    if isinstance(said, dict):
        return str(said.get("why") or said.get("text") or line)
    plain = _PLAIN.match(line)
    return line[plain.end() :] if plain else line.removeprefix("reusewatch: ")
