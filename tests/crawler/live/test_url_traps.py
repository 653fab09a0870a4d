"""A crawl of a site of traps ends, and all that is no trap is fetched."""

from __future__ import annotations

from pathlib import Path

from scrapy.http import Request, Response
from scrapy.utils.test import get_crawler

from reusewatch.crawler.live.url_traps import TrapFilter
from tests.crawler.live.crawls import run
from tests.crawler.live.own import arguments, stats_of
from tests.crawler.live.site import Answer, Site, serving

SPIDER = """
import scrapy

class Own(scrapy.Spider):
    name = "own"
    custom_settings = {
        "ADDONS": {"reusewatch.crawler.addon.ReuseWatch": 500},
        "CLOSESPIDER_PAGECOUNT": 150,
    }

    def __init__(self, urls, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = urls.split()

    def parse(self, response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link)
"""


class Endless(dict[str, Answer]):
    """Any path below /deep/ leads one deeper; every page has a session of its own."""

    def __init__(self) -> None:
        links = "".join(f'<a href="/good/{i}">g</a>' for i in range(5))
        super().__init__(
            {"/": Answer(f'<a href="/deep/">d</a><a href="/s?sid=0">s</a>{links}'.encode())}
        )
        self.update({f"/good/{i}": Answer(b"<p>good") for i in range(5)})
        self._sessions = 0

    def get(self, path: str, default: Answer | None = None) -> Answer | None:  # type: ignore[override]
        if path.startswith("/deep/"):
            return Answer(f'<a href="{path}w{path.count("/")}/">deeper</a>'.encode())
        if path.startswith("/s?"):
            self._sessions += 1
            return Answer(f'<a href="/s?sid={self._sessions}">again</a>'.encode())
        return super().get(path, default)


def test_a_site_of_traps_costs_few_requests(tmp_path: Path) -> None:
    site = Site(Endless())
    with serving(site):
        code, _, err = run(
            arguments(tmp_path, [site.url("/")], SPIDER, REUSEWATCH_TRAPS="on"), tmp_path
        )
    assert code == 0, err
    stats, asked = stats_of(err), site.paths()
    assert {f"/good/{i}" for i in range(5)} <= asked.keys()
    assert sum(path.startswith("/deep/") for path in asked) < 15
    assert sum(path.startswith("/s?") for path in asked) < 5
    assert (stats["traps/dropped/growing"], stats["traps/dropped/session"]) == ("1", "1")
    assert stats["finish_reason"] == "'finished'"


def test_a_dry_run_counts_and_drops_nothing() -> None:
    dry = TrapFilter(get_crawler(settings_dict={"REUSEWATCH_TRAPS": "dry-run"}))
    response = Response("http://h.example/", request=Request("http://h.example/"))
    assert dry._passes(response, Request("http://h.example" + "/a/b" * 6))
    stats = dry._stats.get_stats()
    assert stats == {"reusewatch/traps/would-be-dropped": 1,
                     "reusewatch/traps/would-be-dropped/loop": 1}  # fmt: skip
