"""The experiments run, and what they measure goes the way that it must. Pages are made up."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.fingerprint import Document, fingerprints
from tests.experiments import (
    __main__,
    asked_worker,
    label_detection_neighborhoods,
    label_detection_pages,
    label_discovery,
    rerendered,
)
from tests.experiments.__main__ import EXPERIMENTS, main
from tests.experiments.corpus import SCHEME, UNITS, chunks_of, corpus
from tests.experiments.curves import count_in
from tests.experiments.datasets import THRESHOLD, blind, expert
from tests.experiments.mutations import add, change, delete
from tests.experiments.report import Experiment, Row

vectors = st.lists(st.lists(st.integers(1, 5), max_size=6), max_size=5)
counts = st.integers(0, 8)


def by(rows: Sequence[Row], **wanted: object) -> list[Row]:
    return [row for row in rows if wanted.items() <= row.items()]


def table(path: Path) -> list[Row]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@given(vectors, counts)
def test_what_is_added_is_new_and_all_that_was_is_there(pages: list[list[int]], count: int) -> None:
    found = add(Ragged.of(pages), count, np.random.default_rng(0))
    assert len(found) == len(pages)
    for before, after in zip(pages, found, strict=True):
        assert Counter(after.tolist()) >= Counter(before)
        assert len(after) == len(before) + count
        assert sum(value > 5 for value in after.tolist()) == count


@given(vectors, counts)
def test_deleted_chunks_are_gone_and_pages_without_any(pages: list[list[int]], count: int) -> None:
    found = delete(Ragged.of(pages), count, np.random.default_rng(0))
    left = [page for page in pages if len(page) > count]
    assert len(found) == len(left)
    for before, after in zip(left, found, strict=True):
        assert Counter(after.tolist()) <= Counter(before)
        assert len(after) == len(before) - count


@given(vectors, counts)
def test_changes_leave_the_number_of_chunks(pages: list[list[int]], count: int) -> None:
    found = change(Ragged.of(pages), count, np.random.default_rng(0))
    for before, after in zip(pages, found, strict=True):
        assert len(after) == len(before)
        changed = int((after != np.array(before, np.uint64)).sum())
        assert min(count, len(before), 1) <= changed <= count or not before


def test_every_change_hits_one_chunk_only() -> None:
    """A change of a chunk's bytes is what `change` does to a vector, and an added paragraph too."""
    pages = corpus(True).site
    made = fingerprints([Document(page) for page in pages], SCHEME)
    before = made.sketches.chunks.hashes
    for number, page in enumerate(pages):
        at = int(before.offsets[number]) + number % len(before[number])
        end = int(made.chunk_ends[at])
        mutated = page[:end] + b" and more" + page[end:].replace(b"</body>", b"<p>Ad.</p></body>")
        after = chunks_of([mutated], "text").hashes.values
        assert len(after) == len(before[number]) + 1
        differing = np.flatnonzero(after[:-1] != before[number]).tolist()
        assert differing == [number % len(before[number])]


def test_blind_is_what_stands_on_enough_pages(tmp_path: Path) -> None:
    site = chunks_of(corpus(True).site, "text")
    on = Counter(value for page in site.hashes for value in set(page.tolist()))
    one = expert("all", site, tmp_path, min_length=0)
    assert count_in(site.hashes, one).ratios.tolist() == [1.0] * len(site.hashes)
    for copies in (1, 11, THRESHOLD + 1):
        found = blind("found", site, copies=copies)
        wanted = {v for v, pages in on.items() if pages * copies > THRESHOLD}
        matched = found.dataset.match("chunks", np.array(list(on), np.uint64)) >= 0
        labeled = {value for value, hit in zip(on, matched.tolist(), strict=True) if hit}
        assert labeled <= wanted
        assert (
            one.dataset.match("chunks", np.array(list(wanted - labeled), np.uint64)).max(initial=-1)
            == -1
        )  # stop chunks, which the expert does not label either


def test_discovery_of_a_file_is_one_or_nothing(tmp_path: Path) -> None:
    rows = label_discovery.run_files(tmp_path, True)
    assert [row["exact"] for row in rows] == [row["copies"] > row["threshold"] for row in rows]
    # Online, the first sighting only passes the filter.
    assert [row["online"] for row in rows] == [row["copies"] - 1 > row["threshold"] for row in rows]
    assert not any(row["others_exact"] or row["others_online"] for row in rows)


