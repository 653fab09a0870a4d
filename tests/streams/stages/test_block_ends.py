"""What is said last of a page hangs on no place where a block happened to end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from random import Random

import msgspec
import pytest

from reusewatch.streams import topics
from reusewatch.streams.blocks.format import block_messages, read_block
from reusewatch.streams.records import Page, Verdict
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.stages.similarity import Similarity
from reusewatch.streams.wire import page_message
from tests.pages import BEGIN, SCHEME
from tests.streams.stages.making import NOW, as_message, page_with, zero

PAGES, STEP, SIMILAR = 90, 15, 20


@cache
def crawl() -> list[Page]:
    """Pages that are near to each other, that change, name others, and fail, on a few sites."""
    random = Random(3)
    texts = [[f"w{random.randrange(9_999)}" for _ in range(90)] for _ in range(4)]
    urls = [f"http://s{at % 5}.example/{at}" for at in range(30)]
    pages = []
    for at in range(PAGES):
        words = list(random.choice(texts))
        words[random.randrange(90)] = f"other{at % 7}"
        fetched = BEGIN + timedelta(hours=random.randrange(400))
        one = page_with(random.choice(urls), words, fetched)
        link = f"<a href={random.choice(urls)}>w</a>" * (at % 2)
        status = 404 if random.random() < 0.1 else 200
        pages.append(
            msgspec.structs.replace(one, body=one.body + link.encode(), status=status)
        )  # fmt: skip
    return pages


def stage() -> IndexStage:
    return IndexStage(
        SCHEME, clock=lambda: NOW, max_pages=1000, settle_pages=STEP, rules=Rules(policy="across"),
        similarity=Similarity(SCHEME, max_pages=SIMILAR),
    )  # fmt: skip


def last_said(sizes: Sequence[int], *, restarts: bool = False) -> dict[str | bytes, bytes]:
    """The alerts and verdicts that stand, of the crawl in blocks of these sizes."""
    index, pages, said = stage(), crawl(), {}
    made = FingerprintStage(SCHEME, zero).process([as_message(page_message(x)) for x in pages])
    block = read_block(as_message(made.messages[0]), SCHEME)
    at = 0
    while at < len(pages):
        size = sizes[at % len(sizes)]
        parts = block_messages(block.slice(at, size), SCHEME, 0)
        at += size
        for one in index.process([as_message(part) for part in parts]).messages:
            said[one.topic, one.key] = one.value
        if restarts:
            state, index = index.save(), stage()
            index.restore(state)
    return said


@pytest.mark.parametrize("sizes", [[1], [2, 7, 4], [64]])
@pytest.mark.parametrize("restarts", [False, True])
def test_what_is_said_last_is_the_same(sizes: list[int], restarts: bool) -> None:
    assert last_said(sizes, restarts=restarts) == last_said([STEP])


def test_some_terms_have_left_and_some_have_not() -> None:
    said = [
        msgspec.json.decode(value, type=Verdict)
        for (topic, _), value in last_said([STEP]).items() if topic == topics.VERDICTS and value
    ]  # fmt: skip
    near = [one.near_duplicate for one in said if one.near_duplicate is not None]
    assert {one.mwo is None for one in near} == {True, False}
    assert {one.not_judged for one in said} == {None, "error-page"}
