"""The stage `index`: fingerprint blocks in, verdicts and alerts out, over the sliding window."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import numpy as np

from detector.duplicates import Change, DuplicateIndex, Match, Turned
from detector.hashing import HashScheme
from detector.revisits import Revisit, Waiting
from detector.window import Sighting
from streams import topics
from streams.blocks import read_block, read_pages
from streams.bus import Message
from streams.questions import Parameters, Rows, no_questions
from streams.records import DeadLetter
from streams.reports import Subject, alert_id, at_us, duplicate_alert, verdict
from streams.snapshot import State
from streams.stages import Output
from streams.urls import place
from streams.wire import (
    WireError,
    alert_message,
    dead_letter_message,
    verdict_message,
    withdrawal,
)

WAITING_REVISITS = 100_000
_COLUMNS = ("page", "text", "file", "site", "first", "last", "start", "end", "alerted")
_ROW_BYTES = 600  # measured: columns, dictionaries and a URL of 60 characters
_OK = range(200, 300)

Row = Mapping[str, Any]


class IndexStage:
    """Fingerprints → verdicts and alerts. One process: its window spans all sites."""

    name = "index"
    reads = (topics.FINGERPRINTS,)
    sole = True

    def __init__(
        self,
        scheme: HashScheme,
        *,
        clock: Callable[[], datetime],
        max_pages: int,
        max_age_us: int | None = None,
        same_site: bool = False,
    ) -> None:
        self._scheme = scheme
        self._clock = clock
        self._new_index = partial(
            DuplicateIndex, max_pages=max_pages, max_age_us=max_age_us, same_site=same_site
        )
        self.restore(None)

    def process(self, messages: Sequence[Message]) -> Output:
        """Judge the pages of the blocks, in order."""
        out = Output(events=Counter())
        pages = 0
        for message in messages:
            try:
                rows = read_pages(read_block(message, self._scheme))
            except WireError as error:
                out.dead[error.reason] += 1
                out.messages.append(dead_letter_message(self._dead_letter(message, error)))
                continue
            for row in rows:
                self._judge(row, out)
            pages += len(rows)
        return Output(out.messages, pages, out.dead, out.events)

    def _dead_letter(self, message: Message, error: WireError) -> DeadLetter:
        return DeadLetter(
            reason=error.reason,
            source=f"{message.partition.topic}/{message.partition.number}",
            offset=message.offset,
            url=None,
            detail=str(error),
            at=self._clock(),
        )

    def _judge(self, row: Row, out: Output) -> None:
        subject = _subject(row)
        if row["revisit_of"] is not None:
            self._judge_revisit(row, subject, out)
            return
        if row["status"] is not None and row["status"] not in _OK:
            # The same error page stands on a million sites: it neither is a copy nor makes one.
            out.messages.append(self._verdict(subject, Match(None, None, (), 0)))
            return
        self._judge_page(subject, row["file_hash"], out)
        self._judge_waiting(subject.page, out)

    def _judge_revisit(self, row: Row, subject: Subject, out: Output) -> None:
        when = row["revisit_at"]
        revisit = Revisit(
            subject.page, subject.url, subject.fetched_us, at_us(when) if when else None
        )
        if self._judge_as(revisit, row["revisit_of"], subject.ip, out):
            self._judge_waiting(subject.page, out)
            return
        out.events["revisit-forgotten"] += self._waiting.add(row["revisit_of"], revisit)
        out.events["revisit-waiting"] += 1

    def _judge_waiting(self, page: int, out: Output) -> None:
        """The revisits of a page that was seen, and those that refer to a revisit in turn."""
        seen = deque([page])
        while seen:
            of = seen.popleft()
            for revisit in self._waiting.take(of, partial(self._index.window.version_at, of)):
                if self._judge_as(revisit, of, None, out):
                    seen.append(revisit.page)

    def _judge_as(self, revisit: Revisit, of: int, ip: str | None, out: Output) -> bool:
        """Judge a revisit by the content of the page that it refers to, if that is known."""
        window = self._index.window
        found = window.version_at(of, revisit.of)
        if found is None:
            return False
        subject = Subject(
            page=revisit.page, url=revisit.url, site=place(revisit.url, self._scheme).site, ip=ip,
            fetched_us=revisit.at, text=window.text[found], start=window.start[found],
            end=window.end[found],
        )  # fmt: skip
        self._judge_page(subject, window.file[found], out)
        return True

    def _judge_page(self, subject: Subject, file: int, out: Output) -> None:
        now = self._clock()
        seen = Sighting(
            page=subject.page, url=subject.url, site=self._scheme.of_text(subject.site),
            at=subject.fetched_us, text=subject.text, file=file, start=subject.start,
            end=subject.end,
        )  # fmt: skip
        match = self._index.match(seen, now=at_us(now))
        change = self._index.add(seen, now=at_us(now))
        # What is known of a page by its dates is better than what a record without one says.
        known = change.misdated and any(True for _ in self._index.window.versions(subject.page))
        if not change.superseded and not known:
            out.messages.append(self._verdict(subject, match))
        if change.alert:
            out.messages.append(self._alert(subject, match, now))
        if change.withdrawn:
            found = alert_id("duplicate", subject.page, subject.text, self._scheme)
            out.messages.append(withdrawal(found))
        for turned in change.turned:
            self._report_turned(turned, subject, out, now)
        _count(change, out.events)

    def _report_turned(self, turned: Turned, by: Subject, out: Output, now: datetime) -> None:
        """A page judged before is a copy now. The words are the same, hence so is the excerpt."""
        seen = turned.seen
        subject = Subject(
            page=seen.page, url=seen.url, site=place(seen.url, self._scheme).site,
            fetched_us=seen.first, text=seen.text, start=seen.start, end=seen.end,
            excerpt=by.excerpt if seen.text == by.text else None, truncated=by.truncated,
        )  # fmt: skip
        if not turned.superseded:
            out.messages.append(self._verdict(subject, turned.match))
        if turned.alert:
            out.messages.append(self._alert(subject, turned.match, now))
        out.events["turned"] += 1

    def _verdict(self, subject: Subject, match: Match) -> Any:
        return verdict_message(verdict(subject, match, self._scheme))

    def _alert(self, subject: Subject, match: Match, now: datetime) -> Any:
        donor_site = place(match.donors[0].url, self._scheme).site
        same_site = donor_site == subject.site
        return alert_message(
            duplicate_alert(subject, match, self._scheme, same_site=same_site, now=now)
        )

    def rows(self) -> int:
        """Page versions in the window, and revisits that wait."""
        return len(self._index.window) + len(self._waiting)

    def nbytes(self) -> int:
        """About what the rows take."""
        return self.rows() * _ROW_BYTES

    def save(self) -> State:
        """The window's columns without gaps, and the waiting revisits."""
        window = self._index.window
        live = np.array(window.live(), np.int64)
        arrays: dict[str, np.ndarray[Any, Any]] = {
            name: np.array(getattr(window, name))[live] if len(live) else np.array([], np.int64)
            for name in _COLUMNS
        }
        urls = [window.url[row].encode("utf-8", "surrogatepass") for row in live]
        arrays["url"] = np.frombuffer(b"".join(urls), np.uint8)
        arrays["url_end"] = np.cumsum([len(url) for url in urls], dtype=np.int64)
        waiting = [[page, *revisit] for page, revisit in self._waiting]
        facts = {"newest": window.newest, "waiting": waiting}
        return State(arrays, facts)

    def restore(self, state: State | None) -> None:
        """Take up a saved window; what no longer fits leaves with the next page."""
        self._index = self._new_index()
        self._waiting = Waiting(limit=WAITING_REVISITS)
        if state is not None:
            self._take_up(state)

    def answer(self, name: str, parameters: Parameters) -> Rows:
        """No question yet."""
        return no_questions(name, parameters)

    def _take_up(self, state: State) -> None:
        window = self._index.window
        for name in _COLUMNS:
            column = getattr(window, name)
            column.extend(state.arrays[name].tolist())
        count = len(window.page)
        window.older.extend([0] * count)
        text = state.arrays["url"].tobytes()
        ends = state.arrays["url_end"].tolist()
        starts = [0, *ends][:count]
        window.url = [
            text[start:end].decode("utf-8", "surrogatepass")
            for start, end in zip(starts, ends, strict=True)
        ]
        window.newest = state.facts["newest"]
        self._index.restore()
        for page, *revisit in state.facts["waiting"]:
            self._waiting.add(page, Revisit(*revisit))


def _subject(row: Row) -> Subject:
    return Subject(
        page=row["page"], url=row["url"], site=row["site"], fetched_us=at_us(row["fetched_at"]),
        text=row["identity_hash"], start=row["text_start"], end=row["text_end"],
        excerpt=row["excerpt"], truncated=row["truncated"], ip=row["ip"],
    )  # fmt: skip


def _count(change: Change, events: Counter[str]) -> None:
    events["late"] += change.late
    events["misdated"] += change.misdated
    events["withdrawn"] += change.withdrawn
    events["evicted"] += change.evicted
