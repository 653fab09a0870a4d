"""The command itself, as a process of its own, in this tree."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from tests.command import FORKS

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 120
ALLOWED = ("--allow-private",)


def environment() -> dict[str, str]:
    """Ours without settings of reusewatch, and with this tree's packages."""
    kept = {name: value for name, value in os.environ.items() if "REUSEWATCH_" not in name}
    return kept | {"NO_COLOR": "1"}


@contextmanager
def started(arguments: list[str], cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """`python` with these arguments; it does not outlive the test."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=cwd, env=environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    with process:
        try:
            yield process
        finally:
            process.kill()


def run(arguments: list[str], cwd: Path) -> tuple[int, str, str]:
    """`python` with these arguments, forked, to its end: code, stdout, stderr."""
    return FORKS.run(arguments, cwd=cwd, env=environment(), timeout=PATIENCE)


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """The end of a process."""
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def until(condition: Callable[[], object]) -> None:
    """Wait for it."""
    end = monotonic() + PATIENCE
    while not condition():
        assert monotonic() < end
        sleep(0.02)


def crawl_arguments(
    bus: str, *urls: str, flags: tuple[str, ...] = ("--allow-private",)
) -> list[str]:
    """The verb `crawl` without a delay."""
    return [
        "-m",
        "reusewatch.crawler",
        "crawl",
        *urls,
        "--bus",
        bus,
        "--delay",
        "0",
        "--json",
        *flags,
    ]


def summary_of(out: str) -> dict[str, Any]:
    """The summary that a crawl printed last."""
    found: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    return found
