"""Exact duplicates against their definition, in every order of arrival."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.window.adding import HOUR_US
from reusewatch.detector.window.index import NearDuplicateIndex
from reusewatch.detector.window.sightings import Change, Match
from tests.detector.window.window_pages import NOW, T0, Page, Text, columns, judged


def sighting(page: int, site: int, at: int, text: int, file: int | None = None) -> Page:
    return Page(page, site, at, Text(text), text * 10 if file is None else file)


def match_of(index: NearDuplicateIndex, page: Page) -> Match:
    return index.match(columns([page]), now=NOW).match(0)


def added(index: NearDuplicateIndex, page: Page) -> Change:
    return judged(index, page).change(0)


# Pages 1–12 stand on sites 0–2: a page belongs to one site for good.
sightings = st.lists(
    st.builds(
        lambda page, at, text: sighting(page + 1, page % 3, at, text),
        st.integers(0, 11), st.integers(0, 50), st.integers(0, 3),
    ),
    max_size=30,
)  # fmt: skip


def copies_by_definition(seen: list[Page], *, same_site: bool) -> set[tuple[int, int]]:
    """A copy has an earlier page with its words, of another site; ties go by page id."""
    first: dict[tuple[int, int], tuple[int, int]] = {}
    for s in seen:
        if s.text.text:
            key = (s.page, s.text.text)
            first[key] = (min(first.get(key, (s.at, 0))[0], s.at), s.site)
    return {
        (page, text)
        for (page, text), (at, site) in first.items()
        for (other, words), (then, elsewhere) in first.items()
        if words == text and (then, other) < (at, page) and (same_site or site != elsewhere)
    }


def reported(index: NearDuplicateIndex, seen: list[Page]) -> set[tuple[int, int]]:
    """The alerts that stand after all were added, each raised at most once and never in vain, but
    once more where the page was seen sooner."""
    alerts: set[tuple[int, int]] = set()
    first: dict[tuple[int, int], int] = {}
    for s in seen:
        found = judged(index, s)
        key = (s.page, s.text.text)
        if found.change(0).withdrawn or s.at < first.get(key, s.at):
            alerts.discard(key)
        first[key] = min(s.at, first.get(key, s.at))
        raised = [key] if found.change(0).alert else []
        raised += [(t.seen.page, t.seen.text) for t in found.turns() if t.alert]
        assert not alerts.intersection(raised)
        assert len(set(raised)) == len(raised)
        alerts.update(raised)
    return alerts


@given(sightings, st.booleans())
@settings(max_examples=400)
def test_alerts_are_a_function_of_the_pages_and_not_of_their_order(
    seen: list[Page], same_site: bool
) -> None:
    index = NearDuplicateIndex(max_pages=1_000, same_site=same_site)
    assert reported(index, seen) == copies_by_definition(seen, same_site=same_site)


@given(sightings)
def test_donors_are_earlier_pages_of_other_sites_with_the_same_words(seen: list[Page]) -> None:
    index = NearDuplicateIndex(max_pages=1_000)
    for s in seen:
        match = match_of(index, s)
        judged(index, s)
        assert all((a.first, a.page) < (b.first, b.page) for a, b in pairwise(match.donors))
        for donor in match.donors:
            assert donor.text == s.text.text
            assert (donor.first, donor.page) < (T0 + s.at, s.page)
            assert donor.site != s.site


@given(st.permutations(range(20)), st.integers(1, 10))
def test_the_window_holds_the_newest_pages_whatever_the_order(order: list[int], size: int) -> None:
    index = NearDuplicateIndex(max_pages=size)
    changes = [added(index, sighting(page + 1, page % 3, page, page + 1)) for page in order]
    assert {page + 1 for page in order if index.holds(page + 1)} == set(range(21 - size, 21))
    assert sum(change.evicted for change in changes) == 20 - size
    assert len(index) == index.sets == size


@given(sightings, st.integers(0, 20))
def test_a_window_by_age_expires_exactly(seen: list[Page], age: int) -> None:
    index = NearDuplicateIndex(max_pages=1_000, max_age_us=age)
    last: dict[tuple[int, int], int] = {}
    for s in seen:
        judged(index, s)
        key = (s.page, s.text.text)
        last = {key: at for key, at in last.items() if T0 + at >= index.newest - age}
        if T0 + s.at >= index.newest - age:
            last[key] = max(last.get(key, s.at), s.at)
        assert len(index) == len(last)
        for page in range(1, 13):
            times = [at for (of, _), at in last.items() if of == page]
            now = index.version_at(page, None)
            assert (now and now.last) == (T0 + max(times) if times else None)


def test_an_old_archive_does_not_displace_the_live_window() -> None:
    index = NearDuplicateIndex(max_pages=2)
    judged(index, sighting(1, 1, 100, 7))
    judged(index, sighting(2, 2, 101, 8))
    old = sighting(3, 0, 1, 7)
    assert match_of(index, old).donors == ()
    found = judged(index, old)
    assert found.change(0).late
    # It is the earlier of the two all the same, so that the page of the window is the copy.
    assert [turned.seen.page for turned in found.turns() if turned.alert] == [1]
    assert len(index) == 2
    assert not index.holds(3)


def test_misdated_pages_are_matched_and_never_donors() -> None:
    index = NearDuplicateIndex(max_pages=10)
    judged(index, sighting(1, 1, 0, 7))
    for at in (-T0, NOW - T0 + 2 * HOUR_US):
        page = sighting(2, 2, at, 7)
        assert [donor.page for donor in match_of(index, page).donors] == [1]
        change = added(index, page)
        assert change.misdated
        assert change.alert
    assert len(index) == 1
    assert not match_of(index, sighting(4, 4, 5, 8)).donors


def test_a_refetch_of_an_original_is_no_copy_of_its_mirror() -> None:
    index = NearDuplicateIndex(max_pages=10)
    judged(index, sighting(1, 1, 0, 7))
    assert added(index, sighting(2, 2, 5, 7)).alert
    again = sighting(1, 1, 9, 7)
    found = match_of(index, again)
    assert (found.file, found.text, found.donors, found.copies) == (None, None, (), 1)
    assert (found.near, found.alert) == (None, None)
    assert not added(index, again).alert


def test_pages_without_words_are_the_same_file_at_most() -> None:
    index = NearDuplicateIndex(max_pages=10)
    judged(index, sighting(1, 1, 0, 0, file=5))
    match = match_of(index, sighting(2, 2, 1, 0, file=5))
    assert match.file is not None
    assert match.text is None
    assert match.donors == ()
    empty = sighting(3, 3, 2, 0, file=0)
    judged(index, empty)
    assert match_of(index, empty).file is None


def test_a_superseded_version_is_said_to_be_so() -> None:
    index = NearDuplicateIndex(max_pages=10)
    judged(index, sighting(1, 1, 10, 7))
    assert added(index, sighting(1, 1, 5, 8)).superseded
    assert not added(index, sighting(1, 1, 20, 9)).superseded
    assert added(index, sighting(1, 1, 10, 7)).superseded
    assert added(index, sighting(1, 1, 12, 7)).superseded
    assert not added(index, sighting(1, 1, 30, 9)).superseded


@settings(deadline=None)
@given(sightings, st.sets(st.integers(1, 13)), st.integers(3, 40))
def test_some_pages_were_seen_last_when_the_last_of_them_was(
    seen: list[Page], pages: set[int], most: int
) -> None:
    index = NearDuplicateIndex(max_pages=most)
    for one in seen:
        judged(index, one)
    each = [times[1] for page in pages if (times := index.seen_between(page)) is not None]
    assert index.last_seen(pages) == max(each, default=None)
