"""Sites that have more than their share of a full window, and pages that have no words."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.window.index import NearDuplicateIndex
from tests.detector.window.window_pages import NOW, Page, Text, columns, judged

SITE_OF = [1, 1, 1, 2, 2, 3, 4, 1]


def page(number: int, at: int, words: bool = True, site: int | None = None) -> Page:
    """A page with words of its own, or with none."""
    where = SITE_OF[number % len(SITE_OF)] if site is None else site
    return Page(number, where, at, Text(number if words else 0), number)


def kept_by_definition(seen: list[Page], room: int, share: int) -> set[int]:
    """Of each site the newest up to its share; then the newest of all others, while there is room.

    Of too many within their shares, too, the newest.
    """
    newest = sorted(seen, key=lambda one: (one.at, one.page), reverse=True)
    taken: dict[int, int] = defaultdict(int)
    within, beyond = [], []
    for one in newest:
        taken[one.site] += 1
        (within if taken[one.site] <= share else beyond).append(one.page)
    return set((within + beyond)[:room])


def held(index: NearDuplicateIndex, numbers: range) -> set[int]:
    return {number for number in numbers if index.holds(number)}


arrivals = st.lists(st.tuples(st.integers(1, 60), st.integers(0, 9)), max_size=60,
                    unique_by=lambda one: one[0])  # fmt: skip


@given(arrivals, st.integers(1, 30), st.sampled_from([0.05, 0.2, 0.25, 0.5, 0.9]), st.booleans())
@settings(max_examples=300)
def test_which_pages_stay_depends_on_shares_and_times_and_on_no_order(
    seen: list[tuple[int, int]], room: int, share: float, together: bool
) -> None:
    index = NearDuplicateIndex(max_pages=room, site_share=share)
    pages = [page(number, at) for number, at in seen]
    for batch in [pages] if together else [[one] for one in pages]:
        if batch:
            index.add(columns(batch), now=NOW)
    wanted = kept_by_definition(pages, room, max(1, int(room * share)))
    assert held(index, range(1, 61)) == wanted
    assert len(index) == index.sets == len(wanted)


sightings = st.lists(st.tuples(st.integers(1, 20), st.integers(0, 30), st.booleans()), max_size=50)


@given(sightings, st.integers(1, 12), st.sampled_from([0.1, 0.25, 0.5]))
@settings(max_examples=40)
def test_pages_seen_again_and_a_window_taken_up_again_keep_to_it(
    seen: list[tuple[int, int, bool]], room: int, share: float
) -> None:
    """A twin that is saved and restored before each page; and a plain list of what is there."""
    one, other = (NearDuplicateIndex(max_pages=room, site_share=share) for _ in range(2))
    last: dict[int, int] = {}
    for number, at, words in seen:
        other.restore({name: array.copy() for name, array in one.save().items()})
        for index in (one, other):
            judged(index, page(number, at, words))
        if words:
            last[number] = max(last.get(number, 0), at)
            wanted = [page(n, then) for n, then in last.items()]
            kept = kept_by_definition(wanted, room, max(1, int(room * share)))
            last = {n: then for n, then in last.items() if n in kept}
        assert {n for n in range(1, 21) if versions(one, n)} == set(last)
        assert {n for n in range(1, 21) if versions(other, n)} == set(last)


def versions(index: NearDuplicateIndex, number: int) -> bool:
    """Whether the window has the page with its words."""
    stranger = Page(99, 99, 10_000, Text(number), 0)
    return bool(index.match(columns([stranger]), now=NOW).match(0).donors)


def test_a_site_that_floods_pushes_out_its_own_pages() -> None:
    index = NearDuplicateIndex(max_pages=1_000, site_share=0.25)
    index.add(columns([page(n, n, site=n) for n in range(1, 1_001)]), now=NOW)
    flood = [page(n, n, site=7) for n in range(2_000, 12_000)]
    found = index.add(columns(flood), now=NOW)
    assert held(index, range(1, 1_001)) == set(range(251, 1_001))
    assert held(index, range(2_000, 12_000)) == set(range(11_750, 12_000))
    assert index.crowded == 10_000 - 250
    assert found.pages["evicted"].sum() == 10_000


def test_one_site_alone_may_fill_the_window() -> None:
    index = NearDuplicateIndex(max_pages=1_000, site_share=0.25)
    index.add(columns([page(n, n, site=7) for n in range(1, 3_001)]), now=NOW)
    assert held(index, range(1, 3_001)) == set(range(2_001, 3_001))
    assert index.crowded == 0


def test_a_flood_takes_no_room_for_what_left_before_its_turn() -> None:
    index = NearDuplicateIndex(max_pages=2_000, site_share=0.25)
    index.add(columns([page(n, n, site=n) for n in range(1, 2_001)]), now=NOW)
    index.add(columns([page(n, n, site=7) for n in range(3_000, 8_000)]), now=NOW)
    room = index.nbytes
    index.add(columns([page(n, n, site=7) for n in range(8_000, 30_000)]), now=NOW)
    assert index.nbytes <= room
    assert len(index) == 2_000


def test_a_thousand_empty_pages_take_nothing_from_a_window_of_a_thousand() -> None:
    index = NearDuplicateIndex(max_pages=1_000)
    index.add(columns([page(n, n) for n in range(1, 1_001)]), now=NOW)
    index.add(columns([page(n, n, words=False) for n in range(2_000, 3_000)]), now=NOW)
    assert held(index, range(1, 1_001)) == set(range(1, 1_001))
    assert held(index, range(2_000, 3_000)) == set(range(3_000 - 1_000 // 32, 3_000))


def test_a_page_that_came_to_be_empty_is_so_now() -> None:
    index = NearDuplicateIndex(max_pages=10)
    judged(index, page(1, 20, words=False))
    change = judged(index, page(1, 10)).change(0)
    assert change.superseded
    now = index.version_at(1, None)
    assert now is not None
    assert now.text == 0


@pytest.mark.parametrize("share", [0.0, 0.01, 1.5, float("nan")])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="share"):
        NearDuplicateIndex(max_pages=10, site_share=share)


def test_the_queues_of_sites_cost_little() -> None:
    """Of a window that four sites have: 12 bytes a row, and room for half a share each."""
    plain = NearDuplicateIndex(max_pages=4_000)
    shared = NearDuplicateIndex(max_pages=4_000, site_share=0.25)
    for index in (plain, shared):
        index.add(columns([page(n, n, site=n % 4) for n in range(1, 6_001)]), now=NOW)
    more = shared.nbytes - plain.nbytes
    assert 0 < more <= 12 * (4_000 + 4 * 500) + 4 * 32
