"""`python -m tests.experiments`: repeat the papers' experiments; tables and plots under
.bench/experiments/.

Exit codes: 0 done, whatever the figures; 1 an experiment failed; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from tests.experiments import (
    asked_worker,
    big_and_small,
    growth,
    label_contains,
    label_detection_neighborhoods,
    label_detection_pages,
    label_discovery,
    label_grams,
    near_default,
    near_pairs,
    near_sweep,
    near_versions,
    partial_copies,
    quilt_digests,
    quilt_sweep,
    rerendered,
    similar_table4,
    sliced_site,
    templates,
    transformations,
)
from tests.experiments.report import Experiment, say, show, write_table

EXPERIMENTS: tuple[Experiment, ...] = (
    label_discovery.FILES,
    label_discovery.CHUNKS,
    label_detection_pages.EXPERIMENT,
    label_detection_neighborhoods.EXPERIMENT,
    label_contains.EXPERIMENT,
    label_grams.EXPERIMENT,
    rerendered.EXPERIMENT,
    near_pairs.EXPERIMENT,
    near_sweep.EXPERIMENT,
    near_versions.EXPERIMENT,
    near_default.EXPERIMENT,
    similar_table4.EXPERIMENT,
    templates.EXPERIMENT,
    big_and_small.EXPERIMENT,
    transformations.EXPERIMENT,
    growth.EXPERIMENT,
    asked_worker.EXPERIMENT,
    sliced_site.EXPERIMENT,
    quilt_sweep.EXPERIMENT,
    quilt_digests.EXPERIMENT,
    partial_copies.EXPERIMENT,
)


def run(output: Path, *, only: Sequence[str] = (), quick: bool = False) -> list[str]:
    """Run those that are named, all without a name; the names of those that failed."""
    failed = []
    for experiment in EXPERIMENTS:
        if only and experiment.name not in only:
            continue
        say(f"running {experiment.name}")
        try:
            rows = experiment.run(output, quick)
        except Exception:  # the others are not lost for it
            say(traceback.format_exc())
            failed.append(experiment.name)
            continue
        write_table(rows, output / experiment.name)
        show(experiment.name, rows)
    return failed


def names_of(text: str) -> list[str]:
    """The experiments that `--only` names."""
    known = [experiment.name for experiment in EXPERIMENTS]
    names = [name for name in text.split(",") if name]
    if unknown := [name for name in names if name not in known]:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: there is {', '.join(known)}")
    return names


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiments."""
    parser = argparse.ArgumentParser(prog="make experiments", description=__doc__)
    parser.add_argument("--only", type=names_of, default=[], metavar="NAME,…")
    parser.add_argument("--quick", action="store_true", help="made-up pages, two runs")
    parser.add_argument("--output", type=Path, default=Path(".bench/experiments"))
    given = parser.parse_args(arguments)
    return 1 if run(given.output, only=given.only, quick=given.quick) else 0


if __name__ == "__main__":
    sys.exit(main())
