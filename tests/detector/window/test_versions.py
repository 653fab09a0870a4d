"""Versions of one URL: how many are kept, which, and that they are taken leave of wholly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.window.index import VERSIONS_OF_A_PAGE, NearDuplicateIndex
from tests.detector.window.window_pages import NOW, T0, Page, Text, base_text, columns, judged

TEXTS = [base_text(seed) for seed in range(8)]


def changing(count: int, *, page: int = 1, first: int = 1) -> list[Page]:
    """One URL whose words are others at each fetch."""
    return [Page(page, 1, first + i, Text(first + i), first + i) for i in range(count)]


def held(index: NearDuplicateIndex, seen: list[Page]) -> set[tuple[int, int]]:
    """Page and words of all that the window holds, by the copies that a stranger finds."""
    strangers = {(s.page, s.text.text): Page(99, 99, 10_000, s.text, 7) for s in seen}
    found = set()
    for key, stranger in strangers.items():
        donors = index.match(columns([stranger]), now=NOW).match(0).donors
        found |= {key for donor in donors if donor.page == key[0]}
    return found


def kept_by_definition(seen: list[Page], most: int) -> set[tuple[int, int]]:
    """Of each page the version seen first, and so many that were seen last."""
    first: dict[tuple[int, int], int] = {}
    last: dict[tuple[int, int], int] = {}
    for s in seen:
        key = s.page, s.text.text
        first[key] = min(first.get(key, s.at), s.at)
        last[key] = max(last.get(key, s.at), s.at)
    kept = set()
    for page in {s.page for s in seen}:
        keys = [key for key in first if key[0] == page]
        earliest = min(keys, key=lambda key: (first[key], key[1]))
        kept |= {earliest, *sorted(keys, key=lambda key: (last[key], key[1]))[-most:]}
    return kept


def test_versions_of_one_url_are_bounded_and_those_that_leave_are_counted() -> None:
    index = NearDuplicateIndex(max_pages=10_000)
    found = index.add(columns(changing(1_000)), now=NOW)
    assert len(index) == index.sets == VERSIONS_OF_A_PAGE + 1
    assert index.dismissed == found.pages["evicted"].sum() == 999 - VERSIONS_OF_A_PAGE


sightings = st.lists(
    st.builds(
        lambda page, at, text: Page(page, page, at, TEXTS[text], text + 1),
        st.integers(1, 2), st.integers(0, 40), st.integers(0, 7),
    ),
    max_size=40,
)  # fmt: skip


@given(sightings, st.integers(1, 4), st.booleans())
@settings(max_examples=300)
def test_which_versions_are_kept_depends_on_no_order(
    seen: list[Page], most: int, together: bool
) -> None:
    index = NearDuplicateIndex(max_pages=1_000, max_versions=most)
    for batch in [seen] if together else [[page] for page in seen]:
        if batch:
            index.add(columns(batch), now=NOW)
    wanted = kept_by_definition(seen, most)
    assert held(index, seen) == wanted
    assert len(index) == len(wanted)


@given(sightings, st.integers(1, 6), st.integers(1, 3))
@settings(max_examples=200)
def test_a_saved_window_with_rows_that_left_early_answers_alike(
    seen: list[Page], size: int, most: int
) -> None:
    one, other = (NearDuplicateIndex(max_pages=size, max_versions=most) for _ in range(2))
    for page in seen:
        other.restore({name: array.copy() for name, array in one.save().items()})
        assert judged(one, page).change(0) == judged(other, page).change(0)
        assert len(one) == len(other) <= size
        assert one.sets == other.sets


def test_a_version_between_those_that_are_kept_is_judged_and_said_to_be_late() -> None:
    index = NearDuplicateIndex(max_pages=100, max_versions=1)
    judged(index, Page(9, 9, 0, Text(5), 5))
    for at in (10, 30):
        judged(index, Page(1, 1, at, Text(at), at))
    change = judged(index, Page(1, 1, 20, Text(5), 5)).change(0)
    assert (change.late, change.alert, change.evicted) == (True, True, 1)
    assert held(index, [Page(1, 1, at, Text(at), at) for at in (10, 20, 30)]) == {(1, 10), (1, 30)}


@pytest.mark.parametrize("backwards", [False, True])
def test_a_page_that_always_changes_takes_no_room_from_the_others(backwards: bool) -> None:
    """Rows that left before their turn are used again: the queue is swept, the room stays small."""
    index, others = NearDuplicateIndex(max_pages=2_000), changing(100, page=7, first=100_000)
    index.add(columns([Page(i, i, s.at, s.text, i) for i, s in enumerate(others, 2)]), now=NOW)
    seen = changing(40_000)
    seen = seen[::-1] if backwards else seen
    index.add(columns(seen[:5_000]), now=NOW)
    room = index.nbytes
    index.add(columns(seen[5_000:]), now=NOW)
    assert index.nbytes <= room
    assert len(index) == 100 + VERSIONS_OF_A_PAGE + 1
    assert all(index.holds(i) for i in range(2, 102))


def test_the_version_that_others_were_copied_from_stays_their_donor() -> None:
    index = NearDuplicateIndex(max_pages=1_000, max_versions=3)
    index.add(columns(changing(50)), now=NOW)
    match = index.match(columns([Page(2, 2, 60, Text(1), 1)]), now=NOW).match(0)
    assert [donor.first for donor in match.donors] == [T0 + 1]


def test_a_window_keeps_the_last_version_at_least() -> None:
    with pytest.raises(ValueError, match="at least its last"):
        NearDuplicateIndex(max_pages=1, max_versions=0)


def test_a_window_saved_with_fewer_numbers_is_taken_up() -> None:
    index, again = (NearDuplicateIndex(max_pages=100) for _ in range(2))
    index.add(columns(changing(20)), now=NOW)
    saved = {name: np.array(array) for name, array in index.save().items()}
    again.restore(saved | {"numbers": saved["numbers"][:22]})
    assert judged(again, Page(3, 3, 90, Text(4), 4)).match(0).donors
    assert len(again) == 21
