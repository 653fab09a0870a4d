"""Discovery online, held to exact counts; and exact counts, held to sets."""

from __future__ import annotations

import random
from collections import defaultdict, deque
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.discovery.offline import ExactCounts
from reusewatch.detector.discovery.online import Discovered, Discovery, Occurrences
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.occurrences import SplitByHash
from reusewatch.detector.labels.stop_chunks import Counted
from reusewatch.detector.ragged import Ragged

SCHEME = HashScheme()
Page = tuple[int, int, list[int]]  # page, site, chunks
values = st.integers(1, 6)
pages = st.lists(
    st.tuples(st.integers(1, 40), st.integers(1, 5), st.lists(values, max_size=6)), max_size=60
)
# A site is a fact of the page.
pages = pages.map(lambda found: [(page, page % 5, chunks) for page, _, chunks in found])


def batch(
    pages: list[Page],
    skipped: set[int] = frozenset(),  # type: ignore[assignment]
    firsts: list[int] | None = None,
) -> Occurrences:
    hashes = Ragged.of([chunks for _, _, chunks in pages])
    starts = np.concatenate([np.arange(len(chunks)) for _, _, chunks in pages] or [[]])
    return Occurrences(
        hashes,
        np.array([page for page, _, _ in pages], np.uint64),
        np.array([site for _, site, _ in pages], np.uint64),
        starts.astype(np.uint32),
        starts.astype(np.uint32) + np.uint32(1),
        np.isin(hashes.values, list(skipped)),
        None if firsts is None else np.array(firsts, np.uint64),
    )


def small(**options: int) -> Discovery:
    defaults = {"threshold": 5, "min_sites": 1, "singletons": 1 << 12, "counters": 1 << 8}
    return Discovery(SCHEME, **(defaults | options))


def exact(pages: list[Page]) -> dict[int, tuple[int, int]]:
    """Distinct pages and sites of each hash."""
    found: dict[int, tuple[set[int], set[int]]] = defaultdict(lambda: (set(), set()))
    for page, site, chunks in pages:
        for value in chunks:
            found[value][0].add(page)
            found[value][1].add(site)
    return {value: (len(of), len(on)) for value, (of, on) in found.items()}


@given(pages)
def test_never_over_and_under_by_the_first_page(pages: list[Page]) -> None:
    counting = small(threshold=100)
    counting.add(batch(pages))
    for value, (of, on) in exact(pages).items():
        counted, sites = counting.count(value)
        assert of - 1 <= counted <= of
        assert on - 1 <= sites <= on


@given(pages)
def test_a_second_delivery_adds_at_most_the_first_page(pages: list[Page]) -> None:
    counting = small(threshold=100)
    for _ in range(3):
        counting.add(batch(pages))
    for value, (of, on) in exact(pages).items():
        assert counting.count(value) == (of, on)


@given(pages, st.integers(0, 6), st.integers(1, 4))
def test_what_is_discovered_is_over_the_threshold(
    pages: list[Page], threshold: int, min_sites: int
) -> None:
    counting = small(threshold=max(threshold, 1), min_sites=min_sites)
    found = [one for page in pages for one in counting.add(batch([page]))]
    known = exact(pages)
    threshold = max(threshold, 1)
    assert len({one.hash for one in found}) == len(found)
    for one in found:
        assert known[one.hash][0] > threshold
        assert known[one.hash][1] >= min_sites
        assert len(one.sites) >= min_sites
    surely = {v for v, (of, on) in known.items() if of > threshold + 1 and on > min_sites}
    assert surely <= {one.hash for one in found}


@settings(max_examples=30)
@given(st.lists(pages, max_size=8))
def test_only_the_last_two_periods_count(periods: list[list[Page]]) -> None:
    counting = small(threshold=1000)
    window: deque[list[Page]] = deque([[]], maxlen=2)
    for period in periods:
        window.append(period)
        counting.add(batch(period))
        known = exact([page for part in window for page in part])
        for value in range(1, 7):
            of, on = known.get(value, (0, 0))
            pages, sites = counting.count(value)
            assert pages <= of
            assert sites <= on
        counting.rotate()
    counting.rotate()
    assert [counting.count(value) for value in range(1, 7)] == [(0, 0)] * 6


