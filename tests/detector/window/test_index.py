"""Near-duplicates against their definition over all pairs, in every order of arrival."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.window.index import NearDuplicateIndex
from reusewatch.detector.window.near_rules import Policy
from tests.detector.window.plain_near import (
    Version,
    agreeing,
    c_of,
    dated,
    near,
    near_copies,
    versions,
)
from tests.detector.window.window_pages import (
    NOW,
    T0,
    TEXTS,
    Page,
    Text,
    base_text,
    columns,
    judged,
    pages,
    policies,
    varied,
)


def reported(index: NearDuplicateIndex, seen: list[Page]) -> set[Version]:
    """The alerts that stand after all were added, each raised at most once and never in vain."""
    alerts: set[Version] = set()
    for page in seen:
        found = judged(index, page)
        change, key = found.change(0), (page.page, page.text.text or page.file)
        if change.near_withdrawn:
            alerts.remove(key)
        raised = [key] if change.near_alert else []
        turns = list(found.turns())
        alerts -= {(t.seen.page, t.seen.text) for t in turns if t.near_withdrawn}
        raised += [(t.seen.page, t.seen.text) for t in turns if t.near_alert]
        assert len(set(raised)) == len(raised)
        alerts.update(raised)
    return alerts


@given(pages, policies, st.booleans(), st.booleans())
@settings(max_examples=500)
def test_near_alerts_are_a_function_of_the_pages_and_not_of_their_order(
    seen: list[Page], policy: Policy, same: bool, other: bool
) -> None:
    index = NearDuplicateIndex(
        max_pages=1_000, policy=policy, near_same_site=same, near_other_site=other
    )
    wanted = near_copies(seen, policy, same_site=same, other_site=other)
    assert reported(index, seen) == wanted
    assert index.cut == 0


@given(pages, policies, st.booleans())
@settings(max_examples=200)
def test_an_alert_names_the_nearest_page_in_a_relation_that_alerts(
    seen: list[Page], policy: Policy, same: bool
) -> None:
    index = NearDuplicateIndex(
        max_pages=1_000, policy=policy, near_same_site=same, near_other_site=not same
    )
    both = NearDuplicateIndex(max_pages=1_000, policy=policy)
    for page in seen:
        match, any_match = judged(index, page).match(0), judged(both, page).match(0)
        assert match.near == any_match.near == any_match.alert
        if match.alert is not None:
            assert match.near is not None
            assert match.alert.same_site == same
            assert (match.alert.c, match.alert.b) <= (match.near.c, match.near.b)
        if match.near is not None and match.near.same_site == same:
            assert match.alert == match.near


@given(pages)
def test_a_page_that_is_as_another_one_was_is_judged_by_its_sketches(seen: list[Page]) -> None:
    index = NearDuplicateIndex(max_pages=1_000)
    for page in seen:
        judged(index, page)
    for page in seen:
        as_it = index.as_seen(
            page.page, T0 + page.at, page=99, site=7, at=T0 + 60, url=b"http://s7.test/99"
        )
        assert as_it is not None
        held = index.version_at(page.page, T0 + page.at)
        assert held is not None
        text = next(p.text for p in seen if p.text.text == held.text)
        plain = Page(99, 7, 60, text, held.file)
        assert index.match(as_it, now=NOW).match(0) == index.match(columns([plain]), now=NOW).match(
            0
        )
    assert index.as_seen(99, None, page=1, site=1, at=T0, url=b"") is None
    assert not index.holds(99)
    assert all(index.holds(page.page) for page in seen)


@given(pages, policies)
@settings(max_examples=200)
def test_the_best_match_is_the_nearest_page_seen_before(seen: list[Page], policy: Policy) -> None:
    index = NearDuplicateIndex(max_pages=1_000, policy=policy)
    held: list[Page] = []
    for page in seen:
        found = judged(index, page).match(0).near
        subject = dated(versions([*held, page]), policy)[page.page, page.text.text or page.file]
        donors = [
            other
            for other in dated(versions(held), policy).values()
            if (other.at, other.page) < (subject.at, subject.page) and near(page, other, policy)
        ]
        assert (found is None) == (not donors)
        own = versions(held)
        held.append(page)
        if found is None:
            continue
        best = min(donors, key=lambda p: (
            -c_of(page.text, p.text), -agreeing(page.text.super8, p.text.super8), p.at, p.page,
            own[p.page, p.text.text].at, p.text.text,
        ))  # fmt: skip
        assert (found.seen.page, found.seen.url, found.seen.text, found.seen.since) == (
            best.page, best.url, best.text.text, T0 + best.at,
        )  # fmt: skip
        assert found.c == c_of(page.text, best.text)
        assert found.b == agreeing(page.text.super8, best.text.super8)
        assert found.same_site == (best.site == page.site)


def state(index: NearDuplicateIndex) -> dict[str, Any]:
    return {name: array.tobytes() for name, array in index.save().items()}


def answers(found: Any) -> Any:
    count = range(len(found))
    return [found.match(i) for i in count], [found.change(i) for i in count], list(found.turns())


@given(pages, st.sampled_from([4, 1_000]))
@settings(max_examples=200)
def test_match_is_pure_and_agrees_with_add(seen: list[Page], size: int) -> None:
    index = NearDuplicateIndex(max_pages=size)
    for page in seen:
        batch = columns([page])
        before = state(index)
        match = index.match(batch, now=NOW).match(0)
        assert state(index) == before
        assert index.add(batch, now=NOW).match(0) == match


@given(pages, st.sampled_from([4, 1_000]))
@settings(max_examples=200)
def test_a_batch_is_judged_as_its_pages_one_by_one(seen: list[Page], size: int) -> None:
    together, alone = (NearDuplicateIndex(max_pages=size) for _ in range(2))
    whole = together.add(columns(seen), now=NOW)
    parts = [answers(judged(alone, page)) for page in seen]
    matches, changes, turned = answers(whole)
    assert matches == [match for part in parts for match in part[0]]
    assert changes == [change for part in parts for change in part[1]]
    told = [(i, t) for i, part in enumerate(parts) for t in part[2]]
    assert [t.by for t in turned] == [i for i, _ in told]
    assert [(t.seen, t.match) for t in turned] == [(t.seen, t.match) for _, t in told]
    assert len(together) == len(alone)


def test_a_batch_larger_than_a_call_is_one_batch() -> None:
    texts = [base_text(seed) for seed in range(700)]
    seen = [Page(i + 1, i % 3, i, texts[i // 2], i // 2 + 1) for i in range(1_400)]
    index = NearDuplicateIndex(max_pages=10_000)
    found = index.add(columns(seen), now=NOW)
    for i, page in enumerate(seen):
        match = found.match(i)
        assert match.copies == i % 2 + 1
        assert [donor.url for donor in match.donors] == ([seen[i - 1].url] if i % 2 else [])
        assert page.page == i + 1
    assert found.pages["by"].max() == -1


@given(pages, st.sampled_from([4, 1_000]))
@settings(max_examples=150)
def test_a_saved_window_answers_like_the_window(seen: list[Page], size: int) -> None:
    half = len(seen) // 2
    one, other = (NearDuplicateIndex(max_pages=size) for _ in range(2))
    one.add(columns(seen[:half]), now=NOW)
    other.restore({name: array.copy() for name, array in one.save().items()})
    assert state(one) == state(other)
    for page in seen[half:]:
        assert answers(judged(one, page)) == answers(judged(other, page))


@given(pages)
def test_adding_pages_twice_changes_nothing(seen: list[Page]) -> None:
    index = NearDuplicateIndex(max_pages=1_000)
    for page in seen:
        judged(index, page)
    held = len(index), index.sets
    again = index.add(columns(seen), now=NOW)
    assert not list(again.turns())
    for i in range(len(seen)):
        change = again.change(i)
        assert not any((change.alert, change.near_alert, change.near_withdrawn, change.evicted))
    assert (len(index), index.sets) == held


@given(pages, st.integers(0, 2**32))
@settings(max_examples=50)
def test_a_fresh_index_and_a_full_one_that_slid_answer_alike(seen: list[Page], seed: int) -> None:
    """What left leaves nothing behind."""
    size = 40
    slid = NearDuplicateIndex(max_pages=size)
    old = [
        Page(1_000 + i, i, -1_000 + i, text, i + 5_000)
        for i, text in enumerate(TEXTS[1:] + [base_text(seed + i) for i in range(30)])
    ]
    slid.add(columns(old), now=NOW)
    away = [Page(5_000 + i, i, -100 + i, base_text(10_000 + i), i + 9_000) for i in range(size)]
    slid.add(columns(away), now=NOW)
    fresh = NearDuplicateIndex(max_pages=size)
    fresh.add(columns(away), now=NOW)
    for page in seen:
        assert judged(slid, page).match(0) == judged(fresh, page).match(0)


@given(st.integers(0, 2**32), st.integers(0, 11))
def test_every_pair_that_differs_in_up_to_eleven_bits_is_found(seed: int, flips: int) -> None:
    base = base_text(seed)
    text = varied(base, seed + 1, 0, 0, flips, 16)
    index = NearDuplicateIndex(max_pages=10)
    judged(index, Page(1, 1, 0, base, 1))
    found = judged(index, Page(2, 2, 1, text, 2)).match(0).near
    assert found is not None
    assert (found.b, found.c) == (0, 384 - flips)


@given(st.integers(0, 2**32), st.integers(2, 6))
def test_every_b_similar_pair_is_found(seed: int, agree: int) -> None:
    base = base_text(seed)
    text = varied(base, seed + 1, agree, 0, 192, 0)
    index = NearDuplicateIndex(max_pages=10, policy=Policy("b"))
    judged(index, Page(1, 1, 0, base, 1))
    found = judged(index, Page(2, 2, 1, text, 2)).match(0).near
    assert found is not None
    assert (found.b, found.c) == (agree, 192)


def test_a_simhash_alone_frames_nobody() -> None:
    """Words appended until the simhash is another page's: no phrase is shared, so no alert."""
    victim = base_text(1)
    forged = varied(victim, 2, 0, 0, 0, 0)
    for policy, framed in ((Policy(), False), (Policy("c", least_shared=0), True)):
        index = NearDuplicateIndex(max_pages=10, policy=policy)
        judged(index, Page(1, 1, 0, victim, 1))
        assert (judged(index, Page(2, 2, 1, forged, 2)).match(0).near is not None) == framed


