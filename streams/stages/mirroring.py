"""Mirror hosts: a part of the stage `index`.

A host of which most pages have a twin on one other site is told once it has twenty pages in the
window, so that a mirror costs a crawl a sample and not all of it. Of two that mirror each other the
one is told that is known to be the copy by something else than what its pages say; else the one of
which the first page came later, as information only, since in one crawl that says nothing.

A host is looked at where the page stands in the log with which it has got enough twins, as if
nothing had come after it: so how soon a mirror is told hangs neither on a clock, nor on steps of
the log, nor on where blocks end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.neighborhoods.mirrors import Pair, Place, Twin, Twins, mapping_of
from reusewatch.detector.neighborhoods.neighborhoods import MOVED
from reusewatch.detector.neighborhoods.reuse import CLOSES_BELOW
from reusewatch.streams.records import DETECTOR, Alert, Direction, Donor, Evidence, Mapped
from reusewatch.streams.stages.snapshot import State
from reusewatch.streams.steering.reports import prefix_alert_id
from reusewatch.streams.urls import place, root_of

if TYPE_CHECKING:
    from reusewatch.detector.window.index import PagesOf
    from reusewatch.detector.window.sightings import Seen
    from reusewatch.streams.blocks.subject import Subject

_MAPPED = 0.5
_EVIDENCE = 5
_BYTES = 300
# Pairs that are judged by one look at the window.
_TOGETHER = 64


@dataclass(frozen=True, slots=True)
class _Host:
    """A host held against a site: its pages, and the pairs of URLs that are twins."""

    pages: int
    pairs: tuple[tuple[str, str], ...]
    copies: int

    @property
    def share(self) -> float:
        return len(self.pairs) / self.pages if self.pages else 0.0


class _Pages:
    """The pages of some sites that the window has: their URLs, and those of each host."""

    def __init__(self, found: Iterable[tuple[int, int, str]]) -> None:
        self.urls: dict[int, str] = {}
        self.of_host: dict[str, list[int]] = {}
        for _, page, url in found:
            self.urls[page] = url
            self.of_host.setdefault(root_of(url), []).append(page)


@dataclass(frozen=True, slots=True)
class _Then:
    """What has come after a page of a batch, and what was known before of what changed since."""

    absent: Set[int] = frozenset()
    twins: Mapping[int, Twin | None] = field(default_factory=dict)
    first: Mapping[str, int | None] = field(default_factory=dict)


_NOW = _Then()


@dataclass(frozen=True, slots=True)
class _Crossed:
    """Pairs that are to be looked at as they were when a page of a batch had been judged: its
    number, and how much had changed by then since somebody remembers."""

    pairs: Sequence[Pair]
    at: int
    twins: int
    first: int


class Mirroring:
    """The pages that have twins, and the hosts that are told to be mirrors."""

    def __init__(self, scheme: HashScheme, *, least_pages: int, least_share: float) -> None:
        self._scheme = scheme
        self._least_pages = least_pages
        self._least_share = least_share
        # Those that are open, and the share of each that was told.
        self._told: dict[Pair, float] = {}
        # When each host's first page of these was fetched.
        self._first: dict[str, int] = {}
        # Whether hosts got enough twins since the last page; and those that did within the batch.
        self.crossed = False
        self._crossings: list[_Crossed] = []
        self._first_before: list[tuple[str, int | None]] = []
        self.restore(None)

    def note(self, subject: Subject, subject_site: int, donor: Seen, *, is_copy: bool) -> None:
        """A page was found to be a copy of another, as a whole, nearly, or in part."""
        one = Place(subject.page, root_of(subject.url), subject_site, subject.fetched_us or 0)
        other = Place(donor.page, root_of(donor.url), donor.site, donor.first)
        for page in (one, other):
            self._saw(page)
        self._twins.note(one, other, is_copy=is_copy)
        both = ((one.host, other.site), (other.host, one.site))
        self.crossed |= any(self._twins.is_due(*pair) for pair in both)

    def _saw(self, page: Place) -> None:
        known = self._first.get(page.host)
        if known is None or page.first < known:
            self._first_before.append((page.host, known))
            self._first[page.host] = page.first

    def look_after(self, at: int) -> None:
        """With this page of a batch hosts got enough twins: they are looked at as of now, once the
        whole batch has been judged."""
        self.crossed = False
        pairs = self._twins.due(at_rest=False)
        if not pairs:
            return
        if self._twins.before is None:
            self._twins.before, self._first_before = [], []
        changed = len(self._twins.before), len(self._first_before)
        self._crossings.append(_Crossed(pairs, at, *changed))

    def judge_batch(
        self, subjects: Sequence[Subject], pages_of: PagesOf,
        first_of: Callable[[int], int | None], now: datetime,
    ) -> list[Alert]:  # fmt: skip
        """Alerts on hosts that became mirrors within this batch, each as if what stands behind it
        in the batch had not come yet. The batch is in the window already."""
        crossings, self._crossings = self._crossings, []
        twins, self._twins.before = self._twins.before or [], None
        first, self._first_before = self._first_before, []
        if not crossings:
            return []
        pages = _Pages(pages_of(self._sites_of({p for one in crossings for p in one.pairs})))
        alerts: list[Alert] = []
        for one in crossings:
            later = [s for s in subjects[one.at + 1 :] if s.page in pages.urls]
            then = _Then(
                frozenset(_new(subjects[: one.at + 1], later, first_of)),
                dict(reversed(twins[one.twins :])), dict(reversed(first[one.first :])),
            )  # fmt: skip
            for pair in one.pairs:
                alerts += self._judged(pair, pages, now, at_rest=False, then=then)
        return alerts

    def forget(self, page: int) -> None:
        """A page is no copy any more."""
        self._twins.forget(page)

    def judge(self, pages_of: PagesOf, now: datetime, *, at_rest: bool) -> list[Alert]:
        """Alerts on hosts that are mirrors now, or no longer."""
        self.crossed = False
        alerts: list[Alert] = []
        pairs = sorted({*self._twins.due(at_rest=at_rest), *(self._told if at_rest else ())})
        for at in range(0, len(pairs), _TOGETHER):
            some = pairs[at : at + _TOGETHER]
            pages = _Pages(pages_of(self._sites_of(some)))
            for pair in some:
                alerts += self._judged(pair, pages, now, at_rest=at_rest)
        if at_rest:
            known = {twin.host for twin in self._twins.known.values()}
            self._first = {h: at for h, at in self._first.items() if h in known}
        return alerts

    def _judged(
        self, pair: Pair, pages: _Pages, now: datetime, *, at_rest: bool, then: _Then = _NOW
    ) -> list[Alert]:
        host, told = self._looked_at(pair, pages, then), self._told.get(pair)
        least = self._least_share * (CLOSES_BELOW if told is not None else 1)
        is_mirror = host.pages >= self._least_pages and host.share >= least
        if is_mirror and self._is_the_copy(pair, host, pages, then):
            if told is not None and not self._is_news(told, host, at_rest=at_rest):
                return []
            self._told[pair] = host.share
            return [self._alert(pair, host, "open", now)]
        if told is None:
            return []
        del self._told[pair]
        return [self._alert(pair, host, "closed", now)]

    def _sites_of(self, pairs: Iterable[Pair]) -> set[int]:
        """Of the hosts, and of what they are held against."""
        both = ((self._twins.site_of(host), other) for host, other in pairs)
        return {site for pair in both for site in pair if site is not None}

    def _looked_at(self, pair: Pair, pages: _Pages, then: _Then) -> _Host:
        host, other_site = pair
        mine = [page for page in pages.of_host.get(host, ()) if page not in then.absent]
        known = self._twins.known
        noted = [page for page in mine if page in known or page in then.twins]
        pairs, copies = [], 0
        for page in sorted(noted, key=pages.urls.__getitem__):
            twin = then.twins[page] if page in then.twins else known[page]
            if twin is not None and twin.other_site == other_site:
                there = pages.urls.get(twin.other_page)
                if there is not None:
                    pairs.append((pages.urls[page], there))
                    copies += twin.is_copy
        return _Host(len(mine), tuple(pairs), copies)

    def _is_news(self, told: float, host: _Host, *, at_rest: bool) -> bool:
        return abs(host.share - told) >= MOVED or (at_rest and host.share != told)

    def _is_the_copy(self, pair: Pair, host: _Host, pages: _Pages, then: _Then) -> bool:
        """Whether this host is the mirror, of two of which each might be."""
        if 2 * host.copies > len(host.pairs):
            return True
        there, mine = root_of(host.pairs[0][1]), self._twins.site_of(pair[0])
        assert mine is not None  # noqa: S101 - it has twins
        other = self._looked_at((there, mine), pages, then)
        if 2 * other.copies > len(other.pairs):
            return False
        first = {**self._first_of(pair[0], then), **self._first_of(there, then)}
        return (first.get(pair[0], 0), pair[0]) > (first.get(there, 0), there)

    def _first_of(self, host: str, then: _Then) -> dict[str, int]:
        found = then.first[host] if host in then.first else self._first.get(host)
        return {} if found is None else {host: found}

    def _alert(
        self, pair: Pair, host: _Host, state: Literal["open", "closed"], now: datetime
    ) -> Alert:
        is_copy = 2 * host.copies > len(host.pairs)
        mapped = mapping_of(host.pairs, _MAPPED)
        there = root_of(host.pairs[0][1]) if host.pairs else None
        donors = () if there is None else (Donor(url=there, share=host.share, fetched_at=now),)
        return Alert(
            id=prefix_alert_id("mirror-host", f"{pair[0]}\n{pair[1]}", self._scheme),
            kind="mirror-host",
            state=state,
            severity="warning" if is_copy else "info",
            url=None,
            prefix=pair[0],
            site=place(pair[0], self._scheme).site,
            figure=round(host.share, 4),
            threshold=self._least_share,
            donors=donors,
            direction=Direction(original="there", by="first-seen")
            if is_copy
            else Direction(original="unknown"),
            evidence=tuple(
                Evidence(url=copy, donor=original) for copy, original in host.pairs[:_EVIDENCE]
            ),
            mapping=None if mapped is None else Mapped(here=mapped[0], there=mapped[1]),
            fetched_at=now,
            detected_at=now,
            detector=DETECTOR,
            scheme=self._scheme.name,
            files=host.pages,
        )

    def nbytes(self) -> int:
        """About what the twins take."""
        return len(self._twins.known) * _BYTES

    def save(self) -> State:
        """All of it."""
        facts: dict[str, Any] = {
            **self._twins.save(), "first": self._first,
            "told": [[*pair, share] for pair, share in self._told.items()],
        }  # fmt: skip
        return State({}, facts)

    def restore(self, state: State | None) -> None:
        """Take up what was saved, or begin with nothing."""
        facts: Any = {} if state is None else state.facts
        least = max(1, int(self._least_pages * self._least_share))
        self._twins = Twins(least=least, sure=self._least_pages)
        self._crossings, self._first_before, self.crossed = [], [], False
        self._twins.restore(facts.get("twins", ()), facts.get("looked", ()), facts.get("grown"))
        self._told = {(host, site): share for host, site, share in facts.get("told", ())}
        self._first = dict(facts.get("first", {}))


def _new(
    judged: Sequence[Subject], later: Sequence[Subject], first_of: Callable[[int], int | None]
) -> Iterable[int]:
    """Those of the later pages that nobody had seen before: the window had no version of them."""
    known = {subject.page for subject in judged}
    begins: dict[int, int] = {}
    for subject in later:
        if subject.page not in known and (at := subject.fetched_us) is not None:
            begins[subject.page] = min(at, begins.get(subject.page, at))
    for page, at in begins.items():
        first = first_of(page)
        if first is None or first >= at:
            yield page
