"""The experiments on parts of pages run on made-up pages, and find what they must find."""

from __future__ import annotations

from pathlib import Path

import pytest

from reusewatch.detector.quilts.rules import QuiltRules
from tests.experiments import partial_copies, quilt_digests, quilt_sweep, sliced_site
from tests.experiments.report import Row
from tests.experiments.test_experiments import by, table


def test_a_machine_that_slices_and_dices_stands_alone(tmp_path: Path) -> None:
    rows = sliced_site.run(tmp_path, True)
    usual, diluted = by(rows, machine="repeating")
    assert usual["phrase-host: recall"] == usual["phrase-host: precision"] == 1
    assert usual["from 50 to 80"] > 0.8
    assert diluted["phrase-host: recall"] == 0
    assert by(rows, machine="sparing")[0]["quilt: recall"] > 0.5
    hosts = table(tmp_path / "sliced-site-hosts.csv")
    machine = [row["host"].endswith(sliced_site.MACHINE) for row in hosts]
    assert machine == sorted(machine, reverse=True)
    covers = table(tmp_path / "sliced-site-covers.csv")
    assert float(covers[0]["size"]) > 5


def test_the_sweep_is_monotonic_as_the_theorems_say(tmp_path: Path) -> None:
    rows = quilt_sweep.run(tmp_path, True)
    assert all(row.keys() == rows[0].keys() for row in rows)
    for name in ("c", "θ"):
        quilted = [row["quilted"] for row in by(rows, moved=name)]
        assert quilted == sorted(quilted, reverse=True)
    foreign = table(tmp_path / "quilt-sweep-foreign.csv")
    by_paper = [int(row["quilted"]) for row in foreign if row["judged"] == "by the paper"]
    assert by_paper == sorted(by_paper, reverse=True)


def test_links_make_a_digest_quiet_and_phi_frees_who_quotes(tmp_path: Path) -> None:
    rows = quilt_digests.run(tmp_path, True)
    usual = {row["pages"]: row for row in by(rows, φ=QuiltRules().phi)}
    assert (usual["digest"]["quilts"], usual["digest"]["warnings"]) == (1, 0)
    assert usual["spam"]["warnings"] > 0.5
    assert usual["quoting"]["quilts"] == usual["paper"]["quilts"] == 0
    assert usual["digest"]["attributed"] > 0.5 > usual["spam"]["attributed"] == 0
    assert by(rows, φ=0.0, pages="quoting")[0]["quilts"] > 0


def _found(rows: list[Row], **wanted: object) -> float:
    (row,) = by(rows, **wanted)
    return float(row["found, all"])


def test_partial_copies_are_found_from_their_share_on(tmp_path: Path) -> None:
    rows = partial_copies.run(tmp_path, True)
    most = max(row["share"] for row in rows)
    for taken in ("one run", "paragraphs", "sentences"):
        assert _found(rows, taken=taken, share=most) == 1
    assert _found(rows, taken="run, one word in 3 changed", share=most) == 0
    thresholds = by(table(tmp_path / "partial-copies-thresholds.csv"), grams="all", least="16")
    recall = [float(row["recall"]) for row in thresholds]
    assert recall == sorted(recall, reverse=True)
    (usual,) = by(thresholds, partial_share=str(QuiltRules().partial_share))
    assert usual["innocent pages"] == "0"
    assert table(tmp_path / "partial-copies-errors.csv")


@pytest.mark.parametrize("taken", partial_copies.TAKEN)
def test_so_much_is_taken_as_is_said(taken: str) -> None:
    made = partial_copies.corpus(True)
    for at, kind in enumerate(made.kinds):
        if kind.taken == taken:
            words = len(made.copies.tokens[at])
            of = len(made.originals.tokens[made.donors[at]])
            assert words <= kind.share * of * (1 + kind.padded) * 1.1 + 40
