"""Mirror hosts: a part of the stage `index`.

A host of which most pages have a twin on one other site is told once it has twenty pages in the
window, so that a mirror costs a crawl a sample and not all of it. Of hosts that mirror each other
those are told that are known to be copies; else those of which the first page came later. It is a
warning only where most pages of the host are copies of owned pages, or name their source: whoever
mirrors a site before it is crawled would else remove it from the crawl. Each host is told as the
mirror of one site: the likeliest original of those whose pages it has.

A host is looked at where the page stands in the log with which it has got enough twins, as if
nothing had come after it: so how soon a mirror is told hangs neither on a clock, nor on steps of
the log, nor on where blocks end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.neighborhoods.judging import MOVED
from reusewatch.detector.neighborhoods.mirrors import (
    Begun,
    Held,
    Known,
    Pair,
    Place,
    Twins,
    mapping_of,
)
from reusewatch.detector.neighborhoods.reuse import CLOSES_BELOW
from reusewatch.streams.records import DETECTOR, Alert, Direction, Donor, Evidence, Mapped
from reusewatch.streams.stages.direction import SECOND_US, is_proven
from reusewatch.streams.stages.snapshot import State
from reusewatch.streams.steering.reports import prefix_alert_id
from reusewatch.streams.times import moment
from reusewatch.streams.urls import place, root_of

if TYPE_CHECKING:
    from reusewatch.detector.window.index import NearDuplicateIndex
    from reusewatch.detector.window.sightings import Seen
    from reusewatch.streams.blocks.subject import Subject

_MAPPED = 0.5
_EVIDENCE = 5
_BYTES = 500
# Hosts that are judged by one look at the window.
_TOGETHER = 64

_Told = tuple[int, float, Known | None]
Came = Mapping[int, tuple[int, int]]
"""Pages that came within a batch, and the first and the last time of each."""


@dataclass(frozen=True, slots=True)
class _Host:
    """A host held against a site: its pages, and the pairs of URLs that are twins. `begun`: since
    when either is known; None where the host has no twins there any more."""

    site: int
    pages: int
    pairs: tuple[tuple[str, str], ...] = ()
    copies: Counter[Known] = field(default_factory=Counter)
    begun: tuple[Begun, Begun] | None = None

    @property
    def share(self) -> float:
        return len(self.pairs) / self.pages if self.pages else 0.0


class _Pages:
    """The pages of hosts as the window has them, looked at once for all. The URL of a page is asked
    for where it decides."""

    def __init__(self, index: NearDuplicateIndex, hosts: Mapping[str, int]) -> None:
        self._seen_between = index.seen_between
        self._of = index.pages_on(hosts, root_of)
        self.urls_of = index.urls_of

    def of(self, host: str, came: Came) -> Set[int]:
        """The pages of a host; of those that came later, the ones that somebody had seen before."""
        first = self._of.get(host, {})
        absent = {page for page in first.keys() & came.keys() if self._is_new(page, came[page])}
        return first.keys() - absent if absent else first.keys()

    def _is_new(self, page: int, these: tuple[int, int]) -> bool:
        """Whether all that the window knows of when a page was seen is of what came later."""
        seen = self._seen_between(page)
        return seen is None or (seen[0] >= these[0] and seen[1] <= these[1])


@dataclass(frozen=True, slots=True)
class _Crossed:
    """A host that is to be looked at as it was when a page of a batch had been judged: the number
    of that page, and what of the host was held against whom by then."""

    host: str
    held: Sequence[Held]
    at: int


class Mirroring:
    """The pages that have twins, and the hosts that are told to be mirrors."""

    def __init__(self, scheme: HashScheme, *, least_pages: int, least_share: float) -> None:
        self._scheme = scheme
        self._least_pages = least_pages
        self._least_share = least_share
        # Those that are open: of each host the site, the share that was told, and by what.
        self._told: dict[str, _Told] = {}
        # How many pages a host had when it was looked at last: it has no fewer since, as a rule.
        self._sizes: dict[str, int] = {}
        self._crossings: list[_Crossed] = []
        self.restore(None)

    def note(
        self, subject: Subject, subject_site: int, donor: Seen, *, by: Known | None,
        is_part: bool = False, is_named: bool = False,
    ) -> None:  # fmt: skip
        """A page was found to be a copy of another, as a whole, nearly, or in part; `by`: how it is
        known to be the copy, if it is; `is_named`: the other one says that it is the copy."""
        one = Place(
            subject.page, subject.text, root_of(subject.url), subject_site, subject.fetched_us or 0
        )
        other = Place(donor.page, donor.text, root_of(donor.url), donor.site, donor.first)
        if is_named:
            self._twins.note(other, one, by="declared")
        else:
            self._twins.note(one, other, by=by, is_part=is_part)

    @property
    def crossed(self) -> bool:
        """Whether hosts got enough twins since the last page."""
        return self._twins.has_due

    def look_after(self, at: int) -> None:
        """With this page of a batch hosts got enough twins: they are looked at as of now, once the
        whole batch has been judged."""
        for host in self._twins.due():
            self._crossings.append(_Crossed(host, self._twins.held(host), at))

    def judge_batch(
        self, subjects: Sequence[Subject], index: NearDuplicateIndex, now: datetime
    ) -> list[Alert]:
        """Alerts on hosts that became mirrors within this batch, each as if what stands behind it
        in the batch had not come yet. The batch is in the window already."""
        crossings = [one for one in self._crossings if self._may_be_news(one.host, one.held)]
        self._crossings = []
        if not crossings:
            return []
        pages = self._pages(index, (one.host for one in crossings))
        alerts: list[Alert] = []
        for one in crossings:
            known = {page for held in one.held for twin in held.twins for page in twin[:2]}
            came = _came(subjects, one.at + 1, known)
            alerts += self._judged(one.host, one.held, pages, now, at_rest=False, came=came)
        return alerts

    def forget(self, page: int) -> None:
        """A page is no copy any more."""
        self._twins.forget(page)

    def judge(self, index: NearDuplicateIndex, now: datetime, *, at_rest: bool) -> list[Alert]:
        """Alerts on hosts that are mirrors now, or no longer."""
        due = self._twins.due()
        if at_rest:
            due = sorted({*self._twins.hosts(), *self._told})
        some = (host for host in due if at_rest or self._may_have_news(host))
        held = ((host, self._twins.held(host)) for host in some)
        news = (one for one in held if at_rest or self._may_be_news(*one))
        alerts: list[Alert] = []
        # The twins of so many hosts are in memory at a time.
        while looked := list(islice(news, _TOGETHER)):
            pages = self._pages(index, (host for host, _ in looked))
            for host, against in looked:
                alerts += self._judged(host, against, pages, now, at_rest=at_rest)
        if at_rest:
            self._twins.drop_what_is_gone()
            looked_at = set(due)
            self._sizes = {h: n for h, n in self._sizes.items() if h in looked_at}
        return alerts

    def _may_have_news(self, host: str) -> bool:
        """The same without a look at the twins: on a site there are no more than are counted."""
        least = self._least_share * self._sizes.get(host, 0)
        return host in self._told or self._twins.most_on_a_site(host) >= least

    def _may_be_news(self, host: str, held: Sequence[Held]) -> bool:
        """Whether a look can tell something: a host of very many pages of which a few have twins is
        not gone through again with each of these."""
        if host in self._told:
            return True
        least = self._least_share * self._sizes.get(host, 0)
        return any(len(one.twins) >= least for one in held)

    def _judged(
        self, host: str, held: Sequence[Held], pages: _Pages, now: datetime, *, at_rest: bool,
        came: Came | None = None,
    ) -> list[Alert]:  # fmt: skip
        mine = pages.of(host, came or {})
        self._sizes[host] = len(mine)
        told = self._told.get(host)
        if told is None and not self._may_be_news(host, held):
            return []
        looked = [_looked_at(one, mine, pages) for one in held]
        found = next(
            (
                one for one, of in zip(looked, held, strict=True)
                if of.is_later and self._is_mirror(one, of, told)
            ),
            None,
        )  # fmt: skip
        alerts = []
        if told is not None and found is not None and told[0] == found.site:
            if not self._is_news(told, found, at_rest=at_rest):
                return []
        elif told is not None:
            before = next((one for one in looked if one.site == told[0]), None)
            alerts.append(self._closed(host, told[0], before, len(mine), now))
        if found is not None:
            self._told[host] = found.site, found.share, _direction(found).by
            alerts.append(self._alert((host, found.site), found, "open", now))
        return alerts

    def _is_mirror(self, host: _Host, held: Held, told: _Told | None) -> bool:
        """Whether it has enough of a site. What stands on many of its pages, and nothing else,
        makes none: boilerplate, or a few texts."""
        is_told = told is not None and told[0] == host.site
        least = self._least_share * (CLOSES_BELOW if is_told else 1)
        enough = 2 * held.texts >= self._twins.least
        return host.pages >= self._least_pages and host.share >= least and enough

    def _closed(
        self, host: str, site: int, before: _Host | None, pages: int, now: datetime
    ) -> Alert:
        del self._told[host]
        return self._alert((host, site), before or _Host(site, pages), "closed", now)

    def _pages(self, index: NearDuplicateIndex, hosts: Iterable[str]) -> _Pages:
        sites = ((host, self._twins.site_of(host)) for host in hosts)
        return _Pages(index, {host: site for host, site in sites if site is not None})

    def _is_news(self, told: _Told, host: _Host, *, at_rest: bool) -> bool:
        _, share, by = told
        moved = abs(host.share - share) >= MOVED or (at_rest and host.share != share)
        return moved or _direction(host).by != by

    def _alert(
        self, pair: Pair, host: _Host, state: Literal["open", "closed"], now: datetime
    ) -> Alert:
        mapped = mapping_of(host.pairs, _MAPPED)
        there = root_of(host.pairs[0][1]) if host.pairs else None
        direction = _direction(host)
        donors: tuple[Donor, ...] = ()
        if there is not None and host.begun is not None:
            since = moment(host.begun[1].first)
            donors = (Donor(url=there, share=host.share, fetched_at=since),)
        return Alert(
            id=prefix_alert_id("mirror-host", f"{pair[0]}\n{pair[1]}", self._scheme),
            kind="mirror-host",
            state=state,
            severity="warning" if is_proven(direction.by) else "info",
            url=None,
            prefix=pair[0],
            site=place(pair[0], self._scheme).site,
            figure=round(host.share, 4),
            threshold=self._least_share,
            donors=donors,
            direction=direction,
            evidence=tuple(
                Evidence(url=copy, donor=original) for copy, original in host.pairs[:_EVIDENCE]
            ),
            mapping=None if mapped is None else Mapped(here=mapped[0], there=mapped[1]),
            fetched_at=now if host.begun is None else moment(host.begun[0].last),
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
        told = [[host, *told] for host, told in self._told.items()]
        return State({}, {**self._twins.save(), "told": told})

    def restore(self, state: State | None) -> None:
        """Take up what was saved, or begin with nothing."""
        facts: Any = {} if state is None else state.facts
        least = max(1, int(self._least_pages * self._least_share))
        self._twins = Twins(
            least=least, sure=self._least_pages, share=self._least_share * CLOSES_BELOW
        )
        self._twins.restore(facts)
        self._crossings, self._sizes = [], {}
        self._told = {host: (site, share, by) for host, site, share, by in facts.get("told", ())}


def _looked_at(held: Held, mine: Set[int], pages: _Pages) -> _Host:
    """What the window has of it."""
    twins = [twin for twin in held.twins if twin[0] in mine]
    urls = pages.urls_of([*(twin[0] for twin in twins), *(twin[1] for twin in twins)])
    known = [twin for twin in twins if twin[0] in urls and twin[1] in urls]
    return _Host(
        held.site, len(mine), tuple(sorted((urls[page], urls[there]) for page, there, _ in known)),
        Counter(by for _, _, by in known if by is not None), (held.begun, held.its_begun),
    )  # fmt: skip


def _direction(host: _Host) -> Direction:
    """By most of its pages: the first of all may well be one of its own."""
    if host.begun is None:
        return Direction(original="unknown")
    mine, its = host.begun
    gap = (mine.first - its.first) // SECOND_US
    seconds = gap if gap >= 0 else None
    proven: Counter[Known] = Counter({by: n for by, n in host.copies.items() if is_proven(by)})
    if 2 * proven.total() > host.pages:
        return Direction(original="there", by=_most(proven), gap_seconds=seconds)
    if 2 * host.copies.total() > len(host.pairs):
        return Direction(original="there", by="first-seen", gap_seconds=seconds)
    return Direction(original="unknown", gap_seconds=abs(gap))


def _most(counts: Counter[Known]) -> Known:
    return max(counts, key=lambda by: (counts[by], by))


def _came(subjects: Sequence[Subject], begin: int, known: Set[int]) -> Came:
    """The pages of a batch from `begin` on that do not stand before that, too, nor are known
    otherwise: when each was seen in it for the first and the last time."""
    before = known | {subject.page for subject in subjects[:begin]}
    came: dict[int, tuple[int, int]] = {}
    for subject in subjects[begin:]:
        if subject.page not in before and (at := subject.fetched_us) is not None:
            first, last = came.get(subject.page, (at, at))
            came[subject.page] = min(at, first), max(at, last)
    return came
