"""What a hostile page costs, byte for byte, is a few times what a plain page of its size does.

From its bytes to its verdict, through the stages that `replay`, `work` and the add-on's judge run.
CPU time and memory are compared within one process; the bounds are generous.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from functools import cache
from random import Random

import msgspec
import pytest

from reusewatch.streams import topics
from reusewatch.streams.records import Page
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.wire import page_message
from tests.fuzzing.blocks import stages
from tests.pages import SCHEME, Fetch, page_of
from tests.streams.stages.making import as_message, zero

SIZE = 1 << 18
SLOWER, LARGER = 8, 6


def filled(piece: bytes, before: bytes = b"<p>") -> bytes:
    return (before + piece * (SIZE // len(piece) + 1))[:SIZE]


@cache
def plain() -> bytes:
    random = Random(5)
    words = (f"word{random.randrange(20_000)}" for _ in range(SIZE // 8))
    return ("<p>" + " ".join(words))[:SIZE].encode()


def links() -> bytes:
    every = (b"<a href=http://s%d.example/%d>w%d</a> " % (n % 97, n, n) for n in range(SIZE // 30))
    return b"".join(every)[:SIZE]


ATTACKS: dict[str, Callable[[], bytes]] = {
    "nesting": lambda: filled(b"<div>"),
    "inline nesting": lambda: filled(b"<b><i>x"),
    "attributes on one tag": lambda: filled(b" a=b", b"<p"),
    "one attribute": lambda: filled(b"x", b'<p title="'),
    "a style without end": lambda: filled(b"display:none;", b'<p style="'),
    "comments that begin": lambda: filled(b"<!--"),
    "quotes that end nowhere": lambda: filled(b"<a b='"),
    "references": lambda: filled(b"&amp;&notit;&#x41;"),
    "one word": lambda: filled(b"word "),
    "one letter": lambda: filled(b"a "),
    "one word of all letters": lambda: filled(b"a"),
    "letters without spaces": lambda: filled("漢".encode()),
    "marks on one letter": lambda: filled("\u0301".encode(), b"<p>x"),
    "nothing": lambda: filled(b"\0"),
    "no text": lambda: filled(b"\xff\xfe\x80"),
    "short paragraphs": lambda: filled(b"<p>a"),
    "links to everywhere": links,
    "links in links": lambda: filled(b"<a href=//a.b/>x"),
    "pictures": lambda: filled(b"<img src=//a.b/x.png>"),
    "hidden words": lambda: filled(b"<i hidden>word </i>"),
    "words in disguise": lambda: filled("сорy ｗord ".encode()),
}


def judged(body: bytes) -> None:
    """From the page to what is said of it."""
    page: Page = msgspec.structs.replace(page_of(Fetch(1, 1, 1, 1)), body=body)
    fingerprint = FingerprintStage(SCHEME, zero, grams="sampled")
    sent = fingerprint.process([as_message(page_message(page))]).messages
    blocks = [as_message(one) for one in sent]
    assert [one.topic for one in sent] == [topics.FINGERPRINTS]
    for stage in stages():
        assert stage.process(blocks).pages == 1
        stage.settle()


def seconds(body: bytes) -> float:
    spent = []
    for _ in range(2):
        before = time.process_time()
        judged(body)
        spent.append(time.process_time() - before)
    return min(spent)


def peak(body: bytes) -> int:
    tracemalloc.start()
    try:
        judged(body)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@cache
def of_plain() -> tuple[float, int]:
    judged(plain())
    return seconds(plain()), peak(plain())


@pytest.mark.parametrize("name", ATTACKS)
def test_a_hostile_page_costs_a_few_times_a_plain_one(name: str) -> None:
    body = ATTACKS[name]()
    assert len(body) <= SIZE
    least, size = of_plain()
    assert seconds(body) < SLOWER * least
    assert peak(body) < LARGER * size
