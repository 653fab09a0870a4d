"""Revisits in the stage `index`: pages that are said to be as another was, judged by its content.

One whose page has not come yet waits for it, and so do those that refer to a revisit in turn.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.window.revisits import Revisit, Waiting
from reusewatch.streams.blocks.subject import Subject
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.stages.labeled import Labeled, LabeledPages
from reusewatch.streams.url_sets import UrlSet
from reusewatch.streams.urls import place

if TYPE_CHECKING:
    from reusewatch.detector.window.index import NearDuplicateIndex
    from reusewatch.detector.window.sightings import Sightings

    Add = Callable[[list[Subject], Sightings, Sequence[Labeled], Counter[str]], list[Outgoing]]

MOST_WAITING = 100_000
_BYTES = 400


class Revisiting:
    """The revisits that wait. `add` has a page enter the window, and says what is found of it."""

    def __init__(
        self,
        scheme: HashScheme,
        index: NearDuplicateIndex,
        labeled: LabeledPages,
        owned: UrlSet,
        site_of: Callable[[Subject], int],
        add: Add,
        not_judged: Callable[[Subject], Outgoing],
    ) -> None:
        self._scheme = scheme
        self._index = index
        self._labeled = labeled
        self._owned = owned
        self._site_of = site_of
        self._add = add
        self._not_judged = not_judged
        self._waiting = Waiting(limit=MOST_WAITING)

    def __len__(self) -> int:
        return len(self._waiting)

    def judge(
        self, subject: Subject, of: int, then: int | None, events: Counter[str]
    ) -> list[Outgoing]:
        """Judge one, or have it wait."""
        revisit = Revisit(subject.page, subject.url, subject.fetched_us, then)
        out = self._judge_as(revisit, of, subject.ip, events)
        if out is None:
            events["revisit-forgotten"] += self._waiting.add(of, revisit)
            events["revisit-waiting"] += 1
            # A page of the window has a verdict, which says more.
            known = self._index.holds(subject.page)
            return [] if known else [self._not_judged(subject)]
        return out + self._judge_waiting([subject.page], events)

    def seen(self, pages: Iterable[int], events: Counter[str]) -> list[Outgoing]:
        """These pages were seen: judge what waited for them."""
        return self._judge_waiting(self._waiting.among(dict.fromkeys(pages)), events)

    def _judge_waiting(self, pages: Iterable[int], events: Counter[str]) -> list[Outgoing]:
        """The revisits of pages that were seen, and those that refer to a revisit in turn."""
        out: list[Outgoing] = []
        seen = deque(pages)
        while seen:
            of = seen.popleft()
            for revisit in self._waiting.take(of, partial(self._index.version_at, of)):
                judged = self._judge_as(revisit, of, None, events)
                if judged is not None:
                    out += judged
                    seen.append(revisit.page)
        return out

    def _judge_as(
        self, revisit: Revisit, of: int, ip: str | None, events: Counter[str]
    ) -> list[Outgoing] | None:
        """Judge a revisit by the content of the page that it refers to, if that is known."""
        seen = self._index.version_at(of, revisit.of)
        if seen is None:
            return None
        where = place(revisit.url, self._scheme)
        subject = Subject(
            page=revisit.page, url=revisit.url, site=where.site, host=where.host, text=seen.text,
            file=seen.file, start=seen.start, end=seen.end, truncated=False, overlong=False,
            ip=ip, excerpt=None, fetched_us=revisit.at, origin=seen.origin,
        )  # fmt: skip
        sightings = self._index.as_seen(
            of, revisit.of, page=revisit.page, site=self._site_of(subject), at=revisit.at,
            url=revisit.url.encode("utf-8", "surrogatepass"), owned=self._owned.has(revisit.url),
        )  # fmt: skip
        # Its content is that of the other page, and so are its labels, and what it hides.
        said = self._labeled.said(of)
        subject = subject._replace(
            obfuscated=said.obfuscated, truncated=said.truncated, overlong=said.overlong
        )
        self._labeled.remember(subject.page, said)
        return None if sightings is None else self._add([subject], sightings, [said], events)

    def nbytes(self) -> int:
        """About what those that wait take."""
        return len(self._waiting) * _BYTES

    def save(self) -> list[list[Any]]:
        """Those that wait."""
        return [[page, *revisit] for page, revisit in self._waiting]

    def restore(self, waiting: Iterable[Iterable[Any]]) -> None:
        """Take up those that waited."""
        for page, *revisit in waiting:
            self._waiting.add(page, Revisit(*revisit))
