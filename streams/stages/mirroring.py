"""Mirror hosts: a part of the stage `index`.

A host of which most pages have a twin on one other site is told once it has twenty pages in the
window, so that a mirror costs a crawl a sample and not all of it. Of two that mirror each other the
one is told that is known to be the copy by something else than what its pages say; else the one of
which the first page came later, as information only, since in one crawl that says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.neighborhoods.mirrors import Pair, Place, Twins, mapping_of
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
        self.restore(None)

    def note(self, subject: Subject, subject_site: int, donor: Seen, *, is_copy: bool) -> None:
        """A page was found to be a copy of another, as a whole, nearly, or in part."""
        one = Place(subject.page, root_of(subject.url), subject_site, subject.fetched_us or 0)
        other = Place(donor.page, root_of(donor.url), donor.site, donor.first)
        for page in (one, other):
            self._first[page.host] = min(page.first, self._first.get(page.host, page.first))
        self._twins.note(one, other, is_copy=is_copy)

    def forget(self, page: int) -> None:
        """A page is no copy any more."""
        self._twins.forget(page)

    def judge(self, pages_of: PagesOf, now: datetime, *, at_rest: bool) -> list[Alert]:
        """Alerts on hosts that are mirrors now, or no longer."""
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

    def _judged(self, pair: Pair, pages: _Pages, now: datetime, *, at_rest: bool) -> list[Alert]:
        host, told = self._looked_at(pair, pages), self._told.get(pair)
        least = self._least_share * (CLOSES_BELOW if told is not None else 1)
        is_mirror = host.pages >= self._least_pages and host.share >= least
        if is_mirror and self._is_the_copy(pair, host, pages):
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

    def _looked_at(self, pair: Pair, pages: _Pages) -> _Host:
        host, other_site = pair
        mine = pages.of_host.get(host, ())
        pairs, copies = [], 0
        for page in sorted(mine, key=pages.urls.__getitem__):
            twin = self._twins.known.get(page)
            if twin is not None and twin.other_site == other_site:
                there = pages.urls.get(twin.other_page)
                if there is not None:
                    pairs.append((pages.urls[page], there))
                    copies += twin.is_copy
        return _Host(len(mine), tuple(pairs), copies)

    def _is_news(self, told: float, host: _Host, *, at_rest: bool) -> bool:
        return abs(host.share - told) >= MOVED or (at_rest and host.share != told)

    def _is_the_copy(self, pair: Pair, host: _Host, pages: _Pages) -> bool:
        """Whether this host is the mirror, of two of which each might be."""
        if 2 * host.copies > len(host.pairs):
            return True
        there, mine = root_of(host.pairs[0][1]), self._twins.site_of(pair[0])
        assert mine is not None  # noqa: S101 - it has twins
        other = self._looked_at((there, mine), pages)
        if 2 * other.copies > len(other.pairs):
            return False
        return (self._first.get(pair[0], 0), pair[0]) > (self._first.get(there, 0), there)

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
        self._twins = Twins(least=least)
        self._twins.restore(facts.get("twins", ()), facts.get("looked", ()))
        self._told = {(host, site): share for host, site, share in facts.get("told", ())}
        self._first = dict(facts.get("first", {}))
