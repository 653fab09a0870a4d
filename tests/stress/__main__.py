"""Faults in the middle of commits, many times: `make stress`, as root; about ten minutes.

A run disturbs a replay, or the judge of what crawls brought, lets it come to its end, and compares
what the bus holds then with an undisturbed run: verdicts, alerts, and pages in the log. Exit 1 if
any run lost something, or ended as no command may end.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice, product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.stress.faults import FAULTS, Fault
from tests.stress.work import Job, Trouble, jobs_in


def main() -> None:
    """All runs, a line for each."""
    parser = argparse.ArgumentParser(prog="tests.stress")
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--at-once", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=sorted(FAULTS), action="append")
    told = parser.parse_args()
    with TemporaryDirectory(prefix="reusewatch-stress-") as directory:
        jobs = jobs_in(Path(directory))
        todo = _todo(jobs, told.only or list(FAULTS), told.runs, told.seed)
        with ThreadPoolExecutor(told.at_once) as pool:
            found = list(pool.map(lambda one: _run(Path(directory), *one), todo))
    lost = sum(trouble is not None for trouble in found)
    _say(f"{lost} of {len(found)} runs lost something")
    sys.exit(1 if lost else 0)


def _todo(
    jobs: list[Job], names: list[str], runs: int, seed: int
) -> Iterator[tuple[int, Job, str, Random]]:
    some = islice(cycle(product(names, jobs)), runs)
    return (
        (number, job, name, Random(seed * 10_000 + number))
        for number, (name, job) in enumerate(some)
    )


def _run(directory: Path, number: int, job: Job, name: str, random: Random) -> str | None:
    """What was lost, if anything was."""
    fault: Fault = FAULTS[name]
    try:
        with job.begun(directory / f"run-{number}") as begun:
            disturbed = fault(begun, random)
            begun.to_the_end()
            trouble = begun.lost()
    except Trouble as error:
        disturbed, trouble = 0, str(error)
    _say(f"{number:3} {job.name:16} {name:12} disturbed {disturbed}: {trouble or 'nothing lost'}")
    return trouble


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
