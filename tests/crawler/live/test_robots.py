"""What was read of very many hosts is not all kept, and what a host says holds all the same."""

from __future__ import annotations

import asyncio
import gzip
from collections import Counter

import pytest
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler

from reusewatch.crawler.live import robots
from reusewatch.crawler.live.guard import ALLOW, EVERYWHERE, ROBOTS_UNPACKED, Guard
from reusewatch.crawler.live.robots import NO_BYTES, Robots

RULES = b"User-agent: *\nDisallow: /no\n"


class _Web:
    """Every host has the same rules."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    async def download_async(self, request: Request) -> Response:
        self.asked[request.url] += 1
        return Response(request.url, body=RULES, request=request)


def crawler_of(web: _Web) -> Crawler:
    crawler = get_crawler(
        settings_dict={
            "ROBOTSTXT_OBEY": True,
            "ROBOTSTXT_PARSER": "reusewatch.crawler.live.guard.CappedRobots",
        }
    )
    crawler.engine = web
    return crawler


@pytest.mark.parametrize(("packed", "asked"), [(0, [1, 2, 1, 1]), (1 << 20, [1, 1, 1, 1])])
def test_those_needed_last_are_kept(
    monkeypatch: pytest.MonkeyPatch, packed: int, asked: list[int]
) -> None:
    monkeypatch.setattr(robots, "MOST_BYTES", 3 * (len(RULES) + NO_BYTES))
    monkeypatch.setattr(robots, "MOST_PACKED", packed)

    async def crawl() -> None:
        web = _Web()
        obeyed = Robots(crawler_of(web))
        for number in (1, 2, 3, 1, 4, 1, 2):
            host = f"http://{number}.h.example"
            await obeyed.process_request(Request(f"{host}/yes"))
            with pytest.raises(IgnoreRequest):
                await obeyed.process_request(Request(f"{host}/no"))
        assert len(obeyed._parsers) == 3
        assert [web.asked[f"http://{n}.h.example/robots.txt"] for n in (1, 2, 3, 4)] == asked

    asyncio.run(crawl())


def test_packed_zeros_are_not_unpacked_to_the_end() -> None:
    """Of 500 KiB of them there would be gigabytes."""
    crawler = get_crawler(settings_dict={ALLOW: list(EVERYWHERE), "DOWNLOAD_MAXSIZE": 1 << 10})
    guard, unpacking = Guard(crawler), build_from_crawler(HttpCompressionMiddleware, crawler)
    request = Request("http://192.0.43.8/robots.txt")

    def answered(size: int) -> Response:
        asyncio.run(guard.process_request(request))
        assert request.meta["download_maxsize"] == 0  # however long it is, it is begun
        packed = gzip.compress(RULES.ljust(size, b"#"))
        crawler.signals.send_catch_log(
            signals.bytes_received, data=packed, request=request, spider=crawler.spider
        )
        head = {"Content-Encoding": "gzip"}
        found = unpacking.process_response(request, Response(request.url, 200, head, packed))
        assert isinstance(found, Response)
        return found

    assert len(answered(2 << 20).body) == 2 << 20  # of rules, however short pages are to be
    with pytest.raises(IgnoreRequest, match="during decompression"):
        answered(ROBOTS_UNPACKED + 1)
