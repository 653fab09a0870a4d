"""`python -m tests.benchmarks`: measure, show a table, write .bench/results.json.

Exit codes: 0 done, whatever the figures; 1 some rows could not be measured; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks import (
    commands,
    crawling,
    index,
    kafka,
    labels,
    mwo,
    path,
    quilts,
    report,
    scraping,
    signatures,
    steering,
    window,
)
from tests.benchmarks.rows import BUDGETS, Bench, Family, Row, Scale

# A family of the rows still missing is one module more here.
FAMILIES: tuple[Family, ...] = (
    path.FAMILY,
    commands.FAMILY,
    crawling.FAMILY,
    steering.FAMILY,
    signatures.FAMILY,
    window.FAMILY,
    index.FAMILY,
    labels.FAMILY,
    mwo.FAMILY,
    quilts.FAMILY,
    scraping.FAMILY,
    kafka.FAMILY,
)
STEPS = "steps"
NAMES = (*(name for family in FAMILIES for name in family.names), STEPS)


def run(bench: Bench, only: Sequence[str] = ()) -> dict[str, Any]:
    """The results of the rows that are wanted; of all without a name."""
    wanted = set(only or NAMES)
    bench.directory.mkdir(parents=True, exist_ok=True)
    about, facts = report.machine(), bench.corpus.facts
    rows: list[Row] = []
    failed: dict[str, str] = {}
    for family in FAMILIES:
        if names := [name for name in family.names if name in wanted]:
            bench.say(f"measuring {', '.join(names)}")
            try:
                rows += [row for row in family.measure(bench, names) if row.name in wanted]
            except Exception as error:  # the rows of the others are not lost for it
                failed |= dict.fromkeys(names, f"{type(error).__name__}: {error}")
                bench.say(traceback.format_exc())
            report.write(report.results(rows, {}, facts, about, failed), path_of(bench))
    if STEPS in wanted:
        bench.say("measuring the steps of the local path")
    by_step = path.by_step(bench) if STEPS in wanted else {}
    found = report.results(rows, by_step, facts, about, failed)
    report.write(found, path_of(bench))
    return found


def path_of(bench: Bench) -> Path:
    """Where the results are."""
    return bench.directory / "results.json"


def names_of(text: str) -> list[str]:
    """The rows that `--only` names; one that will be measured some day is not known yet."""
    names = [name for name in text.split(",") if name]
    if unknown := [name for name in names if name not in NAMES]:
        later = [name for name in BUDGETS if name not in NAMES]
        raise argparse.ArgumentTypeError(
            f"{', '.join(unknown)}: there is {', '.join(NAMES)} (not yet: {', '.join(later)})"
        )
    return names


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--only", type=names_of, default=[], metavar="NAME,…")
    parser.add_argument("--pages", choices=("debian", "generated"), default="debian")
    parser.add_argument("--documents", type=int, metavar="N", help="not all of them")
    parser.add_argument("--rounds", type=int, default=Scale().rounds)
    parser.add_argument("--directory", type=Path, default=Path(".bench"))
    given = parser.parse_args(arguments)
    kafka_rounds = min(given.rounds, Scale().kafka_rounds)
    scale = Scale(
        given.documents, given.rounds, kafka_rounds=kafka_rounds,
        replay_rounds=min(given.rounds, Scale().replay_rounds),
    )  # fmt: skip
    bench = Bench(given.directory, scale, given.pages, say=_say)
    found = run(bench, given.only)
    report.show(found)
    return 1 if found["failed"] else 0


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
