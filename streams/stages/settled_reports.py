"""What is found of pages that have settled, as messages: quilts, partial copies, near-duplicates.

A page is judged anew from the window, with all that has come since. Of pages near to it the first
is told that is like it in what is their own; where that is not known of one, it is told as it is.

Loaded by who really judges: it stands on kernels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial

import numpy as np

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.window.index import NearDuplicateIndex
from reusewatch.detector.window.judging import NEAR_ALERT, SUPERSEDED
from reusewatch.detector.window.sightings import Match, Near, Seen
from reusewatch.streams.blocks.subject import Subject
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.origins import Origins
from reusewatch.streams.records import Alert, Kind
from reusewatch.streams.stages.company import Company
from reusewatch.streams.stages.index_reports import Reporter
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.stages.labeled import LabeledPages
from reusewatch.streams.stages.linking import Linking, Span
from reusewatch.streams.stages.quilt_reports import (
    Said,
    partial_copy_alert,
    quilt_alert,
    quilt_of,
    within_of,
)
from reusewatch.streams.stages.quilting import Quilting, Stitched
from reusewatch.streams.stages.reports import page_alert
from reusewatch.streams.stages.settling import Posted, Waiting

# A near-duplicate that shares so much of both pages is told as that, and as no part.
_WHOLE = 0.5
# A quilt that links to the sources of so much of what it has from others says what it is.
_ATTRIBUTED = 0.9
_BATCH = 256
# What a page was before is as like it as its copy elsewhere, but for what a sample errs by.
_AS_LIKE = 0.9


class SettledReporter:
    """Tells what came of judging pages that have settled."""

    def __init__(
        self,
        reporter: Reporter,
        scheme: HashScheme,
        index: NearDuplicateIndex,
        origins: Origins,
        labeled: LabeledPages,
        quilting: Quilting,
        linking: Linking,
        *,
        rules: Rules,
    ) -> None:
        self._reporter = reporter
        self._scheme = scheme
        self._index = index
        self._origins = origins
        self._labeled = labeled
        self._quilting = quilting
        self._linking = linking
        self._rules = rules

    def settled(self, one: Waiting, now: datetime, events: Counter[str]) -> list[Outgoing]:
        """Verdicts and alerts of pages that have settled, as far as there is something new."""
        out: list[Outgoing] = []
        self._reporter.begin()
        posted = Posted.joined(one.posted) if one.posted else None
        stitched = () if posted is None else self._quilting.judge(posted)
        # Of a page that came several times the last sighting is told.
        parts = {(each.subject.page, each.subject.text): each for each in stitched}
        subjects = {key: each.subject for key, each in parts.items()}
        subjects |= {(each.page, each.text): each for each in one.near}
        near = {(each.page, each.text) for each in one.near}
        rows = list(subjects.items())
        for at in range(0, len(rows), _BATCH):
            out += self._judged(dict(rows[at : at + _BATCH]), parts, near, now, events)
        self._reporter.ended(one.near)
        return out

    def _judged(
        self,
        subjects: dict[tuple[int, int], Subject],
        parts: dict[tuple[int, int], Stitched],
        near: set[tuple[int, int]],
        now: datetime,
        events: Counter[str],
    ) -> list[Outgoing]:
        keys = list(subjects)
        # Those that are not held have left, or have other words by now, judged by themselves.
        held, found = self._index.settled(keys)
        events["unsettled"] += len(keys) - len(held)
        events["cut"] += int(found.judged.pages["cut"].sum())
        out: list[Outgoing | Alert] = []
        flags = found.judged.pages["flags"]
        standing = np.flatnonzero((flags & SUPERSEDED) == 0).tolist()
        # Also those that wait to be told as near-copies in a later step: another page made them so.
        is_near = (flags & NEAR_ALERT > 0) & (self._rules.near_own > 0)
        company = Company(self._index, self._quilting)
        company.expect(
            found, (row for row in standing if is_near[row]),
            (parts[key] for row in standing if (key := keys[held[row]]) in parts),
        )  # fmt: skip
        for row in standing:
            at = held[row]
            subject, match = subjects[keys[at]], found.judged.match(row)
            one = parts.get(keys[at])
            before = self._quilting.said(subject.page)
            nearest, is_new = None, keys[at] in near
            if is_near[row] and not match.donors:
                nearest = self._own(subject, found.near(row), company)
                events["template"] += is_new and (nearest is None or not self._is_own(nearest))
            self._remember(subject, one, nearest, company)
            first = _before(subject, found.before(row), nearest, company)
            match = _told(match, nearest)
            out.append(self._reporter.verdict(subject, match, self._labeled.said(subject.page)))
            if is_new and nearest is not None and self._is_own(nearest):
                out += self._reporter.near_alerts(subject, match, nearest, now, first)
            if _was_part(before, nearest):
                out += self._reporter.no_part(subject, ("partial-copy",))
            if one is not None:
                events["quilted"] += one.is_quilt
                events["partial"] += one.whole is not None
                out += self._news(one, before, self._stitched_alerts(one, match, company, now))
        return self._reporter.complete(out, events)

    def _news(self, found: Stitched, before: Said, alerts: Iterable[Alert]) -> list[Alert]:
        """Of the alerts of a page those that were not told of it when it came the same before."""
        made, said = list(alerts), self._quilting.said(found.subject.page)
        known = {"quilt": before.quilt == said.quilt, "partial-copy": before.within == said.within}
        same = before.text == found.subject.text
        told = tuple(alert.kind for alert in made)
        self._quilting.remember(found.subject.page, replace(said, told=told))
        return [one for one in made if not (same and one.kind in before.told and known[one.kind])]

    def _own(self, subject: Subject, near: Iterable[Near], company: Company) -> Near | None:
        """The first of these that is like a page in what is their own, or is not known to be
        unlike; else the one that is most like it."""
        told = []
        # One after the other: mostly the first one is.
        for each in near:
            told.append(each._replace(own=company.own(subject.text, each.seen.text)))
            if self._is_own(told[-1]):
                return told[-1]
        return max(told, key=lambda each: each.own or 0.0, default=None)

    def _is_own(self, near: Near) -> bool:
        return near.own is None or near.own >= self._rules.near_own

    def _remember(
        self, subject: Subject, part: Stitched | None, near: Near | None, company: Company
    ) -> None:
        before = self._quilting.said(subject.page)
        quilt, within, beside, own = before.quilt, before.within, before.beside, before.own
        if part is not None:
            quilt = quilt_of(part, self._attributed(part, company)) if part.is_quilt else None
            within = within_of(part, company.known)
        if near is not None:
            beside, own = near.seen.page, near.own
        told = before.told if before.text == subject.text else ()
        said = Said(quilt, within, beside, own, subject.text, told)
        self._quilting.remember(subject.page, said)

    def _attributed(self, part: Stitched, company: Company) -> float:
        """The share of a page that stands on pages of sites that it links to."""
        known = ((company.known(each), share) for each, share in part.donors)
        return sum(
            share for seen, share in known
            if seen is not None and self._linking.leads_to(part.subject.page, seen.url)
        )  # fmt: skip

    def _stitched_alerts(
        self, found: Stitched, match: Match, company: Company, now: datetime
    ) -> Iterator[Alert]:
        """One of each kind. What is a copy as a whole is told as that, and not as a part."""
        if match.text is not None:
            return
        made = partial(self._made, found, company, now)
        if found.is_quilt:
            alert = quilt_alert(found, company.known, self._quilting.rules, made)
            if alert is not None:
                yield alert
        if found.whole is not None and not _told_as_near(found, match.near):
            alert = partial_copy_alert(found, company.known, self._quilting.rules, made)
            if alert is not None:
                yield alert

    def _made(
        self, found: Stitched, company: Company, now: datetime, kind: Kind,
        donors: list[tuple[Seen, float]], *, figure: float, threshold: float,
    ) -> Alert:  # fmt: skip
        subject, first = found.subject, donors[0][0]
        whole = sum(share for _, share in found.donors)
        says_so = kind == "quilt" and self._attributed(found, company) >= _ATTRIBUTED * whole > 0
        spans = partial(_spans_of, found, first.page)
        direction = self._reporter.direction(subject, first, subject.fetched_us, spans)
        harmless = says_so or self._rules.allowed.has(subject.url)
        self._reporter.note_copy(subject, first, direction, harmless=harmless, is_part=True)
        alert = page_alert(
            kind, subject, donors, direction, self._origins, self._scheme, now=now, figure=figure,
            threshold=threshold, harmless=harmless,
        )  # fmt: skip
        return self._linking.told(subject.page, alert)


def _before(
    subject: Subject, before: Seen | None, near: Near | None, company: Company
) -> Seen | None:
    """The page of its own site that a page was before it moved: as like it in what is their own as
    the donor, about. A template makes none, nor does half of the text."""
    if before is None or near is None or near.own is None:
        return None
    own = company.own(subject.text, before.text)
    return before if own is not None and own >= near.own * _AS_LIKE else None


def _spans_of(found: Stitched, donor: int) -> list[Span]:
    """What a page has of this donor."""
    return [
        Span(patch.start, patch.end)
        for document, patch in found.patches if int(document["page"]) == donor
    ]  # fmt: skip


def _told_as_near(found: Stitched, near: Near | None) -> bool:
    """Whether the near-duplicate says what the partial copy would. Of another page it does not."""
    if near is None or found.whole is None:
        return False
    of_that = near.seen.page == int(found.whole["page"])
    return _says(near, found.here, found.there, of_that=of_that)


def _was_part(before: Said, near: Near | None) -> bool:
    """Whether a near-duplicate says now what a page was found to be a part of before."""
    part = before.within
    if near is None or part is None:
        return False
    return _says(near, part.here, part.there, of_that=near.seen.url == part.url)


def _says(near: Near, here: float, there: float, *, of_that: bool) -> bool:
    return min(here, there) >= _WHOLE or (of_that and (near.own or 0.0) >= _WHOLE)


def _told(match: Match, near: Near | None) -> Match:
    """With the near page that is told as the nearest."""
    return match if near is None else match._replace(near=near, alert=near)
