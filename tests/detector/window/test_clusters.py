"""Classes of near-duplicates against the transitive closure over all pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.window.closure import closure, steps_from
from reusewatch.detector.window.index import NearDuplicateIndex
from reusewatch.detector.window.near_rules import Policy
from tests.detector.window.plain_near import dated
from tests.detector.window.window_pages import (
    NOW,
    T0,
    Page,
    Text,
    base_text,
    columns,
    judged,
    pages,
    varied,
)

shingles = st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), max_size=25)


def near(one: list[int], other: list[int]) -> bool:
    return sum(a == b != 0 for a, b in zip(one, other, strict=True)) >= 2


def by_definition(rows: list[list[int]]) -> set[frozenset[int]]:
    """Classes joined until no pair of near-duplicates is apart."""
    groups = [{i} for i in range(len(rows))]
    for i, j in combinations(range(len(rows)), 2):
        if near(rows[i], rows[j]):
            one = next(group for group in groups if i in group)
            other = next(group for group in groups if j in group)
            if one is not other:
                groups.remove(other)
                one |= other
    return {frozenset(group) for group in groups}


def rows_of(rows: list[list[int]]) -> np.ndarray:
    return np.array(rows, np.uint32).reshape(len(rows), 6)


def names_of(rows: list[list[int]]) -> np.ndarray:
    return np.arange(len(rows), dtype=np.uint64)


@given(shingles)
@settings(max_examples=300)
def test_classes_are_the_transitive_closure(rows: list[list[int]]) -> None:
    found, refused = closure(rows_of(rows), names_of(rows), len(rows) + 1)
    groups = {frozenset(np.flatnonzero(found == one).tolist()) for one in set(found.tolist())}
    assert groups == by_definition(rows)
    assert refused == 0


@given(shingles, st.integers(1, 5))
def test_no_class_outgrows_its_bound(rows: list[list[int]], largest: int) -> None:
    found, refused = closure(rows_of(rows), names_of(rows), largest)
    sizes = np.bincount(found) if len(rows) else np.zeros(1)
    assert sizes.max() <= largest
    assert (refused > 0) == (max(map(len, by_definition(rows)), default=0) > largest)


@given(shingles.filter(bool))
def test_steps_are_those_of_the_longest_shortest_way(rows: list[list[int]]) -> None:
    distance = {0: 0}
    queue = [0]
    for at in queue:
        for other in range(len(rows)):
            if other not in distance and near(rows[at], rows[other]):
                distance[other] = distance[at] + 1
                queue.append(other)
    assert steps_from(rows_of(rows), 0) == max(distance.values())


def classes_of(seen: list[Page]) -> dict[frozenset[tuple[int, int]], int]:
    """Versions with words in classes of two and more, and the page of the representative."""
    first: dict[tuple[int, int], Page] = {}
    for page in seen:
        if page.text.text:
            key = page.page, page.text.text
            first[key] = min(first.get(key, page), page, key=lambda p: p.at)
    counted = dated(first, Policy())
    texts = sorted({page.text.text for page in first.values()})
    by_text = {page.text.text: list(page.text.super5) for page in first.values()}
    found = {}
    for group in by_definition([by_text[text] for text in texts]):
        members = [key for key in first if texts.index(key[1]) in group]
        if len(members) > 1:
            lead = min(members, key=lambda key: (counted[key].at, key[0], first[key].at, key[1]))
            found[frozenset(members)] = lead[0]
    return found


@given(pages)
@settings(max_examples=200)
def test_the_listing_is_the_closure_of_the_window(seen: list[Page]) -> None:
    index = NearDuplicateIndex(max_pages=1_000)
    index.add(columns(seen), now=NOW)
    found = index.clusters(top=100)
    expected = classes_of(seen)
    assert sorted((one.size, one.representative.page) for one in found) == sorted(
        (len(members), lead) for members, lead in expected.items()
    )
    assert [one.size for one in found] == sorted((one.size for one in found), reverse=True)
    for one in found:
        assert len(one.urls) == one.size
        assert one.urls[0] == one.representative.url
        assert one.sites == len({url.split("/")[2] for url in one.urls})


@given(pages)
@settings(max_examples=100)
def test_a_verdict_names_the_class_that_the_listing_shows(seen: list[Page]) -> None:
    """While the window holds all, the classes that are kept and those that are computed agree."""
    seen = [Page(i + 1, i % 3, p.at, p.text, p.file) for i, p in enumerate(seen)]
    index = NearDuplicateIndex(max_pages=1_000, policy=Policy("either"))
    index.add(columns(seen), now=NOW)
    again = index.match(columns(seen), now=NOW)
    for i in range(len(seen)):
        match = again.match(i).near
        if match is not None:
            (listed,) = index.clusters(page=match.seen.page)
            assert match.cluster == listed.cluster
            assert match.seen.url in listed.urls


def test_a_chain_is_shown_as_one() -> None:
    """Each page is near to the one before it, the first and the last have nothing in common."""
    rows = [(1, 1, 2, 3, 4, 5), (1, 1, 9, 9, 6, 7), (8, 8, 9, 9, 10, 11), (8, 8, 12, 12, 1, 2)]
    texts = [Text(i + 1, super5=row) for i, row in enumerate(rows)]
    index = NearDuplicateIndex(max_pages=10)
    index.add(columns([Page(i + 1, i, i, text, i + 1) for i, text in enumerate(texts)]), now=NOW)
    (chain,) = index.clusters()
    assert (chain.size, chain.sites, chain.diameter) == (4, 4, 3)
    assert chain.representative.first == T0
    bounded = NearDuplicateIndex(max_pages=10, max_cluster=2)
    bounded.add(columns([Page(i + 1, i, i, t, i + 1) for i, t in enumerate(texts)]), now=NOW)
    assert [one.size for one in bounded.clusters()] == [2, 2]
    assert bounded.refused == 1


def test_what_left_holds_no_class_together() -> None:
    rows = [(1, 1, 2, 3, 4, 5), (1, 1, 9, 9, 6, 7), (8, 8, 9, 9, 10, 11)]
    index = NearDuplicateIndex(max_pages=2)
    times = [5, 1, 6]
    for i, row in enumerate(rows):
        judged(index, Page(i + 1, i, times[i], Text(i + 1, super5=row), i + 1))
    assert index.clusters() == []
    assert index.clusters(page=77) == []
    assert [one.size for one in index.clusters(page=1)] == [1]


def test_a_class_keeps_its_name_until_its_representative_leaves() -> None:
    base = base_text(1)
    index = NearDuplicateIndex(max_pages=3)
    texts = [base, *(varied(base, i, 6, 6, 1, 16) for i in range(2, 6))]
    names = []
    for i, text in enumerate(texts):
        match = judged(index, Page(i + 1, i, i, text, i + 1)).match(0).near
        names.append(match.cluster if match else 0)
    assert names[1] == names[2] == names[3] != names[4]
    assert index.clusters()[0].cluster not in names[1:4]
