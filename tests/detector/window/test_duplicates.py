"""Exact duplicates against their definition, in every order of arrival."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.detector.window.plain_duplicates import HOUR_US, WEB_BEGINS_US, DuplicateIndex, Match
from tests.detector.window.plain_window import MAX_VERSIONS, Sighting

T0 = WEB_BEGINS_US + 1_000 * HOUR_US
NOW = T0 + 1_000 * HOUR_US


def sighting(page: int, site: int, at: int, text: int, file: int | None = None) -> Sighting:
    return Sighting(
        page, f"http://s{site}.test/{page}", site, T0 + at, text, file or text * 10, 0, 9
    )


# Pages 0–11 stand on sites 0–2: a page belongs to one site for good.
sightings = st.lists(
    st.builds(
        lambda page, at, text: sighting(page + 1, page % 3, at, text),
        st.integers(0, 11), st.integers(0, 50), st.integers(0, 3),
    ),
    max_size=30,
)  # fmt: skip


def copies_by_definition(seen: list[Sighting], *, same_site: bool) -> set[tuple[int, int]]:
    """A copy has an earlier page with its words, of another site; ties go by page id."""
    first: dict[tuple[int, int], tuple[int, int]] = {}
    for s in seen:
        if s.text:
            key = (s.page, s.text)
            first[key] = (min(first.get(key, (s.at, 0))[0], s.at), s.site)
    return {
        (page, text)
        for (page, text), (at, site) in first.items()
        for (other, words), (then, elsewhere) in first.items()
        if words == text and (then, other) < (at, page) and (same_site or site != elsewhere)
    }


def reported(index: DuplicateIndex, seen: list[Sighting]) -> set[tuple[int, int]]:
    """The alerts that stand after all were added, each raised at most once and never in vain."""
    alerts: set[tuple[int, int]] = set()
    for s in seen:
        change = index.add(s, now=NOW)
        key = (s.page, s.text)
        if change.withdrawn:
            alerts.remove(key)
        raised = [key] if change.alert else []
        raised += [(t.seen.page, t.seen.text) for t in change.turned if t.alert]
        assert not alerts.intersection(raised)
        assert len(set(raised)) == len(raised)
        alerts.update(raised)
    return alerts


@given(sightings, st.booleans())
@settings(max_examples=400)
def test_alerts_are_a_function_of_the_pages_and_not_of_their_order(
    seen: list[Sighting], same_site: bool
) -> None:
    index = DuplicateIndex(max_pages=1_000, same_site=same_site)
    assert reported(index, seen) == copies_by_definition(seen, same_site=same_site)


@given(sightings)
@settings(max_examples=200)
def test_match_is_pure_and_agrees_with_add(seen: list[Sighting]) -> None:
    index = DuplicateIndex(max_pages=1_000)
    for s in seen:
        before = [list(column) for column in index.window.columns()]
        match = index.match(s, now=NOW)
        assert match == index.match(s, now=NOW)
        assert before == [list(column) for column in index.window.columns()]
        change = index.add(s, now=NOW)
        assert not change.alert or match.donors


@given(sightings)
def test_donors_are_earlier_pages_of_other_sites_with_the_same_words(seen: list[Sighting]) -> None:
    index = DuplicateIndex(max_pages=1_000)
    for s in seen:
        match = index.match(s, now=NOW)
        index.add(s, now=NOW)
        orders = [(donor.first, donor.page) for donor in match.donors]
        assert all(a < b for a, b in pairwise(orders))
        for donor in match.donors:
            assert donor.text == s.text
            assert donor.page != s.page
            assert (donor.first, donor.page) < (s.at, s.page)
            assert (donor.page - 1) % 3 != s.site


def live_by_definition(seen: list[Sighting], count: int) -> set[tuple[int, int]]:
    """All that was ever seen fits: the newest by their last sighting."""
    last: dict[tuple[int, int], int] = {}
    for s in seen:
        key = (s.page, s.text)
        last[key] = max(last.get(key, s.at), s.at)
    return set(sorted(last, key=lambda key: -last[key])[:count])


@given(st.permutations(range(20)), st.integers(1, 10))
def test_the_window_holds_the_newest_pages_whatever_the_order(order: list[int], size: int) -> None:
    seen = [sighting(page + 1, page % 3, page, page + 1) for page in order]
    index = DuplicateIndex(max_pages=size)
    changes = [index.add(s, now=NOW) for s in seen]
    held = {(index.window.page[row], index.window.text[row]) for row in index.window.live()}
    assert held == live_by_definition(seen, size)
    assert sum(change.evicted for change in changes) == 20 - size
    assert len(index.texts) == size


@given(sightings, st.integers(0, 20))
def test_a_window_by_age_expires_exactly(seen: list[Sighting], age: int) -> None:
    index = DuplicateIndex(max_pages=1_000, max_age_us=age)
    for s in seen:
        index.add(s, now=NOW)
        window = index.window
        oldest = min((window.last[row] for row in window.live()), default=window.newest)
        assert oldest >= window.newest - age


def test_an_old_archive_does_not_displace_the_live_window() -> None:
    index = DuplicateIndex(max_pages=2)
    index.add(sighting(1, 1, 100, 7), now=NOW)
    index.add(sighting(2, 2, 101, 8), now=NOW)
    old = sighting(3, 0, 1, 7)
    assert index.match(old, now=NOW).donors == ()
    change = index.add(old, now=NOW)
    assert change.late
    # It is the earlier of the two all the same, so that the page of the window is the copy.
    assert [turned.seen.page for turned in change.turned if turned.alert] == [1]
    assert len(index.window) == 2
    assert index.window.version(3, 7, 70) is None


def test_misdated_pages_are_matched_and_never_donors() -> None:
    index = DuplicateIndex(max_pages=10)
    index.add(sighting(1, 1, 0, 7), now=NOW)
    for at in (0, NOW + 2 * HOUR_US):
        page = Sighting(page=2, url="http://b.test/", site=2, at=at, text=7, file=70)
        assert [donor.page for donor in index.match(page, now=NOW).donors] == [1]
        change = index.add(page, now=NOW)
        assert change.misdated
        assert change.alert
    assert len(index.window) == 1
    assert not index.match(sighting(4, 4, 5, 8), now=NOW).donors


def test_a_refetch_of_an_original_is_no_copy_of_its_mirror() -> None:
    index = DuplicateIndex(max_pages=10)
    index.add(sighting(1, 1, 0, 7), now=NOW)
    assert index.add(sighting(2, 2, 5, 7), now=NOW).alert
    again = sighting(1, 1, 9, 7)
    assert index.match(again, now=NOW) == Match(None, None, (), 2)
    assert index.add(again, now=NOW).alert is False


def test_pages_without_words_are_the_same_file_at_most() -> None:
    index = DuplicateIndex(max_pages=10)
    index.add(sighting(1, 1, 0, 0, file=5), now=NOW)
    match = index.match(sighting(2, 2, 1, 0, file=5), now=NOW)
    assert match.file is not None
    assert match.text is None
    assert match.donors == ()
    empty = Sighting(page=3, url="http://c.test/", site=3, at=T0 + 2, text=0, file=0)
    index.add(empty, now=NOW)
    assert index.match(empty, now=NOW).file is None


def test_a_superseded_version_is_said_to_be_so() -> None:
    index = DuplicateIndex(max_pages=10)
    index.add(sighting(1, 1, 10, 7), now=NOW)
    change = index.add(sighting(1, 1, 5, 8), now=NOW)
    assert change.superseded
    assert not index.add(sighting(1, 1, 20, 9), now=NOW).superseded
    assert index.add(sighting(1, 1, 10, 7), now=NOW).superseded
    assert index.add(sighting(1, 1, 12, 7), now=NOW).superseded
    assert not index.add(sighting(1, 1, 30, 9), now=NOW).superseded


def test_a_million_copies_cost_no_more_each_than_ten() -> None:
    """Steps are counted, not seconds: each arrival looks at a bounded number of rows."""
    index = DuplicateIndex(max_pages=50_000)
    looked = 0
    order = index.window.order

    def counting(row: int) -> tuple[int, int]:
        nonlocal looked
        looked += 1
        return order(row)

    index.window.order = counting  # type: ignore[method-assign]
    for number in range(20_000):
        seen = sighting(number + 1, number % 2, 20_000 - number, 7)
        index.match(seen, now=NOW)
        index.add(seen, now=NOW)
    assert looked < 20_000 * 150


def test_versions_of_one_url_are_bounded() -> None:
    index = DuplicateIndex(max_pages=1_000)
    for number in range(1, 300):
        index.add(sighting(1, 1, number, number), now=NOW)
        index.add(sighting(number + 1, 2, number, number), now=NOW)
    assert len(list(index.window.versions(1))) == MAX_VERSIONS
    assert len(index.window) == MAX_VERSIONS + 299
    newest = {index.window.text[row] for row in index.window.versions(1)}
    assert newest == set(range(300 - MAX_VERSIONS, 300))
    for number in range(300, 1_300):
        index.add(sighting(number + 1, 2, number, number), now=NOW)
    assert len(index.window) == 1_000
