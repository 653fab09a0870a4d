"""The thread between a crawl and its sink: bounded, checkpointed, and honest about failures."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from reusewatch.crawler.live.feeder import Capacity, Feeder
from reusewatch.crawler.live.fetched import Fetched, maker
from reusewatch.crawler.pages.archive_events import Limits
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.bus import BusBroken, Unreachable
from reusewatch.streams.records import DeadLetter, Page
from reusewatch.streams.running.sinks import PageSink
from tests.crawler.live.crawls import until

PATIENCE = 30
MAKE = maker("scrapy:test", HashScheme(1), Limits(max_body_bytes=1 << 20))


class Sink:
    """A sink that waits at a gate, and remembers what it was told."""

    alerts = 0
    untold = 0
    remark = None

    def __init__(self, *, fails_at: int | None = None) -> None:
        self.dead: Counter[str] = Counter()
        self.lost = 0
        self.gate = threading.Event()
        self.put_urls: list[str] = []
        self.calls: list[str] = []
        self.fails_at = fails_at
        self.settled = threading.Event()

    def put(self, page: Page) -> None:
        assert self.gate.wait(PATIENCE)
        if self.fails_at == len(self.put_urls):
            raise BusBroken("the disk is full")
        self.put_urls.append(page.url)

    def bury(self, letter: DeadLetter) -> None:
        self.dead[letter.reason] += 1

    def checkpoint(self) -> None:
        self.calls.append("checkpoint")
        self.settled.set()

    def close(self) -> None:
        self.calls.append("close")

    def abandon(self) -> None:
        self.calls.append("abandon")


def response(number: int, *, content_type: str = "text/html", body: bytes = b"<p>x") -> Fetched:
    return Fetched(
        url=f"http://a.example/{number}", fetched_at=datetime.now(UTC), status=200,
        content_type=content_type, content_encoding="", body=body, ip=None, truncated=False,
    )  # fmt: skip


def feeder(
    sink: Callable[[], PageSink],
    capacity: Capacity | None = None,
    *,
    checkpoint_seconds: float = 3600,
    changed: Callable[[], None] = lambda: None,
    gather_seconds: float = 0.001,
) -> Feeder:
    made = Feeder(
        sink, MAKE, checkpoint_seconds=checkpoint_seconds, changed=changed,
        capacity=capacity or Capacity(), gather_seconds=gather_seconds,
    )  # fmt: skip
    made.start()
    return made


def end(feeder: Feeder) -> None:
    feeder.finish()
    feeder.join()
    assert feeder.closed


@pytest.mark.parametrize("capacity", [Capacity(items=5), Capacity(bytes=5 * 4)])
def test_the_queue_is_bounded_and_says_when_there_is_room(capacity: Capacity) -> None:
    sink, changed = Sink(), threading.Semaphore(0)
    fed = feeder(lambda: sink, capacity, changed=changed.release)
    assert changed.acquire(timeout=PATIENCE), "opened"
    waited = 0
    for number in range(100):
        while not fed.offer(response(number)):
            waited += 1
            sink.gate.set()
            assert changed.acquire(timeout=PATIENCE)
    assert waited
    end(fed)
    assert sink.put_urls == [f"http://a.example/{number}" for number in range(100)]
    assert fed.most_waiting <= 5
    assert fed.account.pages == 100
    assert sink.calls == ["checkpoint", "close"]


@pytest.mark.parametrize("capacity", [Capacity(items=10), Capacity(bytes=10 * 4)])
def test_what_comes_one_by_one_is_handed_on_together(capacity: Capacity) -> None:
    taken: list[int] = []

    class Noting(Sink):
        def put(self, page: Page) -> None:
            taken.append(fed.taken)
            super().put(page)

    sink = Noting()
    fed = feeder(lambda: sink, capacity, gather_seconds=3600)
    sink.gate.set()
    for number in range(6):
        assert fed.offer(response(number))
    end(fed)
    assert taken == [6] * 6, "nothing before the queue is half full"


def test_the_end_is_not_held_up_by_gathering() -> None:
    sink = Sink()
    sink.gate.set()
    fed = feeder(lambda: sink, gather_seconds=3600)
    fed.offer(response(1))
    end(fed)
    assert len(sink.put_urls) == 1


def test_one_item_larger_than_the_queue_fits() -> None:
    sink = Sink()
    sink.gate.set()
    fed = feeder(lambda: sink, Capacity(bytes=1))
    assert fed.offer(response(1))
    end(fed)
    assert len(sink.put_urls) == 1


def test_pages_letters_and_what_is_neither_are_counted_apart() -> None:
    sink = Sink()
    sink.gate.set()
    fed = feeder(lambda: sink)
    fed.offer(response(1))
    fed.offer(response(2, content_type="", body=b"\x89PNG"))
    fed.offer(response(3, content_type="", body=b"<!doctype html>words"))
    fed.offer(response(4, body=b"\x1f\x8b\x08 not gzip \xff\xfe"))
    end(fed)
    account = fed.account
    assert (account.pages, account.not_pages, account.dead_letters) == (2, 1, 1)


def test_what_was_taken_is_settled_before_long() -> None:
    sink = Sink()
    sink.gate.set()
    fed = feeder(lambda: sink, checkpoint_seconds=0.05)
    fed.offer(response(1))
    assert sink.settled.wait(PATIENCE)
    end(fed)


def test_a_sink_that_does_not_open_is_told() -> None:
    def unreachable() -> PageSink:
        raise Unreachable("nobody there")

    fed = feeder(unreachable)
    end(fed)
    assert not fed.opened
    assert isinstance(fed.failure, Unreachable)
    assert fed.offer(response(1)), "nobody waits for it"
    assert fed.account.not_safe == 1


def test_a_sink_that_fails_says_how_much_is_not_safe() -> None:
    sink, changed = Sink(fails_at=2), threading.Event()
    fed = feeder(lambda: sink, Capacity(items=50), changed=changed.set)
    for number in range(10):
        assert fed.offer(response(number))
    sink.gate.set()
    end(fed)
    assert isinstance(fed.failure, BusBroken)
    assert fed.safe() == 0, "nothing that came may be noted as done"
    assert fed.account.not_safe == 10, "none was settled"
    assert sink.calls == ["abandon"]
    assert changed.is_set()


def test_only_what_came_after_a_checkpoint_is_not_safe() -> None:
    sink = Sink(fails_at=1)
    sink.gate.set()
    fed = feeder(lambda: sink, checkpoint_seconds=0.05)
    fed.offer(response(1))
    assert sink.settled.wait(PATIENCE)
    fed.offer(response(2))
    end(fed)
    assert fed.account.not_safe == 1


def test_what_came_with_what_was_given_up_is_not_safe() -> None:
    sink = Sink()
    sink.gate.set()
    fed = feeder(lambda: sink, checkpoint_seconds=0.05)
    fed.offer(response(1))
    until(lambda: fed.safe() == 1)
    assert fed.may_be_safe(3)
    sink.lost = 1  # the bus is away, and `on_trouble` is to go on
    fed.offer(response(2))
    until(lambda: fed.waiting() == 0)
    sink.settled.clear()
    fed.offer(response(3))
    end(fed)
    assert fed.safe() == 1, "those since may be asked for again"
    assert fed.may_be_safe(1)
    assert not fed.may_be_safe(2)
    assert fed.account.lost == 1


@pytest.mark.parametrize("items", [0, -1])
def test_a_queue_without_room_cannot_be(items: int) -> None:
    with pytest.raises(ValueError, match="at least one"):
        Capacity(items=items)
