"""The labeled dataset: a pack, what changed since, and packs made of packs."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.errors import SchemeMismatch
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.dataset import Delta, LabeledDataset
from reusewatch.detector.labels.merging import Difference, diff, merge
from reusewatch.detector.labels.pack import Kind, open_pack, verify
from reusewatch.detector.labels.pairs import Pairs, Run, merged, sorted_pairs, spill
from tests.detector.labels.strategies import (
    NAMES,
    SCHEME,
    Entries,
    built,
    entries,
    hashes,
    kinds,
    matched,
    names,
    same,
    twin_of,
    words,
)

deltas = st.lists(
    st.builds(Delta, kinds, hashes, st.frozensets(st.sampled_from([*NAMES, "new"]))), max_size=30
)


@settings(max_examples=50)
@given(entries, deltas, st.sets(names, max_size=1), deltas)
def test_overlay_twin(
    entries: Entries, before: list[Delta], removed: set[str], after: list[Delta]
) -> None:
    with TemporaryDirectory() as folder:
        dataset = LabeledDataset(SCHEME, built(Path(folder) / "a", entries))
        twin = twin_of(entries)
        dataset.apply(before)
        twin.update({(delta.kind, delta.hash): set(delta.labels) for delta in before})
        for name in removed:
            dataset.remove(name)
            for labels in twin.values():
                labels.discard(name)
        dataset.apply(after)
        twin.update({(delta.kind, delta.hash): set(delta.labels) for delta in after})
        same(dataset, twin)


@given(deltas, st.randoms())
def test_the_version_tells_overlays_apart_not_their_order(
    deltas: list[Delta], random: object
) -> None:
    last = {(delta.kind, delta.hash): delta for delta in deltas}
    one, other = LabeledDataset(SCHEME), LabeledDataset(SCHEME)
    one.apply(deltas)
    other.apply(reversed(last.values()))
    other.apply(last.values())
    assert one.version == other.version
    assert {*one.deltas()} == {*other.deltas()}
    assert (one.version == "none") == (not last)


def test_removed_names_come_back_when_asked(tmp_path: Path) -> None:
    dataset = LabeledDataset(SCHEME, built(tmp_path / "a", [("chunks", 1, "bank")]))
    assert dataset.version == "1"
    dataset.remove("bank")
    assert matched(dataset, "chunks", [1]) == [set()]
    assert dataset.removed == {"bank"}
    assert dataset.version != "1"
    dataset.apply([Delta("chunks", 2, frozenset({"bank"}))])
    assert matched(dataset, "chunks", [1, 2]) == [set(), {"bank"}]
    dataset.restore("bank")
    assert matched(dataset, "chunks", [1, 2]) == [{"bank"}, {"bank"}]


def test_a_pack_is_swapped_under_the_overlay(tmp_path: Path) -> None:
    dataset = LabeledDataset(SCHEME, built(tmp_path / "a", [("chunks", 1, "bank")]))
    dataset.apply([Delta("chunks", 5, frozenset({"found"}))])
    dataset.swap(built(tmp_path / "b", [("chunks", 3, "leak")], version="2"))
    assert matched(dataset, "chunks", [1, 3, 5]) == [set(), {"leak"}, {"found"}]
    assert dataset.version.startswith("2+")
    with pytest.raises(SchemeMismatch):
        LabeledDataset(HashScheme(7), open_pack(tmp_path / "a", None))


@settings(max_examples=40)
@given(entries, entries, st.frozensets(names, max_size=2))
def test_merge_is_union(one: Entries, other: Entries, drop: frozenset[str]) -> None:
    with TemporaryDirectory() as folder:
        packs = [built(Path(folder) / "a", one), built(Path(folder) / "b", other)]
        merge(packs, Path(folder) / "c", drop=drop)
        assert verify(Path(folder) / "c") == ()
        kept = [entry for entry in (*one, *other) if entry[2] not in drop]
        same(open_pack(Path(folder) / "c", SCHEME), twin_of(kept))


@settings(max_examples=40)
@given(entries, entries)
def test_diff_counts_what_came_and_went(one: Entries, other: Entries) -> None:
    with TemporaryDirectory() as folder:
        found = diff(built(Path(folder) / "a", one), built(Path(folder) / "b", other))
    old, new = set(one), set(other)
    wanted = []
    for name in NAMES:
        counts = [
            sum(entry[0] == kind and entry[2] == name for entry in change)
            for kind in ("files", "chunks")
            for change in (new - old, old - new)
        ]
        wanted.append(Difference(name, *counts))
    assert found == tuple(change for change in wanted if change)


def test_packs_of_two_schemes_do_not_merge(tmp_path: Path) -> None:
    ours = built(tmp_path / "a", [("chunks", 1, "bank")])
    other = built(tmp_path / "b", [("chunks", 1, "bank")], scheme=HashScheme(7))
    for join in (lambda: merge([ours, other], tmp_path / "c"), lambda: diff(ours, other)):
        with pytest.raises(SchemeMismatch, match=SCHEME.name):
            join()


pairs = st.lists(st.tuples(st.integers(0, 20) | hashes, st.integers(0, 4)), max_size=60)


@given(st.lists(pairs, max_size=5), st.integers(1, 40))
def test_a_merge_of_runs_sorts(runs: list[list[tuple[int, int]]], budget: int) -> None:
    with TemporaryDirectory() as folder:
        sources: list[Run] = []
        for number, run in enumerate(runs):
            column = sorted_pairs(_pairs(run))
            sources.append(spill(column, Path(folder) / str(number)))
        found = [
            list(zip(piece.hashes.tolist(), piece.labels.tolist(), strict=True))
            for piece in merged(sources, budget=budget)
        ]
    assert [pair for piece in found for pair in piece] == sorted({p for run in runs for p in run})
    for before, after in pairwise(found):
        assert before[-1][0] < after[0][0]


def _pairs(rows: list[tuple[int, int]]) -> Pairs:
    columns = zip(*rows, strict=True) if rows else ((), ())
    values, labels = map(list, columns)
    return Pairs(words(values), words(labels).astype("u4"))


@pytest.mark.parametrize(
    ("kind", "value", "name"),
    [("chunks", -1, "a"), ("chunks", 1 << 64, "a"), ("pages", 1, "a"), ("files", 1, "a\nb")],
)
def test_a_delta_that_no_dataset_can_hold_is_refused(kind: Kind, value: int, name: str) -> None:
    with pytest.raises(ValueError, match=r"no hash|printable"):
        Delta(kind, value, frozenset({name}))


@given(deltas, st.sets(names), deltas)
def test_an_overlay_is_restored_from_what_it_tells(
    before: list[Delta], removed: set[str], after: list[Delta]
) -> None:
    one, other = LabeledDataset(SCHEME), LabeledDataset(SCHEME)
    one.apply(before)
    for name in removed:
        one.remove(name)
    one.apply(after)
    for name in one.removed:
        other.remove(name)
    other.apply(one.deltas())
    assert one.version == other.version
    assert {*one.deltas()} == {*other.deltas()}
