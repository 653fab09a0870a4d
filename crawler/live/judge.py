"""A page is judged before its links are followed: a spider middleware (Ardi, Heidemann 2014, §3.6).

With `REUSEWATCH_JUDGE = True` the add-on holds each page against the labeled dataset in force, in
the spider's own process; that needs `reusewatch[all]`. What is done for each kind of finding is a
list of actions: `tag` writes what was found into the page's items, under `reusewatch`; `drop` drops
the items; `lower` lets the page's links come last; `no-follow` does not follow them.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response

from reusewatch.crawler.live.fetched import fetched, maker, skip_kind
from reusewatch.crawler.live.project import judge_actions, resolved, steering_rules
from reusewatch.crawler.pages.archive_events import Limits
from reusewatch.streams.extras import needed_for
from reusewatch.streams.records import Page

if TYPE_CHECKING:
    from reusewatch.streams.running.page_judge import PageJudge
    from reusewatch.streams.stages.labeled import Labeled

logger = logging.getLogger(__name__)
FIELD = "reusewatch"


@dataclass(frozen=True, slots=True)
class Found:
    """What is said of a page, as items have it."""

    kinds: tuple[str, ...]
    labels: tuple[str, ...]
    contains: float | None
    labels_version: str | None


class Judge:
    """Judges each response, and does with what the spider made of it what is wanted."""

    def __init__(self, crawler: Crawler) -> None:
        actions = judge_actions(crawler.settings)
        if actions is None:
            raise NotConfigured
        self._actions: Mapping[str, Sequence[str]] = actions
        self._stats = crawler.stats
        self._lowered = steering_rules(crawler.settings).lowered
        settings = resolved(crawler.settings).settings
        with needed_for("REUSEWATCH_JUDGE"):
            from reusewatch.streams.running.page_judge import PageJudge
        self._judge: PageJudge = PageJudge(settings, logger.warning)
        limits = Limits(max_body_bytes=settings.max_body_bytes)
        self._make = maker(f"scrapy:{crawler.spidercls.name}", settings.scheme, limits)
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Judge:
        """As Scrapy makes its components."""
        return cls(crawler)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """What the spider made of a page, as the page's finding allows."""
        found = self._found(response)
        async for one in result:
            if found is None:
                yield one
            elif (kept := self._treated(one, found)) is not None:
                yield kept

    def _found(self, response: Response) -> Found | None:
        if response.request is None or skip_kind(response.request, response) is not None:
            return None
        page = self._make(fetched(response))
        if not isinstance(page, Page):
            return None
        said = self._judge.judge(page)
        self._stats.inc_value("reusewatch/judge/pages")
        if not said.alerts:
            return None
        found = _shown(said)
        for kind in found.kinds:
            self._stats.inc_value(f"reusewatch/judge/{kind}")
        logger.debug("%s: %s of %s", response.url, ", ".join(found.kinds), ", ".join(found.labels))
        return found

    def _treated(self, one: Any, found: Found) -> Any:
        """What is left of a request or an item; None where it is dropped."""
        actions = {action for kind in found.kinds for action in self._actions.get(kind, ())}
        if isinstance(one, Request):
            if "no-follow" in actions:
                self._stats.inc_value("reusewatch/judge/not-followed")
                return None
            if "lower" in actions:
                one.priority -= self._lowered
            return one
        if "drop" in actions:
            self._stats.inc_value("reusewatch/judge/dropped")
            return None
        if "tag" in actions and one is not None:
            _tag(one, found)
        return one

    def _closed(self, spider: Spider) -> None:
        self._judge.close()


def _shown(said: Labeled) -> Found:
    kinds = tuple(sorted({alert.kind for alert in said.alerts}))
    return Found(kinds, said.labels, said.contains, said.labels_version)


def _tag(item: Any, found: Found) -> None:
    """An item whose class knows no such field, or cannot be written to, stays as it is: it is
    somebody else's, and nothing that it does may cost the page's other items and links."""
    with suppress(Exception):
        adapter = ItemAdapter(item)
        if isinstance(item, dict) or FIELD in adapter.field_names():
            adapter[FIELD] = asdict(found)
