"""The command itself as processes of their own, pinned, with the CPU time that they took."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tests.deployed import DIE_WITH_PARENT, free_port

ROOT = Path(__file__).resolve().parents[2]
_PATIENCE = 300.0
_PINNED = "import os; hasattr(os, 'sched_setaffinity') and os.sched_setaffinity(0, {{{core}}}); "
_TICKS = os.sysconf("SC_CLK_TCK")


class Command:
    """`reusewatch …` on one core. It does not outlive this process."""

    def __init__(self, *arguments: str, core: int) -> None:
        self._arguments = arguments
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - until its end
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PINNED.format(core=core) + DIE_WITH_PARENT,
             sys.executable, "-m", "reusewatch.crawler", *arguments],
            stdin=subprocess.DEVNULL, stdout=self._said, stderr=self._said, cwd=ROOT,
            env={k: v for k, v in os.environ.items() if not k.startswith("REUSEWATCH_")},
        )  # fmt: skip

    def cpu(self) -> float:
        """CPU seconds so far."""
        return cpu_of(self._process.pid)

    def signal(self, number: signal.Signals) -> None:
        """Stop it, let it go on, or tell it to end."""
        os.kill(self._process.pid, number)

    def check(self) -> None:
        """Raise if it has ended by itself."""
        if self._process.poll() is not None:
            raise self._failed(self._process.returncode)

    def _failed(self, code: int) -> RuntimeError:
        self._said.seek(0)
        said = self._said.read().decode(errors="replace")
        return RuntimeError(f"reusewatch {' '.join(self._arguments)}: exit {code}\n{said}")

    def wait(self) -> float:
        """All CPU seconds of the process, once it has ended."""
        _, status, usage = os.wait4(self._process.pid, 0)
        code = self._process.returncode = os.waitstatus_to_exitcode(status)
        if code:
            raise self._failed(code)
        self._said.close()
        return usage.ru_utime + usage.ru_stime

    def end(self) -> float:
        """As an operator would: it finishes, commits and leaves."""
        self.signal(signal.SIGTERM)
        return self.wait()

    def kill(self) -> None:
        """If it still runs, no more."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._said.close()


class Worker(Command):
    """A stage at work."""

    def __init__(self, stage: str, *arguments: str, core: int) -> None:
        self.stage = stage
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        super().__init__("work", stage, *arguments, "--metrics-port", str(port), core=core)

    def ready(self) -> bool:
        """Whether it holds partitions."""
        self.check()
        return self._ask("readyz") is not None

    def pages(self) -> int:
        """Pages processed so far."""
        self.check()
        found = re.search(rf'^reusewatch_pages_total{{stage="{self.stage}"}} (\S+)$',
                          self._ask("metrics") or "", re.MULTILINE)  # fmt: skip
        return int(float(found[1])) if found else 0

    def _ask(self, path: str) -> str | None:
        try:
            with urllib.request.urlopen(f"http://{self.address}/{path}") as answer:
                return str(answer.read().decode())
        except urllib.error.URLError:
            return None


def cpu_of(pid: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def run(*arguments: str, core: int) -> float:
    """The CPU seconds of a command that ends by itself."""
    return Command(*arguments, core=core).wait()


@contextmanager
def working(*workers: Worker) -> Iterator[None]:
    """Workers that hold partitions; none is left running."""
    try:
        for worker in workers:
            until(worker.ready)
        yield
    finally:
        for worker in workers:
            worker.kill()


def until(holds: Callable[[], bool], *, every: float = 0.2, patience: float = _PATIENCE) -> None:
    """Wait for a condition."""
    end = time.monotonic() + patience
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"waited in vain for {patience:.0f} s")
        time.sleep(every)