def test_pages_without_words_are_near_to_nothing() -> None:
    index = NearDuplicateIndex(max_pages=10, policy=Policy("either", least_shared=0))
    short = [Text(number, sample=(9,) * 16) for number in (0, 5, 6)]
    found = index.add(
        columns([Page(i, i, i, text, i + 50) for i, text in enumerate(short + short, 1)]), now=NOW
    )
    assert all(found.match(i).near is None for i in range(6))


def test_a_refetch_with_other_words_is_not_near_to_its_own_page() -> None:
    base = base_text(1)
    index = NearDuplicateIndex(max_pages=10)
    judged(index, Page(1, 1, 0, base, 1))
    assert judged(index, Page(1, 1, 5, varied(base, 2, 6, 6, 0, 16), 2)).match(0).near is None


def test_an_earlier_sighting_withdraws_and_turns() -> None:
    base = base_text(1)
    other = varied(base, 2, 6, 6, 1, 16)
    index = NearDuplicateIndex(max_pages=10)
    judged(index, Page(1, 1, 10, base, 1))
    assert judged(index, Page(2, 2, 20, other, 2)).change(0).near_alert
    found = judged(index, Page(2, 2, 5, other, 2))
    assert found.change(0).near_withdrawn
    (turned,) = found.turns()
    assert turned.near_alert
    assert turned.seen.page == 1
    assert turned.match.near is not None
    assert turned.match.near.seen.page == 2


