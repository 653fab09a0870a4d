"""The experiments on near-duplicates run on made-up pages, and count as they say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reusewatch.detector.sketching.agreement import b_similarity, c_similarity
from reusewatch.detector.window.near_rules import Policy
from tests.experiments import big_and_small, near_pairs, near_sweep, near_versions, templates
from tests.experiments.near_found import Pairs, halves, pairs, thresholds
from tests.experiments.near_templates import entries, parked, records
from tests.experiments.near_world import World, world

EXPERIMENTS = (near_pairs.EXPERIMENT, near_sweep.EXPERIMENT, near_versions.EXPERIMENT,
               templates.EXPERIMENT, big_and_small.EXPERIMENT)  # fmt: skip
TEXTS = [[f"word{number}" for number in range(2500)]]


@pytest.fixture(scope="module")
def made() -> World:
    return world(quick=True)


@pytest.fixture(scope="module")
def found(made: World) -> Pairs:
    return pairs(made)


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: one.name)
def test_it_runs_without_packages(experiment: near_pairs.Experiment, tmp_path: Path) -> None:
    rows = experiment.run(tmp_path, True)
    assert rows
    assert all(row.keys() == rows[0].keys() for row in rows)


def test_pairs_are_those_of_brute_force(made: World, found: Pairs) -> None:
    least = range(len(made) - 60, len(made))
    wanted = set()
    for one in least:
        for other in range(one + 1, len(made)):
            b = b_similarity(made.supershingles[one], made.supershingles[other])
            c = c_similarity(made.simhash[one], made.simhash[other])
            if b >= 2 or c >= 372 or made.items[one] == made.items[other]:
                wanted.add((one, other, b, c))
    columns = (found.one, found.other, found.b, found.c)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    assert {row for row in rows if row[0] in least} == wanted


def test_what_the_combined_algorithm_returns_b_returns(found: Pairs) -> None:
    combined, by_b = found.returned(Policy("combined")), found.returned(Policy("b"))
    assert not (combined & ~by_b).any()
    first, second = halves(found)
    assert not (first & second).any()
    assert ((first | second) == by_b).all()


def test_thresholds_keep_what_the_paper_kept(found: Pairs) -> None:
    t, combined_t = thresholds(found)
    correct, (first, _) = found.correct, halves(found)
    by_b = int((correct & (found.b >= 2)).sum())
    assert int((correct & (found.c >= t)).sum()) >= by_b > int((correct & (found.c > t)).sum())
    kept = (first & correct & (found.c >= combined_t)).sum() / (first & correct).sum()
    assert kept >= 0.8


def test_b_is_as_precise_as_in_the_paper_in_its_mix(found: Pairs) -> None:
    answers = {"B": found.returned(Policy("b"))}
    rows = {row["pairs"]: row for row in near_pairs.table("B", found, answers)}
    for relation in ("same site", "different sites"):
        assert rows[relation]["precision, paper's mix"] == pytest.approx(rows[relation]["paper"])


def test_records_differ_in_their_midst_and_entries_in_single_words() -> None:
    one, other = (page.decode().split() for page in records(TEXTS, TEXTS[0], (200, 400), 2, 1))
    assert len(one) == len(other)
    differ = np.flatnonzero([a != b for a, b in zip(one, other, strict=True)])
    assert differ[-1] - differ[0] < 40
    one, other = (page.decode().split() for page in entries(TEXTS, 2, 1))
    differ = np.flatnonzero([a != b for a, b in zip(one, other, strict=True)])
    assert 1 <= len(differ) <= 5
    assert (np.diff(differ) > 1).all()


def test_parked_domains_differ_in_their_names_only() -> None:
    for pages in parked(TEXTS, templates=3, domains=3):
        texts = [[w for w in page.decode().split() if "www." not in w] for page in pages]
        assert texts[0] == texts[1] == texts[2]
        assert len({*pages}) == 3


def test_the_probability_of_b_is_that_of_supershingles() -> None:
    assert near_versions.b_chance(0) == 0
    assert near_versions.b_chance(1) == 1
