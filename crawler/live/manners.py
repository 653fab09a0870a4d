"""How the bundled crawl behaves, towards sites and towards the machine that it runs on.

Where Scrapy's defaults are those of a library, these are those of a crawler among strangers:
robots.txt is obeyed, hosts are not hurried, certificates are checked, nothing listens, nothing
but http is fetched, and no response is larger than a page may be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from reusewatch.crawler.live.guard import ALLOW
from reusewatch.crawler.spiders.waiting import MOST_BYTES
from reusewatch.streams.steering.rules import Mode

CONCURRENT = 16


@dataclass(frozen=True, slots=True)
class Plan:
    """What to crawl, and how."""

    urls: tuple[str, ...]
    limit_pages: int | None = None
    depth: int | None = None
    other_sites: bool = False
    delay: float = 1.0
    user_agent: str | None = None
    # Networks that may be crawled though they are not public.
    networks: tuple[str, ...] = ()
    log_level: str = "WARNING"
    # Whom sites can write to.
    contact: str | None = None
    sitemaps: bool = False
    # At most so many pages of a host.
    sample: int | None = None
    # Where what is fetched is kept as WARC, and where the crawl is, so that it goes on from there.
    warc: Path | None = None
    job: Path | None = None
    steer: Mode = "off"
    traps: Mode = "on"


def scrapy_settings(plan: Plan, *, max_body_bytes: int) -> dict[str, Any]:
    """The settings of Scrapy for this plan."""
    return {
        "ADDONS": {"reusewatch.crawler.addon.ReuseWatch": 500},
        "LOG_LEVEL": plan.log_level,
        "STATS_DUMP": False,
        # The command says itself how it ends, and who sits before it can start the broker.
        "REUSEWATCH_EXIT_CODE": False,
        "BUS_MUST_BE_THERE": True,
        **_towards_sites(plan),
        **_towards_the_machine(plan, max_body_bytes),
        "REUSEWATCH_STEER": plan.steer,
        "REUSEWATCH_TRAPS": plan.traps,
        "REUSEWATCH_WARC": str(plan.warc) if plan.warc else None,
        **_scheduler(plan),
        # Breadth first: the pages near the start URLs are there early, and traps are deep.
        "DEPTH_PRIORITY": 1,
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }


def _scheduler(plan: Plan) -> Mapping[str, Any]:
    if plan.job is None:
        return {"SCHEDULER": "reusewatch.crawler.live.queueing.BoundedQueue"}
    return {
        "JOBDIR": str(plan.job),
        # It unpickles what lies in the directory.
        "EXTENSIONS": {"scrapy.extensions.spiderstate.SpiderState": None},
        "SCHEDULER": "reusewatch.crawler.live.resuming.Resuming",
        "DUPEFILTER_CLASS": "reusewatch.crawler.live.resuming.Seen",
    }


def own_user_agent(contact: str | None = None) -> str:
    """By which name the crawl is known to sites.

    >>> own_user_agent("mail@example.org").endswith(" (mail@example.org)")
    True
    """
    name = f"reusewatch/{version('reusewatch')}"
    return f"{name} ({contact})" if contact else name


def says_whom_to_write_to(text: str) -> bool:
    """Whether a site that reads this can tell somebody: by mail, or on a page of the web.

    >>> says_whom_to_write_to("bot (+https://a.example/bot)"), says_whom_to_write_to("me")
    (True, False)
    """
    return re.search(r"https?://[^/\s]+\.|[^\s@]@[^\s@]+\.", text) is not None


def _towards_sites(plan: Plan) -> Mapping[str, Any]:
    return {
        "USER_AGENT": plan.user_agent or own_user_agent(plan.contact),
        "ROBOTSTXT_OBEY": True,
        "ROBOTSTXT_PARSER": "reusewatch.crawler.live.guard.CappedRobots",
        "DOWNLOAD_DELAY": plan.delay,
        "CONCURRENT_REQUESTS": CONCURRENT,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1 if plan.delay else CONCURRENT // 2,
        # A host that answers slowly is asked less often still.
        "AUTOTHROTTLE_ENABLED": plan.delay > 0,
        "AUTOTHROTTLE_START_DELAY": plan.delay,
        "COOKIES_ENABLED": False,
    }


def _towards_the_machine(plan: Plan, max_body_bytes: int) -> Mapping[str, Any]:
    return {
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        "DOWNLOAD_VERIFY_CERTIFICATES": True,
        "DOWNLOAD_MAXSIZE": max_body_bytes,
        "DOWNLOAD_WARNSIZE": 0,
        "DOWNLOAD_TIMEOUT": 60,
        "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 5_000_000 + MOST_BYTES,
        "DOWNLOAD_HANDLERS": {
            "http": "reusewatch.crawler.live.heads.BoundedHeads",
            "https": "reusewatch.crawler.live.heads.BoundedHeads",
            "data": None,
            "file": None,
            "ftp": None,
            "s3": None,
        },
        # A proxy would connect to what the guard never sees.
        "HTTPPROXY_ENABLED": False,
        "TWISTED_DNS_RESOLVER": "reusewatch.crawler.live.guard.GuardedResolver",
        ALLOW: list(plan.networks),
        "BUDGET_PAGES": plan.limit_pages or 0,
        "DOWNLOADER_MIDDLEWARES": {
            "reusewatch.crawler.live.guard.Guard": 60,
            "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
            "reusewatch.crawler.live.robots.Robots": 100,
            "reusewatch.crawler.live.sample.SampledRedirects": 200,
            "reusewatch.crawler.live.budget.Budget": 940,
        },
    }