@pytest.mark.parametrize(
    ("name", "same", "other"),
    [
        ("across", 4, 3),
        ("henzinger", 4, 2),
        ("b", 1, 1),
        ("c", 2, 2),
        ("combined", 4, 4),
        ("either", 3, 3),
    ],
)
def test_policies_are_the_papers(name: str, same: int, other: int) -> None:
    """1: B-similar, 2: C-similar, 4: both, C at the lower threshold."""
    for b in range(7):
        for c in (354, 355, 371, 372):
            kinds = (b >= 2) + 2 * (c >= 372) + 4 * (b >= 2 and c >= 355)
            for wanted, same_site in ((same, True), (other, False)):
                near = Policy(name).near(b, c, 16, same_site=same_site)
                assert near == bool(kinds & wanted)


def test_a_policy_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="no policy 'd'"):
        Policy("d")


def test_a_figure_is_told_with_the_threshold_that_it_passed() -> None:
    """Whichever of B and C is named: it decides, so that lowering it below would undo the pair."""
    for name in ("henzinger", "b", "c", "combined", "either"):
        policy = Policy(name)
        for b in range(7):
            for c in (300, 354, 355, 371, 372, 384):
                for same_site in (False, True):
                    if policy.near(b, c, 16, same_site=same_site):
                        figure, threshold = policy.decided_by(b, c, same_site=same_site)
                        assert figure >= threshold
                        assert figure in (b, c)
