"""Crawls of the tests: begun, waited for, and what they say at their end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from tests.command import COMMAND, FORKS, environment

PATIENCE = 120
ALLOWED = ("--allow-private",)


@contextmanager
def started(arguments: list[str], cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """`python` with these arguments; it does not outlive the test."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=cwd, env=environment(NO_COLOR="1"), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    with process:
        try:
            yield process
        finally:
            process.kill()


def run(arguments: list[str], cwd: Path) -> tuple[int, str, str]:
    """`python` with these arguments, forked, to its end: code, stdout, stderr."""
    return FORKS.run(arguments, cwd=cwd, env=environment(NO_COLOR="1"), timeout=PATIENCE)


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
    return [*COMMAND[1:], "crawl", *urls, "--bus", bus, "--delay", "0", "--json", *flags]


def summary_of(out: str) -> dict[str, Any]:
    """The summary that a crawl printed last."""
    found: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    return found
