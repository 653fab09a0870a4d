"""A scraper of content that nobody labeled becomes a bad neighborhood, and nobody else does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from random import Random

import msgspec
import pytest

from reusewatch.detector.neighborhoods.reuse import reused_prefixes
from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.streams import topics
from reusewatch.streams.records import Alert, Page
from reusewatch.streams.stages.fingerprinting import GRAM_SAMPLES, FingerprintStage
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.stages.quilting import Quilting
from reusewatch.streams.stages.reusing import Reusing
from reusewatch.streams.steering.places import Places
from reusewatch.streams.url_sets import UrlSet
from reusewatch.streams.wire import alert_message, page_message
from tests.pages import BEGIN, SCHEME
from tests.streams.stages.making import NOW, as_message, page_with, zero

_DRAWN = Random(21)


def words(size: int) -> list[str]:
    return [f"w{_DRAWN.randrange(30_000)}" for _ in range(size)]


def page(site: str, path: str, text: Sequence[str], *, day: float = 0.0) -> Page:
    url, fetched = f"http://{site}.example/{path}", BEGIN + timedelta(days=day)
    return page_with(url, text, fetched, source="reuse")


TEXTS = [words(300) for _ in range(16)]
ORIGINALS = [page("author", f"essays/{at}", text) for at, text in enumerate(TEXTS)]
# Four of each kind: whole, with other navigation, a part of the page.
STOLEN = [
    page("scraper", f"hoard/{at}", [text, [*text, *words(4)], [*text[:200], *words(150)]][at % 3],
         day=3)
    for at, text in enumerate(TEXTS[:14])
]  # fmt: skip
OWN_OF_SHOP = [page("shop", f"blog/{at}", words(300)) for at in range(60)]
OWN = [page("scraper", f"diary/{at}", words(300)) for at in range(60)]


OWNED = Rules(policy="across", near_own=0.3, owned=UrlSet(("author.example",)))


def alerts_of(pages: Sequence[Page], rules: Rules | None = None) -> list[Alert]:
    return judged(pages, rules)[0]


def judged(pages: Sequence[Page], rules: Rules | None = None) -> tuple[list[Alert], IndexStage]:
    fingerprint = FingerprintStage(SCHEME, zero, grams="sampled")
    index = IndexStage(
        SCHEME, clock=lambda: NOW, max_pages=1000, settle_pages=30,
        rules=rules or Rules(policy="across", near_own=0.3),
        quilting=Quilting(SCHEME, QuiltRules(), sample=GRAM_SAMPLES["sampled"], max_bytes=1 << 24),
        reusing=Reusing(SCHEME, min_files=10, threshold=0.3, least_new=20),
    )  # fmt: skip
    sent = []
    for at in range(0, len(pages), 5):
        messages = [as_message(page_message(one)) for one in pages[at : at + 5]]
        for block in fingerprint.process(messages).messages:
            sent += index.process([as_message(block)]).messages
            state = index.save()
            index.restore(state)
    sent += index.settle().messages
    last = {
        one.key: msgspec.json.decode(one.value, type=Alert)
        for one in sent if one.topic == topics.ALERTS and one.value
    }  # fmt: skip
    return [alert for alert in last.values() if alert.kind == "bad-neighborhood"], index


def test_who_asks_is_told_how_many_pages_of_a_prefix_are_copies() -> None:
    _, index = judged([*ORIGINALS, *STOLEN, *OWN])
    index.restore(index.save(), question="reused")
    rows = index.answer("reused", {"files": "2"})
    hoarded = {"prefix": "http://scraper.example/hoard/", "files": 14, "reused": 14, "open": True}
    of_all = {"prefix": "http://scraper.example/", "files": 74, "reused": 14, "open": False}
    assert rows[:2] == [hoarded, of_all]
    assert len(rows) == 2
    assert index.answer("reused", {"top": "1"}) == rows[:1]
    hoard = {"under": "http://Scraper.example/hoard"}
    assert index.answer("reused", hoard) == rows[:1]
    named = {"also": "http://scraper.example/diary/ http://unknown.example/"}
    diary = {"prefix": "http://scraper.example/diary/", "files": 60, "reused": 0, "open": False}
    assert index.answer("reused", named | {"top": "1"}) == [rows[0], diary]
    assert index.answer("reused", named) == [diary]
    assert index.answer("reused", named | {"under": "http://scraper.example/diary"}) == [diary]
    assert index.answer("reused", {"under": "http://unknown.example/"}) == []


@pytest.mark.parametrize("seed", range(3))
def test_a_scraper_of_what_nobody_labeled_is_a_bad_neighborhood(seed: int) -> None:
    pages = [*ORIGINALS, *STOLEN, *OWN]
    Random(seed).shuffle(pages)
    opened = [alert for alert in alerts_of(pages, OWNED) if alert.state == "open"]
    (alert,) = (one for one in opened if one.prefix == "http://scraper.example/hoard/")
    assert opened == [alert]
    assert (alert.reused_by, alert.threshold, alert.severity) == ("reuse", 0.3, "warning")
    assert alert.fetched_at == STOLEN[0].fetched_at
    assert alert.reused is not None
    assert alert.files == 14
    assert 13 <= alert.reused <= 14  # told again when its share has moved by a tenth
    assert alert.figure == round(alert.reused / 14, 4)
    assert {one.url for one in alert.evidence} <= {one.url for one in STOLEN}


def test_originals_that_were_crawled_minutes_after_their_mirrors_are_none() -> None:
    mirrored = [page("mirror", f"m/{at}", text) for at, text in enumerate(TEXTS)]
    soon = [page("author", f"essays/{at}", text, day=0.01) for at, text in enumerate(TEXTS)]
    assert alerts_of([*mirrored, *soon]) == []


def test_who_may_copy_is_none() -> None:
    allowed = Rules(policy="across", near_own=0.3, allowed=UrlSet(("scraper.example",)))
    assert alerts_of([*ORIGINALS, *STOLEN], allowed) == []


@pytest.mark.parametrize("own", [60, 12, 0])
def test_copies_behind_a_query_at_the_root_are_their_host_where_they_are_most_of_it(
    own: int,
) -> None:
    stolen = [page("shop", f"?p={at}", text, day=3) for at, text in enumerate(TEXTS[:14])]
    told = alerts_of([*ORIGINALS, *stolen, *OWN_OF_SHOP[:own]], OWNED)
    alerts = [alert for alert in told if alert.state == "open"]
    assert [alert.prefix for alert in alerts] == ([] if own == 60 else ["http://shop.example/"])
    places = Places()
    for alert in alerts:
        places.take(as_message(alert_message(alert)))
    kept = [row.prefix for row in places.at(NOW)]
    assert kept == ([] if own == 60 else ["http://shop.example/"])


@pytest.mark.parametrize(("prefix", "figure", "kept"), [
    ("http://shop.example/", 0.49, False), ("http://shop.example/", 0.5, True),
    ("http://shop.example/a/", 0.31, True),
])  # fmt: skip
def test_a_whole_host_is_kept_out_of_from_half_of_it_on(
    prefix: str, figure: float, kept: bool
) -> None:
    (alert,) = alerts_of([*ORIGINALS, *STOLEN], OWNED)
    told = as_message(alert_message(msgspec.structs.replace(alert, prefix=prefix, figure=figure)))
    by_default, lowered = Places(), Places(unsure=True)
    for places in (by_default, lowered):
        places.take(told)
    assert [row.prefix for row in by_default.at(NOW)] == [prefix] * kept
    assert [(row.prefix, row.sure) for row in lowered.at(NOW)] == [(prefix, kept)]


@pytest.mark.parametrize("seed", range(3))
def test_copies_of_owned_pages_are_told_beside_those_that_were_only_seen_later(seed: int) -> None:
    # What the host has in its other directory may be its own.
    others = [page("other", f"{at}", words(300)) for at in range(14)]
    copied = [
        msgspec.structs.replace(
            page("scraper", f"blog/{at}", [], day=3), body=one.body, origin=one.origin
        )
        for at, one in enumerate(others)
    ]
    pages = [*ORIGINALS, *STOLEN, *others, *copied, *OWN[:20]]
    Random(seed).shuffle(pages)
    opened = [one for one in alerts_of(pages, OWNED) if one.state == "open"]
    told = {one.prefix: (one.severity, one.direction and one.direction.by) for one in opened}
    assert told["http://scraper.example/hoard/"] == ("warning", "owned")
    assert {said for prefix, said in told.items() if prefix != "http://scraper.example/hoard/"} == {
        ("info", "first-seen")
    }


def test_the_outermost_prefix_is_told_and_stays_until_it_is_well_below() -> None:
    pages = [(f"http://a.example/x/y/{at}", at < 12) for at in range(14)]
    (found,) = reused_prefixes(pages, min_files=10, threshold=0.3)
    assert (found.prefix, found.files, found.reused) == ("http://a.example/", 14, 12)
    diluted = [*pages, *((f"http://a.example/x/z/{at}", False) for at in range(32))]
    (inner,) = reused_prefixes(diluted, min_files=10, threshold=0.3)
    assert inner.prefix == "http://a.example/x/y/"
    (kept,) = reused_prefixes(diluted, min_files=10, threshold=0.3, told=["http://a.example/"])
    assert kept.prefix == "http://a.example/"
    assert reused_prefixes(pages[:9], min_files=10, threshold=0.3) == []
