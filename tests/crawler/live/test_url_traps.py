"""A crawl of a site of traps ends, and all that is no trap is fetched."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from msgspec.structs import replace
from scrapy.http import Request, Response
from scrapy.utils.test import get_crawler

from reusewatch.crawler.live.url_traps import MOST_OF_SITE, TrapFilter
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.local import LocalBus
from reusewatch.streams.records import TrapKind
from reusewatch.streams.steering.reports import Seen, TrapFound, prefix_alert_id, trap_alert
from reusewatch.streams.verbs import topic_views
from tests.crawler.live.crawls import run
from tests.crawler.live.own import FOLLOWING, arguments, stats_of
from tests.crawler.live.site import Answer, Site, serving
from tests.streams.stages.hoods import Copied, messages_of, stage_of
from tests.streams.stages.test_neighboring import alerts as alerts_of

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOME = Response("http://h.example/", request=Request("http://h.example/"))


class Endless(dict[str, Answer]):
    """Any path below /deep/ leads one deeper; every page has a session of its own."""

    def __init__(self) -> None:
        links = "".join(f'<a href="/good/{i}">g</a>' for i in range(5))
        super().__init__(
            {"/": Answer(f'<a href="/deep/">d</a><a href="/q/s?sid=0">s</a>{links}'.encode())}
        )
        self.update({f"/good/{i}": Answer(b"<p>good") for i in range(5)})
        self._sessions = 0

    def get(self, path: str, default: Answer | None = None) -> Answer | None:  # type: ignore[override]
        if path.startswith("/deep/"):
            return Answer(f'<a href="{path}w{path.count("/")}/">deeper</a>'.encode())
        if path.startswith("/q/s?"):
            self._sessions += 1
            return Answer(f'<a href="/q/s?sid={self._sessions}">again</a>'.encode())
        return super().get(path, default)


def test_a_site_of_traps_costs_few_requests(tmp_path: Path) -> None:
    site = Site(Endless())
    with serving(site):
        code, _, err = run(
            arguments(
                tmp_path,
                [site.url("/")],
                FOLLOWING,
                REUSEWATCH_TRAPS="on",
                CLOSESPIDER_PAGECOUNT=150,
            ),
            tmp_path,
        )
    assert code == 0, err
    stats, asked = stats_of(err), site.paths()
    assert {f"/good/{i}" for i in range(5)} <= asked.keys()
    assert sum(path.startswith("/deep/") for path in asked) < 15
    assert sum(path.startswith("/q/s?") for path in asked) < 5
    assert (stats["traps/dropped/growing"], stats["traps/dropped/session"]) == ("1", "1")
    assert stats["finish_reason"] == "'finished'"
    # A path that grows is told where it began to.
    alerts = list(topic_views.alerts(LocalBus(tmp_path / "state")))
    assert [(one.kind, one.prefix) for one in alerts] == [
        ("crawl-trap", site.url("/q/")), ("crawl-trap", site.url("/"))
    ]  # fmt: skip
    assert [one.trap for one in alerts] == ["session", "growing"]
    assert stats["alerts"] == stats["traps/alerts"] == "2"


def test_a_request_tells_the_alert_that_its_page_would(tmp_path: Path) -> None:
    url = "http://h.example/x/a/b/a/b/a/b/"
    crawler = get_crawler(settings_dict={"REUSEWATCH_TRAPS": "on"})
    kept = TrapFilter(crawler)
    trap = kept._trap(HOME, Request(url), own=True)
    assert trap is not None
    told = kept._counted(Request(url), trap, own=True)
    assert told is not None
    (found,) = alerts_of(stage_of().process(messages_of([Copied(url, 2, 2)])).messages)
    at = {"fetched_at": NOW, "detected_at": NOW}
    assert replace(told, **at) == replace(found, **at)
    assert kept._counted(Request(url), trap, own=True) is None


def test_traps_of_one_place_are_told_apart_and_those_of_pages_are_not() -> None:
    seen = Seen("http://h.example/x", NOW, NOW)
    ids = {
        kind: trap_alert(TrapFound("http://h.example/", kind, 4.0, 3.0), seen, HashScheme()).id
        for kind in get_args(TrapKind)
    }
    of_pages = {ids.pop("deep"), ids.pop("loop"), ids.pop("repeated")}
    assert of_pages == {prefix_alert_id("crawl-trap", "http://h.example/", HashScheme())}
    assert len({*ids.values(), *of_pages}) == len(ids) + 1


def test_what_an_earlier_version_noted_of_growing_paths_is_begun_anew() -> None:
    kept = TrapFilter(get_crawler(settings_dict={"REUSEWATCH_TRAPS": "on"}))
    before = Request("http://h.example/x/", meta={"_reusewatch_growing": 7})
    response, request = Response(before.url, request=before), Request("http://h.example/x/y/")
    assert kept._trap(response, request, own=True) is None


def test_what_others_link_to_is_dropped_and_not_told() -> None:
    kept = TrapFilter(get_crawler(settings_dict={"REUSEWATCH_TRAPS": "on"}))
    request = Request("http://victim.example" + "/a/b" * 6)
    trap = kept._trap(HOME, request, own=False)
    assert trap is not None
    assert kept._counted(request, trap, own=False) is None


def test_a_site_of_traps_makes_so_many_alerts() -> None:
    kept = TrapFilter(get_crawler(settings_dict={"REUSEWATCH_TRAPS": "on"}))
    told = []
    for number in range(MOST_OF_SITE + 7):
        request = Request(f"http://h.example/{number}" + "/a/b" * 6)
        trap = kept._trap(HOME, request, own=True)
        assert trap is not None
        told.append(kept._counted(request, trap, own=True))
    assert sum(one is not None for one in told) == MOST_OF_SITE
    assert kept._stats.get_value("reusewatch/traps/untold") == 7


def test_a_dry_run_counts_and_drops_nothing() -> None:
    dry = TrapFilter(get_crawler(settings_dict={"REUSEWATCH_TRAPS": "dry-run"}))
    request = Request("http://victim.example" + "/a/b" * 6)

    async def links() -> AsyncIterator[Request]:
        yield request

    async def passed() -> list[Request]:
        return [one async for one in dry.process_spider_output(HOME, links())]

    assert asyncio.run(passed()) == [request]
    # Of its own site it is not told either: an alert would steer other crawls.
    own = Request("http://h.example" + "/a/b" * 6)
    trap = dry._trap(HOME, own, own=True)
    assert trap is not None
    assert dry._counted(own, trap, own=True) is None
    stats = dry._stats.get_stats()
    assert stats == {"reusewatch/traps/would-be-dropped": 2,
                     "reusewatch/traps/would-be-dropped/loop": 2}  # fmt: skip