def test_a_page_seen_in_every_period_is_one_page_and_stays() -> None:
    counting = small(threshold=1000)
    for _ in range(6):
        counting.add(batch([(1, 1, [7]), (2, 2, [7])]))
        counting.rotate()
    assert counting.count(7) == (2, 2)


def test_full_tables_never_count_over() -> None:
    chosen = random.Random(5)
    counting = small(threshold=50, singletons=64, counters=16)
    crowd = [(page, page % 9, [chosen.randrange(1, 400) for _ in range(20)]) for page in range(500)]
    for start in range(0, 500, 50):
        counting.add(batch(crowd[start : start + 50]))
    assert counting.evicted > 0
    assert counting.forgotten > 0
    for value, (of, on) in exact(crowd).items():
        pages, sites = counting.count(value)
        assert pages <= of
        assert sites <= on


def test_a_crowd_of_singletons_does_not_hide_a_copy() -> None:
    chosen = random.Random(6)
    counting = small(threshold=100, min_sites=5, singletons=1 << 16, counters=1 << 10)
    found = []
    for page in range(400):
        alone = [chosen.getrandbits(64) for _ in range(50)]
        copied = [7] if page % 3 == 0 else []
        found += counting.add(batch([(page, page % 50, [*alone, *copied])]))
    assert [one.hash for one in found] == [7]
    (one,) = found
    assert (one.pages, len(one.sites), one.start, one.end) == (101, 16, 50, 51)
    assert one.sample_page == 3


def test_stop_chunks_and_labels_are_not_counted() -> None:
    counting = small()
    for page in range(20):
        assert not counting.add(batch([(page, page, [3, 4])], skipped={3, 4}))
    assert counting.count(3) == (0, 0)


def test_it_is_told_once_even_when_it_left_and_came_back() -> None:
    counting = small(threshold=2)
    found: list[Discovered] = []
    for _ in range(3):
        for page in range(10):
            found += counting.add(batch([(page, page, [9])]))
        counting.rotate()
        counting.rotate()
    assert [one.hash for one in found] == [9]


moments = st.lists(
    st.tuples(st.integers(1, 40), st.lists(values, max_size=6)), max_size=60,
    unique_by=lambda page: page[0],
)  # fmt: skip


@given(moments, st.integers(1, 7), st.integers(0, 60), st.randoms(use_true_random=False))
def test_the_first_page_is_told_in_any_order_and_batch(
    crowd: list[tuple[int, list[int]]], size: int, restart: int, order: random.Random
) -> None:
    counting = small(threshold=2, keeps_firsts=True)
    told: dict[int, int] = {}
    order.shuffle(crowd)
    for at in range(0, len(crowd), size):
        some = crowd[at : at + size]
        seen = batch([(page, page, chunks) for page, chunks in some], firsts=[p for p, _ in some])
        told |= {one.hash: one.first for one in counting.add(seen)}
        if at <= restart < at + size:
            saved, counting = counting.save(), small(threshold=2, keeps_firsts=True)
            counting.restore({name: column.copy() for name, column in saved.items()})
    for value, first in told.items():
        assert first == min(page for page, chunks in crowd if value in chunks)


@pytest.mark.parametrize("rotations", [0, 1])
def test_a_first_sighting_that_only_passed_the_filter_is_the_first(rotations: int) -> None:
    counting = small(threshold=2, keeps_firsts=True)
    counting.add(batch([(1, 1, [9])], firsts=[1]))
    for _ in range(rotations):
        counting.rotate()
    (one,) = counting.add(batch([(n, n, [9]) for n in range(5, 9)], firsts=[5, 6, 7, 8]))
    assert one.first == 1
    (again,) = counting.add(batch([(10, 10, [9])], firsts=[0]))
    assert (again.hash, again.first) == (9, 0)
    for _ in range(2):
        counting.rotate()
    later = counting.add(batch([(n, n, [9]) for n in range(20, 30)], firsts=[7] * 10))
    assert not later  # it was told with an earlier one


def test_periods_end_by_themselves() -> None:
    counting = small(threshold=100, period=10)
    for page in range(100):
        counting.add(batch([(page, page, [9])]))
    pages, _ = counting.count(9)
    assert 9 <= pages <= 20


