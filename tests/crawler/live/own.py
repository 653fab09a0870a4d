"""Scrapy projects of somebody else: one spider, one line of ours."""

from __future__ import annotations

import re
from pathlib import Path

PROJECT = """
import scrapy

class Own(scrapy.Spider):
    name = "own"
    custom_settings = {
        "ADDONS": {"reusewatch.crawler.addon.ReuseWatch": 500},
        "RETRY_PRIORITY_ADJUST": 0,
    }

    def __init__(self, urls, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = urls.split()

    def parse(self, response):
        yield {"url": response.url}
"""
FOLLOWING = """
import scrapy

class Own(scrapy.Spider):
    name = "own"
    custom_settings = {"ADDONS": {"reusewatch.crawler.addon.ReuseWatch": 500}}

    def __init__(self, urls, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = urls.split()

    def parse(self, response):
        yield {"path": response.url.rpartition(":")[2].partition("/")[2]}
        for link in response.css("a::attr(href)").getall():
            meta = {"reusewatch_steer": False} if "wanted" in link else {}
            yield response.follow(link, meta=meta)
"""
STAT = re.compile(r"'(reusewatch/[\w/-]+|finish_reason)': (.+?)[,}]\n")


def arguments(
    directory: Path, urls: list[str], script: str = PROJECT, **settings: object
) -> list[str]:
    """The arguments of a crawl of these URLs by the project."""
    (directory / "own.py").write_text(script)
    given = {"REUSEWATCH_BUS": "local:state", "LOG_LEVEL": "INFO", **settings}
    pairs = [part for name, value in given.items() for part in ("-s", f"{name}={value}")]
    return ["-m", "scrapy", "runspider", "own.py", "-a", f"urls={' '.join(urls)}", *pairs]


def stats_of(err: str) -> dict[str, str]:
    """Our stats, of those that Scrapy dumps at the end."""
    return {name.removeprefix("reusewatch/"): value for name, value in STAT.findall(err)}
