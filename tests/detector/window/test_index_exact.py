"""Exact duplicates in the array index against the plain index, page by page."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.window.index import NearDuplicateIndex
from tests.detector.window import plain_duplicates
from tests.detector.window.plain_duplicates import DuplicateIndex
from tests.detector.window.plain_window import Sighting
from tests.detector.window.window_pages import NOW, T0, Page, Text, columns, judged, pages


def plain(page: Page) -> Sighting:
    return Sighting(page.page, page.url, page.site, T0 + page.at, page.text.text, page.file, 0, 9)


def facts(seen: Any) -> Any:
    if seen is None:
        return None
    return seen.page, seen.url, seen.first, seen.last, seen.text, seen.start, seen.end


def of_match(match: Any) -> Any:
    donors = [facts(donor) for donor in match.donors]
    return facts(match.file), facts(match.text), donors, match.copies


def of_change(change: Any) -> Any:
    return (change.alert, change.withdrawn, change.superseded, change.late, change.misdated,
            change.evicted)  # fmt: skip


def of_turned(turned: Any) -> Any:
    seen, match = facts(turned.seen), of_match(turned.match)
    return repr((seen, match, turned.alert, turned.superseded))


def exact_turns(found: Any) -> list[str]:
    """What was turned by the exact sets: a near page turns too, and keeps its exact match."""
    return sorted(of_turned(turned) for turned in found)


@given(
    pages, st.booleans(), st.sampled_from([3, 1_000]), st.sampled_from([None, 20]),
    st.sampled_from([1, 2, 64]),
    st.lists(st.sampled_from([0, 0, 0, -(1 << 51), 1 << 54]), min_size=30, max_size=30),
)  # fmt: skip
@settings(max_examples=600)
def test_exact_duplicates_are_those_of_the_plain_index(
    seen: list[Page], same_site: bool, size: int, age: int | None, versions: int,
    shifts: list[int],
) -> None:  # fmt: skip
    seen = [
        Page(p.page, p.site, 40 * p.at + i + shift, Text(p.text.text % 5), p.file % 4)
        for i, (p, shift) in enumerate(zip(seen, shifts, strict=False))
    ]
    options: dict[str, Any] = {
        "max_pages": size, "max_age_us": age and age * 40, "same_site": same_site,
        "max_versions": versions,
    }  # fmt: skip
    index, twin = NearDuplicateIndex(**options), DuplicateIndex(**options)
    for page in seen:
        sighting = plain(page)
        expected = of_match(twin.match(sighting, now=NOW))
        assert of_match(index.match(columns([page]), now=NOW).match(0)) == expected
        found, change = judged(index, page), twin.add(sighting, now=NOW)
        assert of_match(found.match(0)) == expected
        assert of_change(found.change(0)) == of_change(change)
        assert exact_turns(found.turns()) == exact_turns(change.turned)
        assert len(index) == len(twin.window)
        assert index.sets == len(twin.texts)
        for number in range(1, 13):
            at = twin.window.version_at(number, T0 + 20)
            mine = index.version_at(number, T0 + 20)
            assert facts(mine) == (None if at is None else facts(twin._seen(at)))


def test_the_hour_and_the_web_begin_where_they_did() -> None:
    assert (plain_duplicates.HOUR_US, plain_duplicates.WEB_BEGINS_US) == (
        3_600_000_000,
        631_152_000_000_000,
    )
    assert np.int64(NOW) > T0
