"""A name whose address changes between the check of a request and its connection."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crawler.live.crawls import run
from tests.crawler.live.own import stats_of
from tests.crawler.live.site import HOME, OTHER, Answer, Site, serving

# The name is allowed when it is looked up first, and forbidden when it is connected to.
SCRIPT = """
import sys
from scrapy import Spider
from scrapy.crawler import CrawlerProcess
from twisted.internet.base import ThreadedResolver
from twisted.internet.defer import succeed

ANSWERS = {answers}

def looked_up(self, name, timeout=()):
    left = ANSWERS[name]
    return succeed(left.pop(0) if len(left) > 1 else left[0])

ThreadedResolver.getHostByName = looked_up

class Own(Spider):
    name = "own"
    start_urls = {urls}

process = CrawlerProcess({{
    "DOWNLOADER_MIDDLEWARES": {{"reusewatch.crawler.live.guard.Guard": 60}},
    "TWISTED_DNS_RESOLVER": "{resolver}", "GUARD_ALLOW": ["127.0.0.1/32"],
    "DNSCACHE_ENABLED": False, "ROBOTSTXT_OBEY": False, "RETRY_ENABLED": False,
}})
process.crawl(Own)
process.start()
"""
GUARDED = "reusewatch.crawler.live.guard.GuardedResolver"


@pytest.mark.parametrize(
    ("resolver", "reached"),
    [(GUARDED, {HOME}), ("scrapy.resolver.CachingThreadedResolver", {HOME, OTHER})],
)
def test_the_address_that_is_connected_to_is_checked(
    resolver: str, reached: set[str], tmp_path: Path
) -> None:
    answers = {"stays.example": [HOME], "turns.example": [HOME, OTHER]}
    with serving(Site({"/": Answer(b"<p>here")})) as site:
        urls = [site.url(host=name) for name in answers]
        (tmp_path / "own.py").write_text(
            SCRIPT.format(answers=answers, urls=urls, resolver=resolver)
        )
        code, _, err = run(["own.py"], tmp_path)
    assert code == 0, err
    assert site.served == reached
    assert stats_of(err).get("refused") == ("1" if resolver == GUARDED else None)
