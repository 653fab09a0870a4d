"""Runs of the command that are stopped, killed and begun anew, and what they leave on a bus."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reusewatch.streams.bus import Bus
from reusewatch.streams.local import LocalBus
from reusewatch.streams.verbs import topic_views
from reusewatch.streams.wire import to_builtins
from tests.command import COMMAND, FORKS, Done, environment

PATIENCE = 90.0
# A window for the pages of these tests: the tables of half a million are read at each snapshot.
SMALL: dict[str, object] = {"window_pages": 10_000}


def environment_of(settings: dict[str, object]) -> dict[str, str]:
    """The tests' own, with these settings."""
    given = {f"REUSEWATCH_{name.upper()}": str(value) for name, value in (SMALL | settings).items()}
    return environment(NO_COLOR="1", **given)


def run(*args: object, cwd: Path, **settings: object) -> Done:
    """Run it to its end."""
    words = [*COMMAND[1:], *map(str, args)]
    return Done(*FORKS.run(words, cwd=cwd, env=environment_of(settings), timeout=PATIENCE))


class Run:
    """`python ARGUMENTS` under way. Its output goes to files: nobody need read for it to go on."""

    def __init__(
        self,
        arguments: Sequence[object],
        cwd: Path,
        stdin: int | None = None,
        **settings: object,
    ) -> None:
        self._files = [(cwd / f"run-{time.monotonic_ns()}.{name}") for name in ("out", "err")]
        out, err = (path.open("wb") for path in self._files)
        with out, err, open(os.devnull, "rb") as nothing:
            self.process = FORKS.start(
                [str(word) for word in arguments], cwd=cwd, env=environment_of(settings),
                files=(nothing.fileno() if stdin is None else stdin, out.fileno(), err.fileno()),
                session=True,
            )  # fmt: skip

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    @property
    def said(self) -> str:
        return self._files[1].read_text()

    def tell(self, number: signal.Signals) -> None:
        if self.running:
            self.process.send_signal(number)

    def end(self, timeout: float = PATIENCE) -> Done:
        self.process.wait(timeout)
        out, err = (path.read_text() for path in self._files)
        return Done(self.process.returncode, out, err)

    def await_said(self, text: str) -> None:
        wait_until(lambda: text in self.said or not self.running)
        assert text in self.said, self.said


@contextmanager
def started(
    *args: object, cwd: Path, stdin: int | None = None, **settings: object
) -> Iterator[Run]:
    """A run that does not outlive the test."""
    begun = Run([*COMMAND[1:], *args], cwd, stdin, **settings)
    try:
        yield begun
    finally:
        if begun.running:
            begun.process.kill()
        begun.process.wait()


def wait_until(condition: Callable[[], object], timeout: float = PATIENCE) -> None:
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def children_of(pid: int) -> list[int]:
    """The processes that a process started, whichever of its threads did."""
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for thread in threads for child in _text(thread).split()]


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def command_line(pid: int) -> str:
    return _text(Path(f"/proc/{pid}/cmdline")).replace("\0", " ")


@dataclass(frozen=True)
class State:
    """What a bus holds. Of a verdict whether the page is a copy, not of which: the earliest known
    at that time is named, and judged again, more is known."""

    alerts: dict[str, dict[str, Any]]
    verdicts: dict[str, tuple[bool, bool]]
    dead: set[tuple[Any, ...]]


def state_of(bus: Bus) -> State:
    alerts = {a.id: to_builtins(a) for a in topic_views.alerts(bus)}
    for alert in alerts.values():
        del alert["detected_at"]
    verdicts = {v.url: (bool(v.exact.file), bool(v.exact.text)) for v in topic_views.verdicts(bus)}
    letters = topic_views.dead_letters(bus)
    return State(alerts, verdicts, {(d.reason, d.source, d.offset, d.url) for d in letters})


def state_in(directory: Path) -> State:
    return state_of(LocalBus(directory))