@given(pages, pages)
def test_a_restored_one_goes_on_alike(before: list[Page], after: list[Page]) -> None:
    one, other = small(threshold=2, period=20), small(threshold=2, period=20)
    one.add(batch(before))
    other.restore({name: column.copy() for name, column in one.save().items()})
    for page in after:
        assert one.add(batch([page])) == other.add(batch([page]))
    for name, column in one.save().items():
        assert np.array_equal(column, other.save()[name])


def test_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="another size"):
        small(threshold=3).restore(small(threshold=4).save())


def test_memory_is_as_stated() -> None:
    counting = small(threshold=100, singletons=1 << 20, counters=1 << 10, most_sites=16)
    assert counting.memory == 8 * (1 << 20) + (1 << 10) * (52 + 4 * 101 + 8 * 16)
    kept = small(threshold=100, singletons=1 << 20, keeps_firsts=True)
    assert kept.memory - small(threshold=100, singletons=1 << 20).memory == 16 * (1 << 20)


@settings(max_examples=40)
@given(pages, st.integers(0, 3), st.integers(1, 3))
def test_exact_twin(pages: list[Page], threshold: int, min_sites: int) -> None:
    with TemporaryDirectory() as folder, closing(SplitByHash(Path(folder), bits=2)) as files:
        counts = ExactCounts(files)
        for page, site, chunks in pages:
            hashes = np.array(chunks, np.uint64) << np.uint64(61)
            same = np.ones(len(chunks), np.uint64)
            counts.add(hashes, same * np.uint64(page), same * np.uint64(site), hashes >> 61)
            counts._spill()
        found = list(counts.over(threshold, min_sites=min_sites))
    wanted = [
        Counted(value << 61, of, on, value)
        for value, (of, on) in sorted(exact(pages).items())
        if of > threshold and on >= min_sites
    ]
    assert found == wanted


def test_templates_of_large_sites_do_not_hide_a_copy() -> None:
    """A table of 128 counters, and 50 sites that each repeat 40 paragraphs on all of 40 pages."""
    counting = small(threshold=100, min_sites=5, singletons=1 << 16, counters=128)
    found = []
    for page in range(2000):
        template = [1000 + 100 * (page % 50) + line for line in range(40)]
        copied = [7] if page % 7 == 0 else []
        found += counting.add(batch([(page, page % 50, [*template, *copied])]))
    assert counting.evicted > 1000
    assert [one.hash for one in found] == [7]


def test_what_is_saved_is_as_large_as_what_is_used() -> None:
    counting = Discovery(SCHEME)
    assert counting.memory > 200_000_000
    counting.add(batch([(page, page, [7, 8, 100 + page]) for page in range(50)]))
    assert sum(column.nbytes for column in counting.save().values()) < 5_000


@given(st.integers(0, 5000), st.sampled_from([64, 1024, 6400, 40_000]), st.randoms())
@settings(max_examples=40)
def test_what_is_in_use_of_a_filter_is_all_of_it(
    crowd: int, places: int, chance: random.Random
) -> None:
    counting = small(singletons=places)
    counting.add(batch([(1, 1, [chance.getrandbits(64) for _ in range(crowd)])]))
    found, marks = counting.save(), counting._filters[0]
    (used,) = np.nonzero(marks)
    if 2 * used.size < marks.size:
        assert found["current_at"].tolist() == used.tolist()
        assert found["current"].tolist() == marks[used].tolist()
    else:
        assert found["current"].tolist() == marks.tolist()


def test_a_full_filter_is_saved_and_restored() -> None:
    one, other = (small(singletons=64, counters=16) for _ in range(2))
    crowd = [(page, page % 9, list(range(page, page + 20))) for page in range(0, 400, 3)]
    one.add(batch(crowd[:100]))
    saved = {name: column.copy() for name, column in one.save().items()}
    assert len(saved["current"]) == 64
    other.restore(saved)
    assert one.add(batch(crowd[100:])) == other.add(batch(crowd[100:]))
    assert all(np.array_equal(kept, other.save()[name]) for name, kept in one.save().items())
