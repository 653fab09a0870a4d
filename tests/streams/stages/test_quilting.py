"""Quilts and partial copies on the stream: found with their donors, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from random import Random

import msgspec
import pytest

from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.records import Alert, Page, Verdict
from reusewatch.streams.stages.fingerprinting import GRAM_SAMPLES, FingerprintStage
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.stages.quilting import Quilting
from reusewatch.streams.url_sets import UrlSet
from reusewatch.streams.wire import page_message
from tests.pages import BEGIN, SCHEME
from tests.streams.stages.making import NOW, as_message, page_with, zero

SOURCES, WORDS = 6, 600
_DRAWN = Random(3)


def sentence(size: int) -> list[str]:
    return [f"w{_DRAWN.randrange(30_000)}" for _ in range(size)]


TEXTS = [sentence(WORDS) for _ in range(SOURCES)]
OWN_WORDS = [sentence(WORDS) for _ in range(4)]


def page(site: str, name: str, words: list[str], *, day: float = 0.0) -> Page:
    url, fetched = f"http://{site}.example/{name}", BEGIN + timedelta(days=day)
    return page_with(url, words, fetched, source="quilts")


QUILT = [word for text in TEXTS[:5] for word in text[100:220]] + OWN_WORDS[0][:100]
PART = TEXTS[5][200:440] + OWN_WORDS[1][:360]
PAGES = [
    *(page(f"source{at}", "original", text) for at, text in enumerate(TEXTS)),
    page("thief", "quilt", QUILT, day=3),
    page("lender", "part", PART, day=3),
    page("honest", "own", OWN_WORDS[2], day=3),
    # A blog's home page: made of the articles of its own site.
    *(page("blog", f"article{at}", text) for at, text in enumerate(map(sentence, [400] * 5))),
]
BLOG = page(
    "blog",
    "",
    [word for one in PAGES[-5:] for word in one.body.decode()[3:-4].split()[:100]],
    day=2,
)


def stage(grams: str, settle_pages: int = 30, owned: Sequence[str] = ()) -> IndexStage:
    quilting = Quilting(
        SCHEME, QuiltRules(), sample=GRAM_SAMPLES[grams], max_bytes=1 << 24,
    )  # fmt: skip
    return IndexStage(
        SCHEME, clock=lambda: NOW, max_pages=1000,
        rules=Rules(policy="across", near_own=0.3, owned=UrlSet(owned)),
        quilting=quilting, settle_pages=settle_pages,
    )  # fmt: skip


def told(sent: list[Outgoing]) -> tuple[dict[str, Alert], dict[str, Verdict]]:
    """The alerts of these kinds by id, and the last verdict of each URL."""
    alerts = [
        msgspec.json.decode(one.value, type=Alert)
        for one in sent if one.topic == topics.ALERTS and one.value
    ]  # fmt: skip
    verdicts = [
        msgspec.json.decode(one.value, type=Verdict)
        for one in sent if one.topic == topics.VERDICTS and one.value
    ]  # fmt: skip
    kinds = ("quilt", "partial-copy")
    return {one.id: one for one in alerts if one.kind in kinds}, {one.url: one for one in verdicts}


def run(
    pages: list[Page],
    grams: str,
    *,
    restarts: bool = False,
    settle: int = 30,
    owned: Sequence[str] = (),
) -> list[Outgoing]:
    fingerprint = FingerprintStage(SCHEME, zero, grams=grams)
    index = stage(grams, settle, owned)
    sent: list[Outgoing] = []
    for at in range(0, len(pages), 3):
        messages = [as_message(page_message(one)) for one in pages[at : at + 3]]
        blocks = fingerprint.process(messages).messages
        sent += index.process([as_message(one) for one in blocks]).messages
        if restarts:
            state = index.save()
            index = stage(grams, settle, owned)
            index.restore(state)
    return sent + index.settle().messages


@pytest.mark.parametrize("grams", ["all", "sampled"])
def test_a_quilt_and_a_partial_copy_are_found_with_their_donors_and_nothing_else(
    grams: str,
) -> None:
    alerts, verdicts = told(run([*PAGES, BLOG], grams))
    found = {one.kind: one for one in alerts.values()}
    assert {one.url: one.kind for one in alerts.values()} == {
        "http://thief.example/quilt": "quilt",
        "http://lender.example/part": "partial-copy",
    }
    quilt, part = found["quilt"], found["partial-copy"]
    assert {one.url for one in quilt.donors} == {PAGES[at].url for at in range(5)}
    assert quilt.figure == pytest.approx(600 / 700, abs=0.08)
    assert [one.url for one in part.donors] == [PAGES[5].url]
    assert part.figure == pytest.approx(0.4, abs=0.08)
    assert (quilt.severity, part.severity) == ("warning", "warning")
    assert quilt.direction is not None
    assert (quilt.direction.original, quilt.direction.by) == ("there", "first-seen")
    verdict = verdicts["http://lender.example/part"]
    assert verdict.within is not None
    assert verdict.within.url == PAGES[5].url
    assert max(verdict.within.here, verdict.within.there) == part.figure
    assert verdict.within.there == pytest.approx(0.4, abs=0.1)
    quilted = verdicts["http://thief.example/quilt"].quilt
    assert quilted is not None
    assert (quilted.patch_fraction, quilted.cover) == (quilt.figure, 5)


def test_patches_are_where_the_words_stand_on_both_pages() -> None:
    alerts, _ = told(run(PAGES, "all"))
    (quilt,) = (one for one in alerts.values() if one.kind == "quilt")
    bodies = {one.url: one.body for one in PAGES}
    assert len(quilt.evidence) == 5
    for row in quilt.evidence:
        assert row.donor is not None
        here = bodies["http://thief.example/quilt"][row.start : row.end]
        there = bodies[row.donor][row.donor_start : row.donor_end]
        assert here == there
        assert len(here.split()) == 120


def test_alerts_are_the_same_in_any_order_and_over_restarts() -> None:
    wanted, _ = told(run([*PAGES, BLOG], "sampled"))
    for seed in range(3):
        pages = [*PAGES, BLOG]
        Random(seed).shuffle(pages)
        found, _ = told(run(pages, "sampled", restarts=seed == 1))
        assert found.keys() == wanted.keys()
        for one, alert in found.items():
            assert (alert.figure, alert.donors) == (wanted[one].figure, wanted[one].donors)


def test_copies_within_a_crawl_accuse_nobody_and_owned_pages_are_never_quilts() -> None:
    soon = [*PAGES[:6], page("thief", "quilt", QUILT, day=0.1)]
    (alert,) = told(run(soon, "all"))[0].values()
    assert (alert.severity, alert.direction and alert.direction.original) == ("info", "unknown")


def test_a_page_put_before_owned_sources_hides_nothing_of_who_has_it_from_them() -> None:
    thief = page("thief", "quilt", QUILT, day=3)
    decoy = page("decoy", "d", QUILT[:240], day=2.999)
    owned = [f"source{at}.example" for at in range(5)]
    alerts = told(run([*PAGES[:6], decoy, thief], "all", owned=owned))[0].values()
    (alert,) = (one for one in alerts if (one.url, one.kind) == (thief.url, "quilt"))
    assert decoy.url in {one.url for one in alert.donors[1:]}
    assert (alert.severity, alert.direction and alert.direction.by) == ("warning", "owned")


def test_what_is_a_copy_as_a_whole_is_no_part() -> None:
    copy = page("mirror", "copy", TEXTS[0], day=3)
    assert not told(run([*PAGES[:6], copy], "all"))[0]


def test_a_near_duplicate_of_one_page_is_a_part_of_another_besides() -> None:
    book, draw = sentence(1500), Random(5)
    excerpt = book[300:600]
    first = excerpt[:-4] + [f"v{draw.randrange(30_000)}" for _ in range(4)]
    pages = [page("book", "b", book), page("first", "q", first, day=1)]
    sent = run([*pages, page("second", "q", excerpt, day=3)], "all")
    alerts, verdicts = told(sent)
    assert {one.url: one.donors[0].url for one in alerts.values()} == {
        "http://first.example/q": pages[0].url, "http://second.example/q": pages[0].url,
    }  # fmt: skip
    near = verdicts["http://second.example/q"].near_duplicate
    assert near is not None
    assert near.url == pages[1].url
    assert near.own is not None
    assert near.own >= 0.5


def test_a_sites_template_on_its_own_pages_is_no_patch() -> None:
    template = sentence(300)
    mine = [page("docs", f"{at}", template + sentence(60), day=3) for at in range(12)]
    theirs = page("other", "seen", template + sentence(60))
    found, _ = told(run([theirs, *mine], "all"))
    assert not found
