"""What stands in the end is the same in whatever order pages came, but for when it was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise, permutations
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.records import Alert, Origin, Page
from reusewatch.streams.stages.fingerprinting import GRAM_SAMPLES, FingerprintStage
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.stages.quilting import Quilting
from reusewatch.streams.stages.reusing import Reusing
from reusewatch.streams.url_sets import UrlSet
from reusewatch.streams.wire import page_message
from tests.pages import SCHEME
from tests.streams.stages.making import NOW, as_message, zero
from tests.streams.stages.test_direction import naming
from tests.streams.stages.test_quilting import page

_DRAWN = Random(5)
NEWS, RECIPE, MANUAL, LETTER, FRAME = (
    [f"w{_DRAWN.randrange(30_000)}" for _ in range(500)] for _ in range(5)
)
SOURCE = page("cook", "recipe", RECIPE, day=1)
ORIGINAL, MIRROR, READER = (
    page("paper", "news", NEWS), page("mirror", "news", NEWS, day=2),
    page("reader", "news", NEWS, day=2.001),
)  # fmt: skip
PAGES = [
    ORIGINAL, MIRROR, READER,
    # The paper's own page, moved, and the mirror's, fetched again and before.
    page("paper", "moved", NEWS, day=4), page("mirror", "news", NEWS, day=5),
    page("mirror", "news", NEWS, day=1.5),
    page("near", "soon", NEWS[:-2] + LETTER[:2], day=1), page("near", "late", NEWS[3:], day=6),
    page("early", "copy", RECIPE, day=0.5), SOURCE,
    naming(page("fan", "copy", RECIPE, day=3), SOURCE),
    page("thief", "copy", MANUAL), page("owner", "manual", MANUAL, day=3),
    page("other", "copy", MANUAL, day=5), page("other", "near", MANUAL[2:], day=4),
    page("part", "half", NEWS[:250] + LETTER[:250], day=7), page("letters", "one", LETTER, day=2),
    # In its frame a page is a near-copy of more than it has without.
    *(page("docs", f"{n}", FRAME[:300] + RECIPE[150 * n :][:150]) for n in range(3)),
    page("docs", "3", FRAME[:300] + LETTER[300:460]),
    page("again", "3", FRAME[:300] + LETTER[300:456], day=2),
]  # fmt: skip
# Where a page can be read again, and what of it is quoted, is said of the one that came.
OF_ITS_MOMENT = ("detected_at", "origin", "evidence", "evidence_missing")


def stage(settle: int, max_pages: int = 1000) -> IndexStage:
    return IndexStage(
        SCHEME, clock=lambda: NOW, max_pages=max_pages, settle_pages=settle,
        rules=Rules(policy="across", near_own=0.3, owned=UrlSet(["owner.example"])),
        quilting=Quilting(
            SCHEME, QuiltRules(), sample=GRAM_SAMPLES["sampled"], max_bytes=1 << 24
        ),
        reusing=Reusing(SCHEME, min_files=1, threshold=0.2, least_new=1000),
    )  # fmt: skip


def standing(sent: Iterable[Outgoing]) -> Mapping[str, Mapping[str, Any]]:
    """The alerts that stand, by their ids."""
    last = {one.key: one.value for one in sent if one.topic == topics.ALERTS}
    found = {}
    for key, value in last.items():
        alert = msgspec.to_builtins(msgspec.json.decode(value, type=Alert)) if value else {}
        for donor in alert.get("donors", ()):
            del donor["origin"]
        if alert and alert["state"] == "open":
            found[key] = {k: v for k, v in alert.items() if k not in OF_ITS_MOMENT}
    return found


def replayed(
    archives: Iterable[Sequence[Page]], settle: int = 1000, *, rests: bool = False,
    max_pages: int = 1000,
) -> Mapping[str, Mapping[str, Any]]:  # fmt: skip
    """The alerts that stand when these were replayed: one after the other, or each by itself."""
    fingerprint, index = FingerprintStage(SCHEME, zero, grams="sampled"), stage(settle, max_pages)
    sent: list[Outgoing] = []
    for number, pages in enumerate(archives):
        placed = [
            msgspec.structs.replace(one, origin=Origin(source=f"{number}.warc", offset=at))
            for at, one in enumerate(pages)
        ]
        made = fingerprint.process([as_message(page_message(one)) for one in placed]).messages
        sent += index.process(list(map(as_message, made))).messages
        if rests:
            sent += index.settle().messages
            saved, index = index.save(), stage(settle, max_pages)
            index.restore(saved)
    return standing([*sent, *index.settle().messages])


@cache
def wanted() -> Mapping[str, Mapping[str, Any]]:
    return replayed([sorted(PAGES, key=lambda one: one.fetched_at)])


def cut(order: Sequence[int], ends: Iterable[int]) -> list[list[Page]]:
    """The pages of these numbers as archives that end at these places."""
    places = [0, *sorted(ends), len(order)]
    return [[PAGES[at] for at in order[begin:end]] for begin, end in pairwise(places)]


_order = st.permutations(range(len(PAGES)))
_ends = st.sets(st.integers(1, len(PAGES) - 1))


@given(_order, _ends)
@settings(max_examples=60)
def test_all_alerts_are_the_same_in_any_order_and_archives(
    order: list[int], ends: set[int]
) -> None:
    # In two steps, of which the first settles with the last page.
    assert replayed(cut(order, ends), settle=len(PAGES) // 2) == wanted()


@given(_order, _ends, st.sampled_from([1, 5, 1000]), st.booleans())
@settings(max_examples=60)
def test_copies_are_told_alike_however_far_apart_they_come(
    order: list[int], ends: set[int], settle: int, rests: bool
) -> None:
    found = replayed(cut(order, ends), settle, rests=rests)
    assert _copies(found) == _copies(wanted())


def test_what_was_told_of_a_copy_stands_where_its_donors_have_left_the_window() -> None:
    copy = page("reader", "news", NEWS, day=10)
    pages = [ORIGINAL, copy, page("f", "1", RECIPE, day=4), page("f", "2", MANUAL, day=4.5)]
    # Of its own site, which makes it no copy, and before it.
    earlier = page("reader", "moved", NEWS, day=5)
    (alert,) = replayed([[*pages, earlier]], max_pages=3).values()
    assert (alert["url"], alert["donors"][0]["url"]) == (copy.url, ORIGINAL.url)


def _copies(alerts: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {key: alert for key, alert in alerts.items() if alert["kind"] == "duplicate"}


def test_the_pages_have_what_may_hang_on_an_order() -> None:
    alerts = wanted().values()
    kinds = {alert["kind"] for alert in alerts}
    assert kinds == {"duplicate", "near-duplicate", "partial-copy", "bad-neighborhood"}
    told = {(alert["direction"] or {}).get("by") for alert in alerts}
    assert told == {None, "owned", "declared", "first-seen"}
    assert {alert["severity"] for alert in alerts} == {"info", "warning"}


@pytest.mark.parametrize("order", [*permutations([ORIGINAL, MIRROR, READER])])
def test_who_has_it_from_whom_is_said_of_the_original_whenever_that_comes(
    order: tuple[Page, ...],
) -> None:
    alerts = replayed([order]).values()
    for copy in (MIRROR, READER):
        (alert,) = (one for one in alerts if one["url"] == copy.url)
        assert alert["donors"][0]["url"] == ORIGINAL.url
        assert (alert["severity"], alert["direction"]["by"]) == ("warning", "first-seen")
