"""What the index found of a batch, as messages: verdicts, alerts, alerts withdrawn.

Loaded by who really judges: it stands on numba.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import Any, Literal

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.window.index import NearDuplicateIndex
from reusewatch.detector.window.judging import (
    ALERT,
    LATE,
    MISDATED,
    NEAR_ALERT,
    NEAR_WITHDRAWN,
    SUPERSEDED,
    WITHDRAWN,
)
from reusewatch.detector.window.sightings import Judgements, Match, Seen, Turned
from reusewatch.streams.blocks.subject import Subject
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.origins import Origins
from reusewatch.streams.records import Alert, Direction, Kind
from reusewatch.streams.stages.direction import direction_of, names
from reusewatch.streams.stages.evidencing import Evidencing
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.stages.labeled import NOT_JUDGED, Labeled, LabeledPages
from reusewatch.streams.stages.quilt_reports import (
    partial_copy_alert,
    quilt_alert,
    quilt_of,
    with_other_donors,
    within_of,
)
from reusewatch.streams.stages.quilting import Quilting, Stitched
from reusewatch.streams.stages.reports import (
    alert_id,
    duplicate_alert,
    near_duplicate_alert,
    verdict,
)
from reusewatch.streams.stages.similarity import Similarity
from reusewatch.streams.times import at_us
from reusewatch.streams.urls import place
from reusewatch.streams.wire import alert_message, verdict_message, withdrawal

_ALERTS = ALERT | NEAR_ALERT
_WITHDRAWN = WITHDRAWN | NEAR_WITHDRAWN
_TOLD = 20_000
# A near-duplicate that shares so much of both pages is told as that.
_WHOLE = 0.5


class Reporter:
    """Tells what came of judging pages."""

    def __init__(
        self,
        scheme: HashScheme,
        index: NearDuplicateIndex,
        origins: Origins,
        evidencing: Evidencing,
        site_of: Callable[[Subject], int],
        labeled: LabeledPages,
        similarity: Similarity | None,
        quilting: Quilting | None,
        *,
        rules: Rules,
    ) -> None:
        self._scheme = scheme
        self._index = index
        self._origins = origins
        self._evidencing = evidencing
        self._site_of = site_of
        self._labeled = labeled
        self._similarity = similarity
        self._quilting = quilting
        self._rules = rules
        # What was told of the pages that have come last, which may be told again with more.
        self._told: OrderedDict[int, Match | None] = OrderedDict()

    def report(
        self,
        subjects: Sequence[Subject],
        found: Judgements,
        labeled: Sequence[Labeled],
        now: datetime,
        events: Counter[str],
    ) -> list[Outgoing]:
        """Verdicts of the pages, and alerts; of pages that they turned, too.

        Alerts whose evidence needs pages again are made together: these are read and scanned once.
        """
        out: list[Outgoing | Alert] = []
        turned = {by: list(turns) for by, turns in groupby(found.turns(), lambda turn: turn.by)}
        pages = found.pages
        something = ((pages["text"] >= 0) | (pages["file"] >= 0) | (pages["near"] >= 0)
                     | (pages["donor_count"] > 0))  # fmt: skip
        rows = zip(subjects, pages["flags"].tolist(), something.tolist(), strict=True)
        for at, (subject, flags, matched) in enumerate(rows):
            match = found.match(at) if matched else None
            # What is known of a page by its dates is better than what a record without one says.
            known = flags & MISDATED and self._index.holds(subject.page)
            events["misdated"] -= subject.salvaged
            if not flags & SUPERSEDED and not known:
                out.append(self.verdict(subject, match, labeled[at]))
            # A salvaged page is not remembered: of what it is a copy depends on what came before
            # it, and alerts do not. So its verdict says it, and no alert.
            if flags & (_ALERTS | _WITHDRAWN) and not subject.salvaged:
                out += self._alerts(subject, match, flags, now)
            for turn in turned.get(at, ()):
                out += self._turned(turn, subject, now)
        _count(found, events)
        evident = iter(self._evidencing.complete([x for x in out if isinstance(x, Alert)], events))
        return [alert_message(next(evident)) if isinstance(x, Alert) else x for x in out]

    def verdict(self, subject: Subject, match: Match | None, labeled: Labeled) -> Outgoing:
        """What is known of a page."""
        mwo = None
        if match is not None and match.near is not None:
            mwo = self._mwo(subject.page, match.near.seen.page)
        stitched = self._quilting.said(subject.page) if self._quilting is not None else (None, None)
        if self._quilting is not None:
            self._told[subject.page] = match
            if len(self._told) > _TOLD:
                self._told.popitem(last=False)
        made = verdict(subject, match, labeled, self._scheme, mwo=mwo, stitched=stitched)
        return verdict_message(made)

    def stitched(
        self, found: Iterable[Stitched], now: datetime, events: Counter[str]
    ) -> list[Outgoing]:
        """Of pages that are quilts or hold a part of another, verdicts and alerts."""
        assert self._quilting is not None  # noqa: S101 - who else would have found them
        out: list[Outgoing] = []
        alerts: list[Alert] = []
        for one in found:
            subject = one.subject
            kept = self._index.entry_of(subject.page)
            if kept is None or int(kept["text"]) != subject.text:
                continue  # it has left, or has other words by now, which are judged by themselves
            events["quilted"] += one.is_quilt
            events["partial"] += one.whole is not None
            match = self._match_of(subject, now)
            self._quilting.remember(
                subject.page, quilt_of(one) if one.is_quilt else None, within_of(one, self._known)
            )
            out.append(self.verdict(subject, match, self._labeled.said(subject.page)))
            alerts += self._stitched_alerts(one, match, now)
        told = self._evidencing.complete(alerts, events)
        return out + [
            alert_message(with_other_donors(made, alert))
            for made, alert in zip(told, alerts, strict=True)
        ]

    def _match_of(self, subject: Subject, now: datetime) -> Match | None:
        if subject.page in self._told:
            return self._told[subject.page]
        # Told before a restart.
        again = self._index.as_seen(
            subject.page, None, page=subject.page, site=self._site_of(subject),
            at=subject.fetched_us, url=subject.url.encode("utf-8", "surrogatepass"),
            owned=self._rules.owned.has(subject.url),
        )  # fmt: skip
        return None if again is None else self._index.match(again, now=at_us(now)).match(0)

    def _known(self, document: Any) -> Seen | None:
        page, at = int(document["page"]), int(document["at"])
        return self._index.version_at(page, at) or self._index.version_at(page, None)

    def _stitched_alerts(
        self, found: Stitched, match: Match | None, now: datetime
    ) -> Iterator[Alert]:
        """One of each kind. What is a copy as a whole is told as that, and not as a part."""
        assert self._quilting is not None  # noqa: S101
        if match is not None and match.text is not None:
            return
        subject, rules = found.subject, self._quilting.rules
        facts: dict[str, Any] = {
            "now": now, "harmless": self._rules.allowed.has(subject.url),
            "origins": self._origins,
        }  # fmt: skip
        direction = partial(
            direction_of, subject.page, subject.canonical, since_us=subject.fetched_us,
            precedence_us=self._rules.precedence_us,
        )  # fmt: skip
        if found.is_quilt:
            alert = quilt_alert(found, self._known, direction, rules, self._scheme, **facts)
            if alert is not None:
                yield alert
        near_as_a_whole = (
            match is not None and match.near is not None and min(found.here, found.there) >= _WHOLE
        )
        if found.whole is not None and not near_as_a_whole:
            alert = partial_copy_alert(found, self._known, direction, rules, self._scheme, **facts)
            if alert is not None:
                yield alert

    def not_judged(self, subject: Subject, why: Literal["error-page", "revisit"]) -> Outgoing:
        """That nothing is known of a page, and why: no page is without a verdict."""
        return verdict_message(verdict(subject, None, NOT_JUDGED, self._scheme, not_judged=why))

    def _mwo(self, page: int, other: int) -> float | None:
        return None if self._similarity is None else self._similarity.overlap(page, other)

    def _turned(self, turn: Turned, by: Subject, now: datetime) -> list[Outgoing | Alert]:
        """A page judged before is a copy now, or near to one that was seen before it."""
        subject = self._subject(turn.seen, by)
        flags = (ALERT if turn.alert else 0) | (NEAR_ALERT if turn.near_alert else 0)
        flags |= WITHDRAWN if turn.withdrawn else 0
        flags |= NEAR_WITHDRAWN if turn.near_withdrawn else 0
        said = self._labeled.said(subject.page)
        subject = subject._replace(obfuscated=said.obfuscated)
        out: list[Outgoing | Alert] = []
        if not turn.superseded:
            out.append(self.verdict(subject, turn.match, said))
        return out + self._alerts(subject, turn.match, flags, now)

    def _subject(self, seen: Seen, by: Subject) -> Subject:
        """A page of the window. Where the words are the same, so is the excerpt."""
        where = place(seen.url, self._scheme)
        same = seen.text == by.text
        return Subject(
            page=seen.page, url=seen.url, site=where.site, host=where.host, text=seen.text,
            file=seen.file, start=seen.start, end=seen.end, truncated=same and by.truncated,
            overlong=same and by.overlong,
            ip=None, excerpt=by.excerpt if same else None, fetched_us=seen.first,
            origin=seen.origin, canonical=seen.canonical or None,
            came_from=self._origins.origin(seen.origin),
        )  # fmt: skip

    def _alerts(
        self, subject: Subject, match: Match | None, flags: int, now: datetime
    ) -> list[Outgoing | Alert]:
        out: list[Outgoing | Alert] = []
        if flags & WITHDRAWN:
            out.append(self._withdrawal("duplicate", subject))
        if flags & NEAR_WITHDRAWN:
            out.append(self._withdrawal("near-duplicate", subject))
        if flags & ALERT and match is not None:
            match = _named_first(subject, match)
            direction = self._direction(subject, match.donors[0], match)
            same_site = match.donors[0].site == self._site_of(subject)
            out.append(alert_message(duplicate_alert(
                subject, match, direction, self._origins, self._scheme, now=now,
                harmless=same_site or self._rules.allowed.has(subject.url),
            )))  # fmt: skip
        if flags & NEAR_ALERT and match is not None and match.alert is not None:
            near = match.alert
            mwo = self._mwo(subject.page, near.seen.page)
            if mwo is not None and mwo < self._rules.least_mwo:
                return out
            out.append(near_duplicate_alert(
                subject, near, self._direction(subject, near.seen, match), self._index.policy,
                self._origins, self._scheme, now=now,
                harmless=near.same_site or self._rules.allowed.has(subject.url),
            ))  # fmt: skip
        return out

    def _direction(self, subject: Subject, donor: Seen, match: Match) -> Direction:
        return direction_of(
            subject.page, subject.canonical, donor, match.since, self._rules.precedence_us
        )

    def _withdrawal(self, kind: Kind, subject: Subject) -> Outgoing:
        return withdrawal(alert_id(kind, subject.page, subject.text, self._scheme))


def _named_first(subject: Subject, match: Match) -> Match:
    """The donors in order: owned, then the one that the page names, then the earliest."""
    ordered = sorted(
        match.donors,
        key=lambda donor: (not donor.owned, not names(subject.page, subject.canonical, donor)),
    )
    return replace(match, donors=tuple(ordered))


def _count(found: Judgements, events: Counter[str]) -> None:
    flags = found.pages["flags"]
    for name, bits in (("late", LATE), ("misdated", MISDATED)):
        events[name] += int(((flags & bits) != 0).sum())
    events["withdrawn"] += int(((flags & WITHDRAWN) != 0).sum())
    events["withdrawn"] += int(((flags & NEAR_WITHDRAWN) != 0).sum())
    for bit in (WITHDRAWN, NEAR_WITHDRAWN):
        events["withdrawn"] += int(((found.turned["flags"] & bit) != 0).sum())
    same = (found.pages["text"] >= 0) | (found.pages["file"] >= 0)
    events["duplicate"] += int(same.sum())
    events["near-duplicate"] += int(((found.pages["near"] >= 0) & ~same).sum())
    events["evicted"] += int(found.pages["evicted"].sum())
    events["turned"] += len(found.turned)
