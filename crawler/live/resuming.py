"""A scheduler for crawls that go on where they were, however they ended: Scrapy's, with a journal.

Its queues are as in Scrapy, and are filled anew from the journal at each start. A request leaves
the journal once Scrapy is through with it (its page was parsed, or it failed), and all that the
crawl had taken by then is safe on the bus. What was dropped since the crawl was told to stop, or
had its pages, stays in it.
"""

from __future__ import annotations

import shutil
from collections import deque
from pathlib import Path
from typing import Any

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.dupefilters import RFPDupeFilter
from scrapy.http import Request
from scrapy.utils.asyncio import create_looping_call
from twisted.internet.defer import Deferred

from reusewatch.crawler.errors import JobError, SourceError
from reusewatch.crawler.live.feeder import Feeder
from reusewatch.crawler.live.journal import Journal
from reusewatch.crawler.live.notes import packed, request_of
from reusewatch.crawler.live.queueing import BoundedQueue
from reusewatch.crawler.live.tap import tap_of
from reusewatch.crawler.spiders.waiting import AGAIN

# The setting of Scrapy's with the journal, where who runs the crawl has opened it.
JOURNAL = "JOB_JOURNAL"
_COMMIT_SECONDS = 0.25
_NUMBER = "_reusewatch_number"


class Seen(RFPDupeFilter):
    """Scrapy's filter without its file: the journal says what was seen."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Seen:
        """As Scrapy makes it."""
        return cls(None, fingerprinter=crawler.request_fingerprinter)

    def know(self, journal: Journal) -> None:
        """What was seen before."""
        self._fingerprints.update(journal.seen())

    def of(self, request: Request) -> bytes | None:
        """By what a request is known; None of one that is sent whatever was seen."""
        found: bytes = self.fingerprinter.fingerprint(request)
        return None if request.dont_filter else found


class Resuming(BoundedQueue):
    """Notes what is queued, and what is done."""

    df: Seen
    _journal: Journal

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.crawler = kwargs["crawler"]  # Scrapy sets it once it has the directory
        super().__init__(*args, **kwargs)

    def _dqdir(self, jobdir: str | None) -> str | None:
        assert jobdir  # noqa: S101 - it is the scheduler of jobs
        # First: what is removed may be another crawl's.
        self._journal = self.crawler.settings.get(JOURNAL) or Journal(Path(jobdir))
        # What a killed crawl left there is not to be relied on.
        shutil.rmtree(Path(jobdir) / "requests.queue", ignore_errors=True)
        found: str | None = super()._dqdir(jobdir)
        return found

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Queue what waits since an earlier run."""
        opened: Deferred[None] | None = super().open(spider)
        self.df.know(self._journal)
        self._handed: dict[Request, int] = {}
        # What Scrapy is through with, and how much the crawl had taken by then.
        self._through: deque[tuple[int, list[int]]] = deque()
        for number, noted in self._journal.waiting():
            request = request_of(noted, spider)
            request.meta[_NUMBER] = number
            try:
                super()._dqpush(request)
            except OSError as error:
                raise SourceError(f"--job: {error}") from error
        self._beat = create_looping_call(self._look)
        self._beat.start(_COMMIT_SECONDS, now=False)
        self.crawler.signals.connect(self._end, signals.engine_stopped)
        return opened

    def _dqpush(self, request: Request) -> bool:
        if tap_of(self.crawler).trouble is not None:
            return True  # the crawl ends, and who led there is not noted as done
        request.meta.pop(_NUMBER, None)
        noted = packed(request, self.spider)
        try:
            request.meta[_NUMBER] = self._journal.add(self.df.of(request), noted)
            pushed: bool = super()._dqpush(request)
        except JobError as error:
            tap_of(self.crawler).close_for(error)
            return True
        except OSError as error:
            tap_of(self.crawler).close_for(JobError(f"{self.dqdir}: {error}"))
            return True
        return pushed

    def next_request(self) -> Request | None:
        """The next request, until it is through."""
        request: Request | None = super().next_request()
        if request is not None:
            self._handed[request] = request.meta.pop(_NUMBER)
        return request

    def _look(self) -> None:
        """Now and then: note what is done, or end the crawl that it cannot be noted of."""
        try:
            self._note()
        except JobError as error:
            tap_of(self.crawler).close_for(error)
        if tap_of(self.crawler).trouble is not None and self._beat.running:
            self._beat.stop()

    def _note(self) -> None:
        """Note what is done for good. Once something could not be noted, nothing else is: a page
        would be done, and its links lost."""
        if tap_of(self.crawler).trouble is not None:
            return
        feeder = tap_of(self.crawler).feeder
        slot = self.crawler.engine._slot
        self._put_by(feeder, set() if slot is None else slot.inprogress)
        safe = feeder.safe()
        while self._through and self._through[0][0] <= safe:
            self._journal.done(self._through.popleft()[1])
        self._journal.commit()

    def _put_by(self, feeder: Feeder, under_way: set[Request]) -> None:
        gone = [request for request in self._handed if request not in under_way]
        numbers = [(self._handed.pop(request), request.meta.get(AGAIN)) for request in gone]
        done = [number for number, again in numbers if not again]
        # What can be done no more, and what is nothing, would wait until the end of the crawl.
        if done and feeder.may_be_safe(feeder.taken):
            self._through.append((feeder.taken, done))

    def _end(self) -> None:
        """Everything taken is on the bus, or the crawl failed."""
        if self._beat.running:
            self._beat.stop()
        self._look()
        self._journal.abandon()