def test_more_of_a_site_is_discovered_the_more_it_is_copied(tmp_path: Path) -> None:
    found = label_discovery.run_chunks(tmp_path, True)
    for unit in UNITS:
        rows = by(found, chunks=unit)
        shares = [row["distinct_exact"] for row in rows]
        assert shares == sorted(shares)
        assert shares[0] < 0.1
        assert shares[-2:] == [1.0, 1.0]
        assert all(row["distinct_online"] <= row["distinct_exact"] for row in rows)
        assert rows[-1]["distinct_online"] == 1.0
        assert not any(row["others"] or row["others_online"] for row in rows)


def test_detection_of_pages_falls_as_they_are_mutated(tmp_path: Path) -> None:
    rows = label_detection_pages.run(tmp_path, True)
    for row in rows:
        if row["operation"] != "delete":
            assert row["tolerance"] == pytest.approx(row["expected"], abs=0.2)
    for unit in UNITS:
        all_, long, *_ = by(rows, chunks=unit, operation="change")
        assert all_["contains"] == 1.0 > long["contains"]
        assert all_["tolerance"] > long["tolerance"]
        assert by(rows, chunks=unit, operation="add")[0]["tolerance"] > 3 * all_["tolerance"]
    points = table(tmp_path / "label_detection_pages_points.csv")
    for operation in ("add", "change"):
        for curve in ("expert", "blind, T/20"):
            chosen = by(points, chunks="text", operation=operation, labeled=curve)
            shares = [float(row["contains"]) for row in chosen]
            assert shares == sorted(shares, reverse=True)
            assert shares[-1] < shares[0] / 3


def test_long_pages_carry_the_share_of_all_chunks(tmp_path: Path) -> None:
    rows = by(label_detection_neighborhoods.run(tmp_path, True), operation="change")
    for row in rows:
        assert row["tolerance_badness"] <= row["tolerance_pages"]
    assert rows[0]["chunk_ratio_over_pages"] > 1.2


def test_text_chunks_do_not_mind_case_white_space_and_markup(tmp_path: Path) -> None:
    rows = {row["rerendered"]: row for row in rerendered.run(tmp_path, True)}
    assert rows["as it is"]["raw_found"] == 1.0
    for name in ("spaces", "tag_case", "attributes", "inline", "letters", "blocks"):
        assert rows[name]["text_found"] == 1.0
    assert rows["spaces"]["raw_found"] < 0.1
    assert rows["blocks"]["raw_found"] == 0.0
    assert rows["joined"]["text_found"] < 0.7
    touched = table(tmp_path / "rerendered_touched.csv")
    shares = [float(row["raw_found"]) for row in touched]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] < shares[0] == 1.0
    assert {row["text_found"] for row in touched} == {"1.0"}


def test_the_command_writes_tables_and_plots(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "label_discovery_files"
    assert main(["--quick", "--only", name, "--output", str(tmp_path)]) == 0
    assert (tmp_path / f"{name}.csv").read_text().startswith("copies,threshold,exact,online")
    assert (tmp_path / f"{name}.md").read_text().startswith("| copies |")
    out, err = capsys.readouterr()
    assert name in out
    if find_spec("matplotlib"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    else:
        assert "matplotlib is not installed" in err


def test_one_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_output: Path, _quick: bool) -> list[Row]:
        raise ValueError("no such page")

    monkeypatch.setattr(__main__, "EXPERIMENTS", (Experiment("broken", fails), EXPERIMENTS[0]))
    assert __main__.run(tmp_path, quick=True) == ["broken"]
    assert (tmp_path / "label_discovery_files.csv").exists()


def test_unknown_experiments_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--only", "nothing"])
    assert "label_discovery_files" in capsys.readouterr().err


def test_workers_are_asked_over_http(tmp_path: Path, broker: str) -> None:
    row = asked_worker.measured(tmp_path, broker, 40)
    assert row["pages"] == 40
    assert {name for name in row if not name.endswith("_first_seconds")} == {
        "pages", "clusters_seconds", "clusters_of_a_page_seconds", "similar_seconds",
        "neighborhoods_seconds",
    }  # fmt: skip
