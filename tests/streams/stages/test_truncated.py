"""A page that is not read to its end says so in every verdict, whatever comes after it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import permutations

import msgspec
import pytest

from reusewatch.streams import topics
from reusewatch.streams.records import Page, Verdict
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.wire import page_message, read_json
from tests.pages import BEGIN, SCHEME
from tests.streams.stages.making import NOW, as_message, page_with, zero

WORDS = [f"w{n}" for n in range(300)]


def page(name: str, words: Sequence[str], *, day: int, truncated: bool = False) -> Page:
    found = page_with(f"http://{name}.example/", words, BEGIN + timedelta(days=day))
    return msgspec.structs.replace(found, truncated=truncated)


ORIGINAL = page("author", WORDS, day=0)
SAME = page("same", WORDS, day=3, truncated=True)
NEAR = page("near", [*WORDS, "more"], day=2, truncated=True)
WHOLE = page("whole", WORDS, day=1)


@pytest.mark.parametrize("order", [*permutations([ORIGINAL, SAME, NEAR, WHOLE])])
@pytest.mark.parametrize("restarts", [False, True])
def test_what_is_cut_is_said_again(order: Sequence[Page], restarts: bool) -> None:
    fingerprint = FingerprintStage(SCHEME, zero)
    index = IndexStage(SCHEME, clock=lambda: NOW, max_pages=100, rules=Rules(policy="across"))
    sent = []
    for one in order:
        for block in fingerprint.process([as_message(page_message(one))]).messages:
            sent += index.process([as_message(block)]).messages
        if restarts:
            index.restore(index.save())
    sent += index.settle().messages
    verdicts = [read_json(as_message(one), Verdict) for one in sent if one.topic == topics.VERDICTS]
    assert {one.url: one.truncated for one in verdicts} == {one.url: one.truncated for one in order}
    assert {(one.url, one.truncated) for one in verdicts} == {
        (one.url, one.truncated) for one in order
    }
