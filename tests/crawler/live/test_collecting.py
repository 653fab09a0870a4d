"""What is there when a crawl begins is left alone by the collector of cycles, until its end."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from reusewatch.crawler.live.collecting import LeftAlone


@pytest.fixture(autouse=True)
def nothing_is_set_apart() -> Iterator[None]:
    """A command that another test ran in this process sets all apart when it ends."""
    gc.unfreeze()
    yield
    gc.unfreeze()


class Knot:
    def __init__(self) -> None:
        self.self = self


def test_what_is_there_is_left_alone_and_given_back() -> None:
    before, gone = Knot(), Knot()
    unused = weakref.ref(gone)
    del gone
    crawl, other = LeftAlone(), LeftAlone()
    crawl.begin()
    try:
        assert unused() is None, "what was no longer used is not kept"
        other.begin()
        left = weakref.ref(before)
        del before
        gc.collect()
        assert left() is not None
        during = weakref.ref(Knot())
        gc.collect()
        assert during() is None, "what a crawl makes is freed as ever"
        crawl.end()
        assert gc.get_freeze_count(), "the other still runs"
    finally:
        other.end()
        crawl.end()
    assert gc.get_freeze_count() == 0
    gc.collect()
    assert left() is None


def test_what_a_process_has_set_apart_itself_stays_so() -> None:
    gc.freeze()
    count = gc.get_freeze_count()
    try:
        crawl = LeftAlone()
        crawl.begin()
        crawl.end()
        assert gc.get_freeze_count() == count
    finally:
        gc.unfreeze()
