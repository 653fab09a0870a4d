"""What the index found of a batch, as messages: verdicts, alerts, alerts withdrawn.

Loaded by who really judges: it stands on kernels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.window.index import NearDuplicateIndex
from reusewatch.detector.window.judging import (
    ALERT,
    LATE,
    MISDATED,
    NEAR_ALERT,
    NEAR_WITHDRAWN,
    OVERTAKES,
    SUPERSEDED,
    WITHDRAWN,
)
from reusewatch.detector.window.sightings import (
    Judgements,
    Match,
    Near,
    Seen,
    Turned,
    urls_of,
)
from reusewatch.streams.blocks.subject import Subject
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.origins import Origins
from reusewatch.streams.records import Alert, Direction, Kind, Origin
from reusewatch.streams.stages.direction import accuses, direction_of, names
from reusewatch.streams.stages.evidencing import Evidencing
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.stages.labeled import NOT_JUDGED, Labeled, LabeledPages
from reusewatch.streams.stages.linking import Linking, Span
from reusewatch.streams.stages.mirroring import Mirroring
from reusewatch.streams.stages.phrasing import Consisting, Phrasing
from reusewatch.streams.stages.quilt_reports import NOTHING_SAID
from reusewatch.streams.stages.quilting import Quilting
from reusewatch.streams.stages.reports import (
    alert_id,
    duplicate_alert,
    near_duplicate_alert,
    verdict,
)
from reusewatch.streams.stages.reusing import Reusing
from reusewatch.streams.stages.settling import Waiting
from reusewatch.streams.stages.similarity import Similarity
from reusewatch.streams.stages.verdicts import PlainPages, PlainVerdicts
from reusewatch.streams.urls import host_and_site, site_of_page
from reusewatch.streams.wire import alert_message, verdict_message, withdrawal

_ALERTS = ALERT | NEAR_ALERT
_WITHDRAWN = WITHDRAWN | NEAR_WITHDRAWN
_NOBODY = Subject._make([()] * len(Subject._fields))


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
        phrasing: Phrasing | None,
        linking: Linking,
        reusing: Reusing | None,
        mirroring: Mirroring | None,
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
        self._phrasing = phrasing
        self._linking = linking
        self._reusing = reusing
        self._mirroring = mirroring
        self._rules = rules
        self._plain = PlainVerdicts(scheme)
        # Pages of this batch whose near-duplicates are told when they have settled.
        self._near: dict[tuple[int, int], Subject] = {}
        # Pages of it that stand before others with their words which came before them.
        self._overtaking: dict[tuple[int, int], Subject] = {}

    def take_waiting(self) -> Waiting:
        """The near-copies that were found since, and the pages of which copies may have been told
        with later donors: what waits until it has settled."""
        waiting = Waiting((), tuple(self._near.values()), tuple(self._overtaking.values()))
        self._near, self._overtaking = {}, {}
        return waiting

    def report(
        self,
        subjects: Sequence[Subject],
        found: Judgements,
        labeled: Sequence[Labeled],
        now: datetime,
        events: Counter[str],
        between: Mapping[int, Sequence[Outgoing]],
    ) -> list[Outgoing]:
        """Verdicts of the pages, and alerts; of pages that they turned, too. `between`: what is
        said of others ahead of a page.

        Alerts whose evidence needs pages again are made together: these are read and scanned once.
        """
        out: list[Outgoing | Alert] = []
        turned = {by: list(turns) for by, turns in groupby(found.turns(), lambda turn: turn.by)}
        matches = {at: found.match(at) for at in np.flatnonzero(found.matched).tolist()}
        verdicts, special = self._verdicts(subjects, found, matches, labeled)
        come = np.array([not subject.salvaged for subject in subjects]).cumsum()
        events["misdated"] -= len(subjects) - int(come[-1])
        flags = found.pages["flags"]
        told = np.flatnonzero(flags & (_ALERTS | _WITHDRAWN)).tolist()
        for at in np.flatnonzero(flags & OVERTAKES).tolist():
            self._overtaking[subjects[at].page, subjects[at].text] = subjects[at]
        # Of most pages nothing is told but their verdicts.
        last = 0
        for at in sorted({0, *matches, *special, *turned, *told, *between} - {len(subjects)}):
            out += [one for one in verdicts[last:at] if one is not None]
            last, subject = at + 1, subjects[at]
            out += between.get(at, ())
            if at in matches or at in special or at in turned:
                self.reach(int(come[at]))
            plain = verdicts[at]
            if at in special:
                out.append(self.verdict(subject, matches.get(at), labeled[at]))
            elif plain is not None:
                out.append(plain)
            # A salvaged page is not remembered: of what it is a copy depends on what came before
            # it, and alerts do not. So its verdict says it, and no alert.
            if not subject.salvaged:
                out += self._alerts(subject, matches.get(at), int(flags[at]), now)
            for turn in turned.get(at, ()):
                out += self._turned(turn, subject, now)
            # With the first page also those that got enough before it.
            if self._mirroring is not None and self._mirroring.crossed:
                self._mirroring.look_after(at)
        out += [one for one in verdicts[last:] if one is not None]
        if self._mirroring is not None:
            out += map(alert_message, self._mirroring.judge_batch(subjects, self._index, now))
        _count(found, events)
        return self.complete(out, events)

    def _verdicts(
        self, subjects: Sequence[Subject], found: Judgements, matches: Mapping[int, Match],
        labeled: Sequence[Labeled],
    ) -> tuple[list[Outgoing | None], set[int]]:  # fmt: skip
        """The verdicts of pages of which nothing special is known, by their places, and the places
        of those of which there is."""
        pages, flags = [subject.page for subject in subjects], found.pages["flags"]
        untold = set(np.flatnonzero(flags & SUPERSEDED).tolist())
        # What is known of a page by its dates is better than what a record without one says.
        misdated = np.flatnonzero(flags & MISDATED).tolist()
        untold.update(at for at in misdated if self._index.holds(pages[at]))
        special = untold.union(matches, self._said_of_parts(pages))
        plain = [at for at in range(len(pages)) if at not in special]
        out: list[Outgoing | None] = [None] * len(pages)
        told = self._plain.of(self._plain_pages([subjects[at] for at in plain],
                                                [labeled[at] for at in plain]))  # fmt: skip
        for at, one in zip(plain, told, strict=True):
            out[at] = one
        return out, special - untold

    def reach(self, count: int | None) -> None:
        """So many pages of the block at hand, or all, have come to who is told the terms and the
        links of all of them at once."""
        self._linking.reach(count)
        if self._similarity is not None:
            self._similarity.reach(count)

    def _said_of_parts(self, pages: Sequence[int]) -> list[int]:
        """The places of those pages of which something was said when they had settled."""
        return [] if self._quilting is None else self._quilting.told_of(pages)

    def _popular(self, pages: Sequence[int]) -> Sequence[int | None]:
        return [None] * len(pages) if self._phrasing is None else self._phrasing.said_of(pages)

    def _plain_pages(self, subjects: Sequence[Subject], labeled: Sequence[Labeled]) -> PlainPages:
        # A tuple of columns, in the order of the fields.
        columns: Any = Subject._make(zip(*subjects, strict=True)) if subjects else _NOBODY
        return PlainPages(
            np.array(columns.page, np.uint64), columns.url, columns.site, columns.fetched_us,
            labeled, self._popular(columns.page), columns.truncated, columns.salvaged,
            columns.obfuscated, columns.came_from,
        )  # fmt: skip

    def verdict(self, subject: Subject, match: Match | None, labeled: Labeled) -> Outgoing:
        """What is known of a page."""
        said = NOTHING_SAID if self._quilting is None else self._quilting.said(subject.page)
        popular = None if self._phrasing is None else self._phrasing.said(subject.page)
        mwo = None
        if match is not None and match.near is not None:
            mwo = self._mwo(subject.page, match.near.seen.page)
        made = verdict(
            subject, match, labeled, self._scheme, mwo=mwo, said=said, popular=popular
        )  # fmt: skip
        return verdict_message(made)

    def told_again(self, versions: Sequence[Consisting]) -> list[Outgoing]:
        """The verdicts of versions that the window has, of which more is known now."""
        held, found = self._index.settled([version[:2] for version in versions])
        judged, seen = found.judged, found.judged.pages["seen"]
        standing = np.flatnonzero((judged.pages["flags"] & SUPERSEDED) == 0)
        told_of = [versions[held[row]] for row in standing.tolist()]
        pages, truncated = [one.page for one in told_of], [one.truncated for one in told_of]
        rows = seen[standing].tolist()
        numbers = judged.found["origin"][rows].tolist()
        origins = list(map(self._origin_of, numbers, told_of))
        said, matched = list(map(self._labeled.said, pages)), judged.matched[standing]
        special = set(np.flatnonzero(matched).tolist())
        special.update(self._said_of_parts(pages))
        plain = [at for at in range(len(pages)) if at not in special]
        told: dict[int, Outgoing] = {}
        for at in special:
            row = int(standing[at])
            subject = self._as_known(
                judged.seen(rows[at]), said[at], truncated=truncated[at]
            )._replace(came_from=origins[at])
            match = judged.match(row) if matched[at] else None
            told[at] = self.verdict(subject, match, said[at])
        verdicts = self._plain.of(self._known_pages(
            judged.found[seen[standing[plain]]], judged.urls, [said[at] for at in plain],
            [truncated[at] for at in plain], [origins[at] for at in plain],
        ))  # fmt: skip
        told.update(zip(plain, verdicts, strict=True))
        return [told[at] for at in range(len(pages))]

    def _known_pages(
        self, seen: NDArray[Any], text: bytes, said: list[Labeled], truncated: list[bool],
        origins: list[Origin | None],
    ) -> PlainPages:  # fmt: skip
        """Pages by what the window has of them, as `_as_known`."""
        urls = urls_of(seen, text)
        return PlainPages(
            seen["page"], urls, list(map(site_of_page, urls)), seen["first"].tolist(), said,
            self._popular(seen["page"].tolist()), truncated, [False] * len(urls),
            [one.obfuscated for one in said], origins,
        )  # fmt: skip

    def _origin_of(self, number: int, known: Consisting) -> Origin | None:
        """Where a page comes from, with its record's name if that record is meant."""
        return self._origins.origin(number, known.record_id if number == known.origin else None)

    def not_judged(self, subject: Subject, why: Literal["error-page", "revisit"]) -> Outgoing:
        """That nothing is known of a page, and why: no page is without a verdict."""
        return verdict_message(verdict(subject, None, NOT_JUDGED, self._scheme, not_judged=why))

    def _mwo(self, page: int, other: int) -> float | None:
        return None if self._similarity is None else self._similarity.overlap(page, other)

    def _turned(self, turn: Turned, by: Subject, now: datetime) -> list[Outgoing | Alert]:
        """A page judged before is a copy now, or near to one that was seen before it."""
        said = self._labeled.said(turn.seen.page)
        subject = self._subject(turn.seen, by, said)
        if turn.overtakes:
            self._overtaking[subject.page, subject.text] = subject
        flags = (ALERT if turn.alert else 0) | (NEAR_ALERT if turn.near_alert else 0)
        flags |= WITHDRAWN if turn.withdrawn else 0
        flags |= NEAR_WITHDRAWN if turn.near_withdrawn else 0
        out: list[Outgoing | Alert] = []
        if not turn.superseded:
            out.append(self.verdict(subject, turn.match, said))
        return out + self._alerts(subject, turn.match, flags, now)

    def overtaken(
        self, by: Sequence[Subject], now: datetime, events: Counter[str]
    ) -> list[Outgoing]:
        """The alerts of copies once more, before which these pages with the same words stand, which
        came after them: the first donors may be others, and so who has it from whom."""
        if not by:
            return []
        found, cut = self._index.overtaken([(each.page, each.text) for each in by])
        events["cut"] += cut
        with_words = {each.text: each for each in by}
        out: list[Outgoing | Alert] = []
        # Where its donors have left the window nothing else is known of a copy than was told.
        for row in np.flatnonzero(found.pages["donor_count"]).tolist():
            seen = found.seen(int(found.pages["seen"][row]))
            said = self._labeled.said(seen.page)
            self._forget_copy(seen.page)
            subject = self._subject(seen, with_words[seen.text], said)
            out += self._alerts(subject, found.match(row), ALERT, now)
        return self.complete(out, events)

    def _subject(self, seen: Seen, by: Subject, said: Labeled) -> Subject:
        """A page of the window. Where the words are the same, so is the excerpt."""
        subject = self._as_known(seen, said)
        return subject._replace(excerpt=by.excerpt) if seen.text == by.text else subject

    def _as_known(self, seen: Seen, said: Labeled, *, truncated: bool = False) -> Subject:
        """A page by what the window has of it."""
        host, site = host_and_site(seen.url)
        return Subject(
            page=seen.page, url=seen.url, site=site, host=host, text=seen.text,
            file=seen.file, start=seen.start, end=seen.end,
            truncated=truncated or said.truncated, overlong=said.overlong,
            ip=None, excerpt=None, fetched_us=seen.first, obfuscated=said.obfuscated,
            origin=seen.origin, canonical=seen.canonical or None,
            came_from=self._origins.origin(seen.origin),
        )  # fmt: skip

    def _alerts(
        self, subject: Subject, match: Match | None, flags: int, now: datetime
    ) -> list[Outgoing | Alert]:
        out: list[Outgoing | Alert] = []
        if flags & _WITHDRAWN:
            self._forget_copy(subject.page)
        if flags & WITHDRAWN:
            out.append(self._withdrawal("duplicate", subject))
        if flags & NEAR_WITHDRAWN:
            out.append(self._withdrawal("near-duplicate", subject))
        if flags & ALERT and match is not None:
            match = self._named_first(subject, match)
            direction = self._direction_of_words(subject, match)
            same_site = match.donors[0].site == self._site_of(subject)
            harmless = same_site or self._rules.allowed.has(subject.url)
            alert = duplicate_alert(
                subject, match, direction, self._origins, self._scheme, now=now,
                harmless=harmless,
            )  # fmt: skip
            self.note_copy(subject, match.donors[0], direction, harmless=harmless)
            out += self.no_part(subject, ("quilt", "partial-copy"))
            out.append(alert_message(self._linking.told(subject.page, alert)))
        if flags & NEAR_ALERT and match is not None and match.alert is not None:
            if self._waits(flags):
                self._near[subject.page, subject.text] = subject
                self._evidencing.expect(subject.came_from)
            else:
                out += self.near_alerts(subject, match, match.alert, now)
        return out

    def _waits(self, flags: int) -> bool:
        """Whether a near-duplicate is told when it has settled. What is in no window settles
        nowhere."""
        judged_anew = self._quilting is not None and self._rules.near_own > 0
        return judged_anew and not flags & (LATE | MISDATED)

    def near_alerts(
        self, subject: Subject, match: Match, near: Near, now: datetime, first: Seen | None = None
    ) -> list[Outgoing | Alert]:
        """The alert of a near-copy, unless the terms of both overlap by too little. `first`: a page
        of its own site that was as like it before."""
        mwo = self._mwo(subject.page, near.seen.page)
        if mwo is not None and mwo < self._rules.least_mwo:
            return []
        direction = self._unless_moved(
            self.direction(subject, near.seen, match.since), near.seen, first
        )
        harmless = near.same_site or self._rules.allowed.has(subject.url)
        self.note_copy(subject, near.seen, direction, harmless=harmless)
        alert = near_duplicate_alert(
            subject, near, direction, self._index.policy, self._origins, self._scheme, now=now,
            harmless=harmless,
        )  # fmt: skip
        return [self._linking.told(subject.page, alert)]

    def note_copy(
        self, subject: Subject, donor: Seen, direction: Direction, *, harmless: bool,
        is_part: bool = False,
    ) -> None:  # fmt: skip
        """A page that is a copy of another counts for its neighborhoods, where that one is known to
        be the original, and for whether its host is a mirror, whichever is."""
        if harmless:
            return
        site, by = self._site_of(subject), direction.by if accuses(direction) else None
        if self._reusing is not None and by is not None:
            self._reusing.note(subject.page, site, by)
        # Anybody may put a link on a page that allows comments; its head is its host's.
        if names(subject.page, subject.canonical, donor) and direction.original == "there":
            by = direction.by
        if self._mirroring is not None:
            is_named = direction.original == "here" and direction.by == "declared"
            self._mirroring.note(
                subject, site, donor, by=by, is_part=is_part, is_named=is_named and not is_part
            )

    def _forget_copy(self, page: int) -> None:
        if self._mirroring is not None:
            self._mirroring.forget(page)
        if self._reusing is not None:
            self._reusing.forget(page)

    def _direction_of_words(self, subject: Subject, match: Match) -> Direction:
        """Of a duplicate: a site that moves a page had its words as long as it had the page."""
        donor, first = match.donors[0], match.text or match.file
        direction = self.direction(subject, donor, match.since)
        own = first is not None and first.site == self._site_of(subject)
        return self._unless_moved(direction, donor, first if own else None)

    def _unless_moved(self, direction: Direction, donor: Seen, first: Seen | None) -> Direction:
        """The direction, unless the subject's own site had such a page before: `first`."""
        if first is None or direction.by != "first-seen" or first.since > donor.since:
            return direction
        early = donor.since - first.since >= self._rules.precedence_us
        return Direction(
            original="here" if early else "unknown", by="first-seen" if early else None,
            gap_seconds=direction.gap_seconds,
        )  # fmt: skip

    def direction(
        self,
        subject: Subject,
        donor: Seen,
        since: int | None,
        spans: Callable[[], Collection[Span]] | None = None,
    ) -> Direction:
        """Who of two pages has it from whom; `spans` says what the subject has of the donor, where
        that is not all of it."""
        return direction_of(
            subject.page, subject.canonical, donor, since, self._rules.precedence_us,
            linked=self._linking.of(subject.page).names(donor.page, spans),
        )  # fmt: skip

    def _named_first(self, subject: Subject, match: Match) -> Match:
        """The donors in order: owned, then those that the page names, then the earliest. Who was
        first seen long after another is named in vain: an accomplice would free all copies."""
        links = self._linking.of(subject.page)
        latest = min(donor.since for donor in match.donors) + self._rules.precedence_us

        def order(donor: Seen) -> tuple[bool, bool, bool]:
            late = donor.since >= latest
            named = names(subject.page, subject.canonical, donor)
            return not donor.owned, late or not named, late or not links.names(donor.page)

        return match._replace(donors=tuple(sorted(match.donors, key=order)))

    def begin(self) -> None:
        """A step of pages is told: its evidence is bounded by itself."""
        self._evidencing.begin()

    def ended(self, near: Iterable[Subject]) -> None:
        """All is told of these, which waited as near-copies: see `take_waiting`."""
        for subject in near:
            self._evidencing.settled(subject.came_from)

    def complete(self, out: Sequence[Outgoing | Alert], events: Counter[str]) -> list[Outgoing]:
        """With the evidence of all alerts, which is made together."""
        alerts = [x for x in out if isinstance(x, Alert)]
        evident = iter(self._evidencing.messages(alerts, events))
        return [next(evident) if isinstance(x, Alert) else x for x in out]

    def no_part(self, subject: Subject, kinds: tuple[Kind, ...]) -> list[Outgoing]:
        """What a page was told as is withdrawn, as far as it is of these kinds: it is a copy as a
        whole, or nearly, of a page that came later."""
        if self._quilting is None or (said := self._quilting.said(subject.page)) is NOTHING_SAID:
            return []
        told = () if said.text != subject.text else said.told
        gone = [kind for kind in told if kind in kinds]
        if gone:
            left = tuple(kind for kind in told if kind not in kinds)
            self._quilting.remember(subject.page, replace(said, told=left))
        return [self._withdrawal(kind, subject) for kind in gone]

    def _withdrawal(self, kind: Kind, subject: Subject) -> Outgoing:
        return withdrawal(alert_id(kind, subject.page, subject.text, self._scheme), kind)


def _count(found: Judgements, events: Counter[str]) -> None:
    pages, flags, turned = found.pages, found.pages["flags"], found.turned["flags"]

    def count(which: NDArray[Any]) -> int:
        return int(np.count_nonzero(which))

    events["late"] += count(flags & LATE)
    events["misdated"] += count(flags & MISDATED)
    for bit in (WITHDRAWN, NEAR_WITHDRAWN):
        events["withdrawn"] += count(flags & bit) + count(turned & bit)
    same = (pages["text"] >= 0) | (pages["file"] >= 0)
    events["duplicate"] += count(same)
    events["near-duplicate"] += count((pages["near"] >= 0) & ~same)
    events["evicted"] += int(pages["evicted"].sum())
    events["turned"] += len(turned)
