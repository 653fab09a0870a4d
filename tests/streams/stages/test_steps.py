"""What settles in mid-stream is judged by positions of the log, wherever blocks end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import cycle
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.streams import topics
from reusewatch.streams.blocks.format import block_messages, read_block
from reusewatch.streams.bus import Message
from reusewatch.streams.records import Alert, Origin, Page, Verdict
from reusewatch.streams.stages.discovering import Discovering
from reusewatch.streams.stages.discovering import Rules as Worth
from reusewatch.streams.stages.fingerprinting import GRAM_SAMPLES, FingerprintStage
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.stages.quilting import Quilting
from reusewatch.streams.wire import page_message
from tests.pages import SCHEME
from tests.streams.stages.making import NOW, as_message, zero
from tests.streams.stages.test_settling import page

SETTLE, PAGES, TEXTS = 20, 120, 15
_COMMON = b"<p>" + b" ".join(b"everywhere%d" % n for n in range(20)) + b"</p>"
Found = tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]


def episode(name: str, random: Random) -> list[Page]:
    """Pages made of parts of each other on a few sites: as more come, more of them have a part, so
    that what is a patch, or a template, changes from page to page."""
    texts = [[f"w{random.randrange(40_000)}" for _ in range(60)] for _ in range(TEXTS)]

    def part() -> list[str]:
        begin = random.randrange(30)
        return random.choice(texts)[begin : begin + 30]

    pages = [
        page(
            f"{name}{random.randrange(8)}", f"{at}", *(part() for _ in range(random.randint(1, 5)))
        )
        for at in range(PAGES)
    ]
    return [
        msgspec.structs.replace(
            one, body=one.body + _COMMON * (at % 2), origin=Origin(source=name, offset=at)
        )
        for at, one in enumerate(pages)
    ]


def stage(pages: Sequence[Page]) -> IndexStage:
    """With too little evidence for all, and content that is told again as more pages have it."""
    rules = QuiltRules(m=12, c=2, template=3)
    read = {one.origin: one for one in pages}.__getitem__
    worth = Worth(pages=2, file_pages=100, sites=1, length=10)
    return IndexStage(
        SCHEME, clock=lambda: NOW, max_pages=1000, settle_pages=SETTLE, read_origin=read,
        rules=Rules(policy="across", near_own=0.3, evidence_pairs=2),
        quilting=Quilting(SCHEME, rules, sample=GRAM_SAMPLES["all"], max_bytes=1 << 24),
        discovering=Discovering(SCHEME, worth, window_pages=1000, read_origin=read),
    )  # fmt: skip


def judged(
    pages: Sequence[Page], sizes: Sequence[int], *, restarts: bool = False, at_once: int = 1
) -> Found:
    """Alerts by id and last verdicts by URL, of pages in blocks of these sizes, in turn; so many
    blocks come together."""
    index, sent, at, turn = stage(pages), [], 0, cycle(sizes)
    waiting: list[Message] = []
    made = FingerprintStage(SCHEME, zero, grams="all").process(
        [as_message(page_message(one)) for one in pages]
    )
    (whole,) = made.messages
    block = read_block(as_message(whole), SCHEME)
    while at < len(pages):
        size = next(turn)
        parts = block_messages(block.slice(at, size), SCHEME, 0)
        at += size
        waiting += map(as_message, parts)
        if len(waiting) < at_once and at < len(pages):
            continue
        output = index.process(waiting)
        assert not output.dead
        sent += output.messages
        waiting = []
        if restarts and at % 3 == 0:
            state, index = index.save(), stage(pages)
            index.restore(state)
    sent += index.settle().messages
    alerts, verdicts = {}, {}
    for one in sent:
        if one.topic == topics.ALERTS and one.value:
            alert = msgspec.json.decode(one.value, type=Alert)
            alerts[alert.id] = msgspec.to_builtins(alert)
        elif one.topic == topics.ALERTS:
            alerts.pop(one.key, None)
        elif one.topic == topics.VERDICTS and one.value:
            verdict = msgspec.json.decode(one.value, type=Verdict)
            verdicts[verdict.url] = msgspec.to_builtins(verdict)
    return alerts, verdicts


@cache
def stream() -> tuple[list[Page], Found]:
    pages = episode("stream", Random(7))
    return pages, judged(pages, [64])


@settings(max_examples=5)
@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=6), st.booleans(), st.sampled_from([1, 3, 50])
)
def test_any_blocks_and_restarts_judge_alike(
    sizes: list[int], restarts: bool, at_once: int
) -> None:
    pages, wanted = stream()
    assert judged(pages, sizes, restarts=restarts, at_once=at_once) == wanted


def test_the_stream_has_what_hangs_on_its_moment() -> None:
    pages, (alerts, _) = stream()
    assert {alert["kind"] for alert in alerts.values()} >= {"quilt", "partial-copy"}
    assert {alert.get("evidence_missing") for alert in alerts.values()} == {None, "budget"}
    assert any(alert.get("approximate") for alert in alerts.values())
    # Judged in the end, other pages are quilts: so the test above could fail.
    moved, _ = judged(list(reversed(pages)), [64])
    assert moved.keys() != alerts.keys()


@pytest.mark.parametrize("seed", range(2))
def test_alert_ids_hang_on_no_order_within_what_settles(seed: int) -> None:
    """Of each page all that it hangs on comes within `SETTLE` pages of it."""
    random = Random(99)
    episodes = [episode(name, random)[:SETTLE] for name in ("one", "two", "three", "four")]
    wanted, _ = judged([one for some in episodes for one in some], [64])
    assert {alert["kind"] for alert in wanted.values()} >= {"quilt", "partial-copy"}
    draw = Random(seed)
    shuffled = [one for some in episodes for one in draw.sample(some, len(some))]
    found, _ = judged(shuffled, [draw.randrange(1, 30) for _ in range(4)])
    assert found.keys() == wanted.keys()
