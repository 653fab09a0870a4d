"""Labeled grams: directed containment by its definition, and passages that hold what they say."""

from __future__ import annotations

from contextlib import closing
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reusewatch.detector.labels import dataset as dataset_module
from reusewatch.detector.labels.building import LabelBuilder
from reusewatch.detector.labels.dataset import Delta, LabeledDataset
from reusewatch.detector.labels.format import PackLabel
from reusewatch.detector.labels.gram_containment import (
    MOST_PASSAGES,
    WRAPPED,
    passages,
    shares,
)
from reusewatch.detector.labels.gram_filter import candidates, filter_of
from reusewatch.detector.labels.labeled_page import LabeledPage
from reusewatch.detector.labels.pack import open_pack
from reusewatch.detector.labels.stood import NO_PAGE, PLACE
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.grams import GRAM_K, in_sample
from tests.detector.labels.strategies import SCHEME, words

# Grams spread as hashes are, and few, so that pages have some in common and one several times.
GRAMS = [value * 0x9E3779B97F4A7C15 % (1 << 64) for value in range(1, 41)]
page = st.lists(st.sampled_from(GRAMS), max_size=40)
pages = st.lists(page, max_size=6)


def grams_of(phrases: list[int]) -> list[int]:
    """Of a circular reading the straight part."""
    return phrases[: max(len(phrases) - WRAPPED, 0)]


@given(st.lists(st.integers(0, (1 << 64) - 1), max_size=50), pages)
def test_a_filter_lets_everything_through_that_it_was_made_of(
    known: list[int], given: pages
) -> None:
    column = Ragged.of(given)
    found = set(candidates(filter_of(words(known)), column, wrapped=WRAPPED).tolist())
    at = 0
    for phrases in given:
        straight = len(grams_of(phrases))
        wanted = {at + i for i in range(straight) if phrases[i] in known}
        assert wanted <= {one for one in found if at <= one < at + len(phrases)}
        assert not found & set(range(at + straight, at + len(phrases)))
        at += len(phrases)


def test_a_filter_lets_few_others_through() -> None:
    drawn = np.random.default_rng(1).integers(0, 1 << 64, 60_000, np.uint64)
    passed = candidates(filter_of(drawn[:30_000]), Ragged.of([drawn[30_000:]]))
    assert len(passed) < 0.03 * 30_000


@given(pages, pages, st.sampled_from([1.0, 0.5, 0.25]), st.booleans())
def test_containment_is_that_of_the_sets(
    labeled: list[list[int]], given: list[list[int]], share: float, overlay: bool
) -> None:
    known = {gram for phrases in labeled for gram in phrases}
    known = {g for g in known if in_sample(words([g]), share)[0]}
    with TemporaryDirectory() as folder:
        with closing(LabelBuilder(Path(folder), SCHEME)) as builder:
            label = builder.label(PackLabel(name="a"))
            builder.add_grams(label, words([] if overlay else [*known]), share=share)
            builder.build(Path(folder) / "pack")
        dataset = LabeledDataset(SCHEME, open_pack(Path(folder) / "pack", SCHEME))
        dataset.apply(Delta("grams", g, frozenset({"a"})) for g in (known if overlay else ()))
        column = Ragged.of(given)
        at, sets = dataset.match_grams(column, wrapped=WRAPPED)
        assert {dataset.labels_of(number) for number in sets.tolist()} <= {("a",)}
        cut = np.searchsorted(at, column.offsets)
        positions = [
            at[cut[i] : cut[i + 1]] - column.offsets[i] for i in range(len(given))
        ]  # fmt: skip
        found = shares(column, words([7] * len(given)), positions, sample=share)
    for phrases, one in zip(given, found, strict=True):
        mine = {gram for gram in grams_of(phrases) if in_sample(words([gram]), share)[0]}
        assert (one.labeled, one.total) == (len(mine & known), len(mine))


def test_the_overlays_filter_is_made_once_for_each_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[int] = []

    def counted(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
        made.append(len(hashes))
        return filter_of(hashes)

    monkeypatch.setattr(dataset_module, "filter_of", counted)
    dataset, column = LabeledDataset(SCHEME), Ragged.of([GRAMS])
    for known in (1, 2):
        dataset.apply([Delta("grams", GRAMS[known], frozenset({"a"}))])
        for _ in range(3):
            assert len(dataset.match_grams(column)[0]) == known
    assert made == [1, 2]


rows = st.lists(
    st.tuples(st.integers(0, 300), st.sampled_from([0, 1, 2, NO_PAGE]), st.integers(0, 4000)),
    max_size=80, unique_by=lambda row: row[0],
)  # fmt: skip


@given(rows)
def test_passages_are_apart_and_each_is_of_one_page(given: list[tuple[int, int, int]]) -> None:
    given.sort()
    positions = np.array([at for at, _, _ in given], np.int64)
    places = np.array([(of, start, 30) for _, of, start in given], PLACE)
    found = passages(positions, places)
    assert len(found) <= MOST_PASSAGES
    assert bool(found) == bool(given)
    spans = sorted((one.first, one.last - GRAM_K + 1) for one in found)
    assert all(last < first for (_, last), (first, _) in pairwise(spans))
    for one in found:
        own = [row for row in given if row[1] == one.page]
        inside = [row for row in own if one.first <= row[0] <= one.last - GRAM_K + 1]
        assert len(inside) >= one.grams
        assert given[one.at][:2] == (one.first, one.page)
        assert given[one.at][2] == one.start
        if one.page != NO_PAGE:
            assert one.start <= one.end
    counts = [one.grams for one in found]
    assert counts == sorted(counts, reverse=True)


def test_grams_of_one_run_are_one_passage() -> None:
    positions = np.arange(10, 40)
    places = np.array([(4, 100 + 6 * n, 25) for n in range(30)], PLACE)
    (one,) = passages(positions, places)
    assert (one.first, one.last, one.grams, one.page) == (10, 43, 30, 4)
    assert (one.start, one.end) == (100, 100 + 6 * 29 + 25)


def test_a_gram_that_another_page_has_too_cuts_no_passage() -> None:
    """A gram is told with one page; a phrase that an earlier page had is within a run of this."""
    positions = np.arange(10, 40)
    places = np.array([(4, 100 + 6 * n, 25) for n in range(30)], PLACE)
    places[12] = (1, 7, 25)
    assert [(one.page, one.grams) for one in passages(positions, places)] == [(4, 29)]


def test_pages_are_named_by_the_row(tmp_path: Path) -> None:
    with closing(LabelBuilder(tmp_path, SCHEME, places=True)) as builder:
        label = builder.label(PackLabel(name="a"))
        number = builder.page(label, LabeledPage("http://a.example/", "x.warc", 7, 9))
        places = np.array([(number, 5, 70_000)], PLACE)
        builder.add_grams(label, words([11]), places, share=1.0)
        builder.build(tmp_path / "pack")
    dataset = LabeledDataset(SCHEME, open_pack(tmp_path / "pack", SCHEME))
    (one,) = dataset.stood("grams", words([11]))
    assert one is not None
    assert one.page == LabeledPage("http://a.example/", "x.warc", 7, 9)
    assert (one.start, one.end) == (5, 5 + 65_535)  # a gram is short, whatever it is
