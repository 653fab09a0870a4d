"""A page that changes a little stays the original: since when its versions count as seen."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.window.index import NearDuplicateIndex
from reusewatch.detector.window.near_rules import Policy
from reusewatch.detector.window.sightings import Change, Match, Turned
from tests.detector.window.plain_near import Version, copies, near_copies
from tests.detector.window.window_pages import (
    NOW,
    T0,
    Page,
    Text,
    base_text,
    columns,
    judged,
    pages,
    policies,
    varied,
)

BASE = base_text(1)
CHANGED = varied(BASE, 2, 6, 6, 3, 16)
CHANGED_AGAIN = varied(BASE, 3, 6, 6, 5, 16)
ORIGINAL, MIRROR = 1, 2


def standing(
    index: NearDuplicateIndex, seen: list[Page], of_owned: set[tuple[str, Version]] | None = None
) -> set[tuple[str, Version]]:
    """The alerts of both kinds that stand after all pages were added; which of them were sent last
    with an owned original."""
    alerts: set[tuple[str, Version]] = set()
    told = set() if of_owned is None else of_owned
    said: dict[tuple[str, Version], tuple[int, int | None]] = {}

    def follow(key: Version, what: Change | Turned, match: Match) -> None:
        for kind, raised, withdrawn in (
            ("duplicate", "alert", "withdrawn"),
            ("near-duplicate", "near_alert", "near_withdrawn"),
        ):
            if getattr(what, withdrawn):
                alerts.remove((kind, key))
                told.discard((kind, key))
            if getattr(what, raised):
                donor = match.donors[0] if kind == "duplicate" else match.alert and match.alert.seen
                assert donor is not None
                since = what.seen.first if isinstance(what, Turned) else page.at + T0, match.since
                # Once more where it counts as seen sooner, or has an owned original now.
                assert (
                    (kind, key) not in alerts
                    or (donor.owned and (kind, key) not in told)
                    or since != said[kind, key]
                )
                said[kind, key] = since
                alerts.add((kind, key))
                if donor.owned:
                    told.add((kind, key))

    for page in seen:
        found = judged(index, page)
        follow((page.page, page.text.text or page.file), found.change(0), found.match(0))
        for turned in found.turns():
            follow((turned.seen.page, turned.seen.text), turned, turned.match)
    return alerts


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_an_original_that_changes_is_no_copy_of_its_mirror(order: tuple[int, ...]) -> None:
    seen = [Page(ORIGINAL, 1, 0, BASE, 1), Page(MIRROR, 2, 10, BASE, 1),
            Page(ORIGINAL, 1, 20, CHANGED, 2)]  # fmt: skip
    index = NearDuplicateIndex(max_pages=100)
    assert standing(index, [seen[at] for at in order]) == {("duplicate", (MIRROR, BASE.text))}


@pytest.mark.parametrize("order", [*permutations(range(4))])
def test_a_mirror_that_was_fetched_first_after_a_change_is_still_the_copy(
    order: tuple[int, ...],
) -> None:
    seen = [Page(ORIGINAL, 1, 0, BASE, 1), Page(MIRROR, 2, 10, CHANGED, 2),
            Page(ORIGINAL, 1, 20, CHANGED, 2), Page(3, 3, 15, CHANGED_AGAIN, 3)]  # fmt: skip
    index = NearDuplicateIndex(max_pages=100)
    wanted = {("duplicate", (MIRROR, CHANGED.text)), ("near-duplicate", (3, CHANGED_AGAIN.text))}
    assert standing(index, [seen[at] for at in order]) == wanted
    (donor,) = index.match(columns([seen[1]]), now=NOW).match(0).donors
    assert (donor.page, donor.first, donor.since) == (ORIGINAL, T0 + 20, T0)


def test_no_date_is_inherited_by_way_of_versions_between() -> None:
    """By drift a thief would come to another's text with a date of long ago."""
    far = varied(BASE, 5, 0, 0, 40, 16)
    half = list(BASE.simhash)
    changed = [bit for bit in range(384) if (BASE.simhash[bit // 64] ^ far.simhash[bit // 64])
               >> bit % 64 & 1]  # fmt: skip
    drift = []
    for step in range(0, 40, 8):
        for bit in changed[step : step + 8]:
            half[bit // 64] ^= 1 << bit % 64
        drift.append(Text(1_000 + step, simhash=tuple(half), sample=BASE.sample))
    assert drift[-1].simhash == far.simhash
    thief = [Page(9, 9, at, text, 70 + at) for at, text in enumerate([BASE, *drift])]
    index = NearDuplicateIndex(max_pages=100)
    index.add(columns(thief[:-1]), now=NOW)
    victim = Page(4, 4, 4, drift[-1], 8)
    judged(index, victim)
    found = judged(index, thief[-1])
    assert found.change(0).alert
    assert found.match(0).donors[0].page == victim.page


def test_a_version_without_a_date_is_as_old_as_the_one_that_it_is_near_to() -> None:
    index = NearDuplicateIndex(max_pages=100)
    index.add(columns([Page(ORIGINAL, 1, 0, BASE, 1), Page(MIRROR, 2, 10, BASE, 1)]), now=NOW)
    assert not judged(index, Page(ORIGINAL, 1, -(1 << 52), CHANGED, 2)).change(0).near_alert
    assert judged(index, Page(3, 3, -(1 << 52), CHANGED, 2)).change(0).near_alert


@given(pages, policies, st.randoms(use_true_random=False))
@settings(max_examples=400)
def test_alerts_of_both_kinds_are_those_of_the_definition_in_any_order(
    seen: list[Page], policy: Policy, random: Random
) -> None:
    wanted = {("near-duplicate", key) for key in near_copies(seen, policy)}
    wanted |= {("duplicate", key) for key in copies(seen, policy)}
    for _ in range(2):
        index = NearDuplicateIndex(max_pages=1_000, policy=policy)
        assert standing(index, seen) == wanted
        seen = list(seen)
        random.shuffle(seen)


def test_versions_of_one_file_and_one_date_find_their_places() -> None:
    """The same bytes under another charset are other words; both count as seen at once."""
    index = NearDuplicateIndex(max_pages=100)
    texts = [BASE, *(varied(BASE, seed, 6, 6, 2, 16) for seed in range(10, 40))]
    seen = [Page(1, 1, at % 3, text, 5) for at, text in enumerate(texts)]
    index.add(columns(seen), now=NOW)
    away = [Page(50 + i, 3, 500 + i, base_text(900 + i), 900 + i) for i in range(100)]
    index.add(columns(away), now=NOW)
    assert len(index) == 100
    assert not index.holds(1)
