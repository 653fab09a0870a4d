"""How many requests wait: of one site, and of all; what was left out has its turn later."""

from __future__ import annotations

import pytest
from scrapy.http import Request
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler

from reusewatch.crawler.live import queueing
from reusewatch.crawler.live.queueing import CUT, BoundedQueue


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> BoundedQueue:
    monkeypatch.setattr(queueing, "MOST_OF_SITE", 3)
    monkeypatch.setattr(queueing, "MOST", 5)
    plain = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}
    crawler = get_crawler(settings_dict=plain)
    crawler.spider = crawler._create_spider("test")
    made = build_from_crawler(BoundedQueue, crawler)
    made.open(crawler.spider)
    return made


def page(number: int, host: str = "h.example") -> Request:
    return Request(f"http://{host}/{number}")


def cut(queue: BoundedQueue) -> int:
    found: int = queue.crawler.stats.get_value(CUT, 0)
    return found


def test_of_one_site_so_many_wait_whatever_its_hosts(queue: BoundedQueue) -> None:
    hosts = [f"{n}.h.example" for n in range(5)]
    assert [queue.enqueue_request(page(1, host)) for host in hosts] == [True] * 3 + [False] * 2
    assert queue.enqueue_request(page(1, "other.example"))
    assert (len(queue), cut(queue)) == (4, 2)


def test_what_was_left_out_has_its_turn_when_it_is_met_again(queue: BoundedQueue) -> None:
    assert [queue.enqueue_request(page(n)) for n in range(4)] == [True, True, True, False]
    assert queue.next_request() is not None
    assert not queue.enqueue_request(page(0))  # seen
    assert queue.enqueue_request(page(3))
    assert not queue.enqueue_request(page(4))


def test_a_long_url_counts_as_several(queue: BoundedQueue) -> None:
    long = [page(n).replace(url=f"http://h.example/{n}?{'x' * 1024}") for n in range(3)]
    assert [queue.enqueue_request(one) for one in long] == [True, True, False]
    for _ in range(2):
        queue.next_request()
    assert [queue.enqueue_request(page(n)) for n in range(4)] == [True] * 3 + [False]


def test_of_all_so_many_wait_and_what_must_be_sent_is_taken(queue: BoundedQueue) -> None:
    taken = [queue.enqueue_request(page(n, f"{n}.example")) for n in range(6)]
    assert taken == [True] * 5 + [False]
    assert queue.enqueue_request(page(9).replace(dont_filter=True))
    while queue.next_request() is not None:
        pass
    assert [queue.enqueue_request(page(n, "l.example")) for n in range(4)] == [True] * 3 + [False]
