"""What has settled: a template is no copy, an article in many templates is, in any order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import chain
from random import Random

import msgspec
import pytest

from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.streams import topics
from reusewatch.streams.blocks.subject import Subject
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.records import Alert, Origin, Page, Verdict
from reusewatch.streams.running.recent_pages import RecentPages
from reusewatch.streams.stages.fingerprinting import GRAM_SAMPLES, FingerprintStage
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.stages.quilting import Quilting
from reusewatch.streams.stages.settling import STEP, Settling, Waiting
from reusewatch.streams.wire import page_message
from tests.pages import BEGIN, SCHEME
from tests.streams.stages.making import NOW, as_message, page_with, zero
from tests.streams.stages.test_reusing import page as page_of_day

_DRAWN = Random(14)
SETTLE = 200


def words(size: int) -> list[str]:
    return [f"w{_DRAWN.randrange(40_000)}" for _ in range(size)]


def page(site: str, name: str, *parts: Sequence[str]) -> Page:
    url = f"http://{site}.example/{name}"
    fetched = BEGIN + timedelta(seconds=hash_of(url))
    return page_with(url, chain(*parts), fetched, source="settled")


def hash_of(url: str) -> int:
    return SCHEME.of_text(url) % 100_000


def run(
    pages: Sequence[Page], near_own: float = 0.3, *, settle: int = SETTLE, restarts: bool = False
) -> tuple[dict[str, Alert], dict[str, Verdict]]:
    """The alerts of these pages by id, as they stand in the end, and the last verdicts."""
    fingerprint, index = FingerprintStage(SCHEME, zero, grams="sampled"), _stage(near_own, settle)
    sent: list[Outgoing] = []
    for at in range(0, len(pages), 7):
        messages = [as_message(page_message(one)) for one in pages[at : at + 7]]
        for block in fingerprint.process(messages).messages:
            sent += index.process([as_message(block)]).messages
        if restarts and at % 3 == 0:
            state = index.save()
            index = _stage(near_own, settle)
            index.restore(state)
    sent += index.settle().messages
    alerts: dict[str, Alert] = {}
    verdicts = {}
    for one in sent:
        if one.topic == topics.ALERTS and one.value:
            alert = msgspec.json.decode(one.value, type=Alert)
            alerts[alert.id] = alert
        elif one.topic == topics.ALERTS:
            alerts.pop((one.key or b"").decode(), None)
        elif one.topic == topics.VERDICTS and one.value:
            verdict = msgspec.json.decode(one.value, type=Verdict)
            verdicts[verdict.url] = verdict
    return alerts, verdicts


def _stage(near_own: float, settle: int, read_origin: RecentPages | None = None) -> IndexStage:
    return IndexStage(
        SCHEME, clock=lambda: NOW, max_pages=1000, settle_pages=settle, read_origin=read_origin,
        rules=Rules(policy="across", near_own=near_own),
        quilting=Quilting(
            SCHEME, QuiltRules(), sample=GRAM_SAMPLES["sampled"], max_bytes=1 << 24
        ),
    )  # fmt: skip


def kinds(alerts: dict[str, Alert]) -> dict[str, str]:
    return {alert.url or "": alert.kind for alert in alerts.values()}


def _split(hosts: int, count: int) -> list[Page]:
    """Pages of one documentation on so many hosts: of each all but a few words are its frame."""
    frame = words(400)
    return [
        page(f"docs{at % hosts}", f"{at}", frame[:200], words(6), frame[200:])
        for at in range(count)
    ]


TEMPLATES = {"two hosts": _split(2, 75), "few pages a host": _split(8, 24), "small": _split(2, 6)}
ARTICLE = words(400)
ON_MANY = [
    page(f"paper{site}", f"{name}", body, *frame)
    for site in range(40)
    for frame in [[words(8)]]
    for name, body in (("article", ARTICLE), ("other", words(300)), ("more", words(300)))
]


@pytest.mark.parametrize("name", TEMPLATES)
def test_pages_that_share_their_frame_alone_alert_nowhere(name: str) -> None:
    pages = TEMPLATES[name]
    assert "near-duplicate" in kinds(run(pages, near_own=0.0)[0]).values()
    alerts, verdicts = run(pages)
    assert alerts == {}
    own = [v.near_duplicate.own for v in verdicts.values() if v.near_duplicate is not None]
    assert sum(share is not None for share in own) > len(pages) // 2
    assert all(share is None or share < 0.3 for share in own)


def test_an_article_on_many_sites_each_in_a_frame_of_its_own_alerts_on_all_but_the_first() -> None:
    alerts, _ = run(ON_MANY)
    earliest = min((one for one in ON_MANY if one.url.endswith("article")), key=_first)
    assert kinds(alerts) == {
        one.url: "near-duplicate" for one in ON_MANY
        if one.url.endswith("article") and one is not earliest
    }  # fmt: skip
    assert all(alert.own is not None and alert.own > 0.8 for alert in alerts.values())


def _first(one: Page) -> tuple[object, str]:
    return one.fetched_at, one.id


def test_a_copy_within_a_shared_frame_alerts_alone() -> None:
    frame, told = words(300), words(120)
    pages = [page(f"docs{at % 2}", f"{at}", frame, words(120)) for at in range(40)]
    pages += [page("docs0", "original", frame, told), page("docs1", "copy", frame, told, words(2))]
    alerts, _ = run(pages)
    assert len(alerts) == 1
    (alert,) = alerts.values()
    assert {alert.url, *(one.url for one in alert.donors)} == {one.url for one in pages[-2:]}


def _twice(pages: Sequence[Page]) -> list[tuple[set[str], dict[str, Verdict]]]:
    """What is told of these pages, and once more when they come again: ids of alerts, verdicts."""
    fingerprint, index = FingerprintStage(SCHEME, zero, grams="sampled"), _stage(0.3, SETTLE)
    messages = [as_message(page_message(one)) for one in pages]
    blocks = [as_message(block) for block in fingerprint.process(messages).messages]
    told = []
    for _ in range(2):
        sent = [*index.process(blocks).messages, *index.settle().messages]
        verdicts = [
            msgspec.json.decode(one.value, type=Verdict)
            for one in sent if one.topic == topics.VERDICTS and one.value
        ]  # fmt: skip
        alerts = {str(one.key) for one in sent if one.topic == topics.ALERTS}
        told.append((alerts, {one.url: one for one in verdicts}))
    return told


def test_pages_that_come_again_are_told_no_more() -> None:
    # Its own: whether two pages are near hangs on every word, and tests run in any order.
    drawn = Random(8)

    def some(size: int) -> list[str]:
        return [f"w{drawn.randrange(40_000)}" for _ in range(size)]

    frame, told = some(300), some(200)
    pages = [page(f"docs{at % 2}", f"{at}", frame, some(200)) for at in range(40)]
    pages += [page("docs0", "original", frame, told)]
    # Most of a page is its frame: what two have of their own makes them near, or one a part.
    near = page("docs1", "copy", frame, told[:199], some(1))
    part = page("docs1", "part", frame, told[:170], some(30))
    for copy, kind in ((near, "near-duplicate"), (part, "partial-copy")):
        (first, before), (again, after) = _twice([*pages, copy])
        assert {alert.kind for alert in run([*pages, copy])[0].values()} == {kind}
        assert (len(first), again) == (1, set())
        assert after == before


_MORE = Random(5)


def more(size: int) -> list[str]:
    return [f"w{_MORE.randrange(30_000)}" for _ in range(size)]


SECTIONS = [
    page(f"docs{at % 2}", f"{at}", frame[:200], more(6), frame[200:])
    for frames in [[more(400) for _ in range(6)]]
    for at, frame in ((at, frames[at // 2 % 6]) for at in range(144))
]
LONG = [
    page(f"big{at % 2}", f"{at}", menu[:30_000], more(60), menu[30_000:])
    for menu in [more(60_000)]
    for at in range(8)
]


def test_a_part_of_a_site_has_a_template_of_its_own() -> None:
    before, after = len(run(SECTIONS, near_own=0.0)[0]), len(run(SECTIONS)[0])
    # A sample of 32 pages of a site has four of a sixth of them nine times of ten.
    assert before > len(SECTIONS) * 0.8
    assert after < before / 10


def test_a_menu_of_many_thousand_words_is_a_template_from_end_to_end() -> None:
    assert run(LONG, near_own=0.0)[0]
    assert run(LONG)[0] == {}


def _moved(late: Sequence[str], *, early: Sequence[str]) -> Alert:
    """A page of the author's, a copy of it two months after, and the author's at a new address."""
    again = page_of_day("author", "new", late, day=90)
    old = page_of_day("author", "old", early, day=0)
    copy = page_of_day("mirror", "copy", [*ARTICLE, *more(3)], day=60)
    alerts, _ = run([old, copy, again])
    return next(one for one in alerts.values() if one.url == again.url)


def test_a_site_that_moves_a_page_and_changes_it_a_little_is_no_copy_of_its_mirror() -> None:
    moved = _moved([*ARTICLE, *more(2)], early=ARTICLE).direction
    assert moved is not None
    assert (moved.original, moved.by) == ("here", "first-seen")
    # Another page in the same frame, or with half of the text, says nothing of this one.
    other = _moved([*ARTICLE, *more(2)], early=more(400)).direction
    assert other is not None
    assert (other.original, other.by) == ("there", "first-seen")


@pytest.fixture(scope="module")
def everything() -> list[Page]:
    return [*TEMPLATES["two hosts"], *TEMPLATES["few pages a host"], *ON_MANY[:45]]


@pytest.mark.parametrize("seed", range(3))
def test_alerts_are_the_same_in_any_order_and_over_restarts(
    everything: list[Page], seed: int
) -> None:
    wanted, _ = run(everything)
    shuffled = list(everything)
    Random(seed).shuffle(shuffled)
    found, _ = run(shuffled, settle=SETTLE + 50 * seed, restarts=seed == 1)
    assert {one: found[one].own for one in found} == {one: wanted[one].own for one in wanted}


def test_a_near_duplicate_waits_and_a_copy_does_not() -> None:
    pages = [ON_MANY[0], ON_MANY[3], page("mirror", "copy", ARTICLE, _frame_of(ON_MANY[0]))]
    fingerprint, index = FingerprintStage(SCHEME, zero, grams="sampled"), _stage(0.3, 3)
    blocks = [
        as_message(block)
        for one in pages
        for block in fingerprint.process([as_message(page_message(one))]).messages
    ]
    said = [
        [one.headers and one.topic for one in index.process([block]).messages].count(topics.ALERTS)
        for block in blocks
    ]
    assert said[:2] == [0, 0]
    assert said[2] > 0
    assert [one.topic for one in index.settle().messages].count(topics.ALERTS) == 1


@pytest.mark.parametrize("settles", [False, True])
def test_a_page_that_waits_is_held_until_it_has_settled(settles: bool) -> None:
    made = TEMPLATES["small"]
    pages = [
        msgspec.structs.replace(one, origin=Origin(source="docs", offset=at))
        for at, one in enumerate(made)
    ]
    recent = RecentPages(lambda origin: made[0], most_bytes=1 << 20)
    index, fingerprint = _stage(0.3, 20, recent), FingerprintStage(SCHEME, zero, grams="sampled")
    for one in pages:
        recent.saw(one)
    messages = [as_message(page_message(one)) for one in pages]
    index.process([as_message(one) for one in fingerprint.process(messages).messages])
    other = msgspec.structs.replace(pages[0], body=bytes(1 << 20))
    recent.saw(msgspec.structs.replace(other, origin=Origin(source="other", offset=0)))
    if settles:
        index.settle()
    assert any(recent(one.origin) is one for one in pages) != settles


def _frame_of(one: Page) -> list[str]:
    return one.body.decode()[3:-4].split()[len(ARTICLE) :]


def _subject(number: int) -> Subject:
    return Subject(number, f"http://a.example/{number}", "a.example", "a.example", number, number,
                   0, 1, False, False, None, None, 0)  # fmt: skip


def _numbers(waited: Sequence[Waiting]) -> Iterator[int]:
    return (subject.page for one in waited for subject in one.near)


@pytest.mark.parametrize("restarts", [False, True])
def test_what_waits_is_handed_out_once_by_the_positions_of_its_own_partition(
    restarts: bool,
) -> None:
    settling, said = Settling(8), []
    for number in range(12):
        settling.wait("a", Waiting(near=(_subject(number),)))
        settling.wait("b", Waiting(near=(_subject(100 + number),)))
        settled, ended = settling.passed("a", 4)
        said.append(list(_numbers(settled)))
        assert ended == (number % 2 == 1)
        if restarts:
            state = settling.save()
            settling = Settling(8)
            settling.restore(state)
    # Steps of eight positions, two blocks each; a step settles when the next one has ended.
    assert said == [[], [], [], [0, 1], [], [2, 3], [], [4, 5], [], [6, 7], [], [8, 9]]
    assert list(_numbers(settling.all())) == [10, 11, *range(100, 112)]
    assert (list(settling.all()), len(settling)) == ([], 0)


@pytest.mark.parametrize(("settle", "step"), [(0, STEP), (8, 8), (600, STEP), (2000, STEP)])
def test_no_part_of_a_block_goes_past_a_step(settle: int, step: int) -> None:
    settling, at = Settling(settle), 0
    for pages in (step - 3, 1, 2, 5, 3 * step, 0, 7):
        parts = settling.parts("a", pages)
        assert [n for part in parts for n in part] == list(range(pages))
        for part in parts:
            assert at % step + len(part) <= step
            at += len(part)
            assert settling.passed("a", len(part))[1] == (at % step == 0)
