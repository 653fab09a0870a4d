"""The stage `index`: fingerprint blocks in, verdicts and alerts out, over the sliding window.

A block is judged as columns; what is done page by page is what makes a message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from reusewatch.detector.hashing import HashScheme
from reusewatch.streams import topics
from reusewatch.streams.blocks.for_links import LINK_COLUMNS
from reusewatch.streams.blocks.for_window import counts, only
from reusewatch.streams.blocks.format import is_made, read_block
from reusewatch.streams.blocks.subject import Subject
from reusewatch.streams.bus import Message, Outgoing
from reusewatch.streams.origins import Origins
from reusewatch.streams.questions import Parameters, Rows
from reusewatch.streams.stages.brought import Brought, brought, parts_of
from reusewatch.streams.stages.discovering import Discovering
from reusewatch.streams.stages.evidencing import Elsewhere, Evidencing
from reusewatch.streams.stages.fingerprinting import ReadOrigin
from reusewatch.streams.stages.index_answers import ANSWERING, WINDOW, IndexAnswers
from reusewatch.streams.stages.joining import Arrived, as_one, in_groups
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.stages.labeled import Labeled, LabeledPages
from reusewatch.streams.stages.linking import Linking
from reusewatch.streams.stages.mirroring import Mirroring
from reusewatch.streams.stages.phrasing import Phrasing
from reusewatch.streams.stages.quilting import Quilting
from reusewatch.streams.stages.reusing import Reusing
from reusewatch.streams.stages.revisiting import Revisiting
from reusewatch.streams.stages.settling import Posted, Settling
from reusewatch.streams.stages.settling import Waiting as Settles
from reusewatch.streams.stages.similarity import Similarity
from reusewatch.streams.stages.snapshot import State
from reusewatch.streams.stages.stage import Condition, Output
from reusewatch.streams.times import at_us
from reusewatch.streams.urls import canonical_urls, simple_site
from reusewatch.streams.wire import (
    WireError,
    alert_message,
    dead_letter_message,
    unread,
)

if TYPE_CHECKING:
    from reusewatch.detector.window.sightings import Sightings

_SITES = 65_536
_WINDOW = f"{WINDOW}/"


class Part(Protocol):
    """A detector that sees all pages as well, and keeps its own state in the stage's."""

    def nbytes(self) -> int:
        """Bytes of state, about."""

    def save(self) -> State:
        """The state."""

    def restore(self, state: State | None) -> None:
        """Be as when this was saved, or as at first."""


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
        site_share: float = 1.0,
        same_site: bool = False,
        rules: Rules | None = None,
        read_origin: ReadOrigin | None = None,
        labeled: LabeledPages | None = None,
        similarity: Similarity | None = None,
        discovering: Discovering | None = None,
        quilting: Quilting | None = None,
        phrasing: Phrasing | None = None,
        reusing: Reusing | None = None,
        mirroring: Mirroring | None = None,
        settle_pages: int = 0,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._scheme = scheme
        self._clock = clock
        self._rules = rules or Rules()
        self._bounds: dict[str, Any] = {
            "max_pages": max_pages, "max_age_us": max_age_us, "same_site": same_site,
            "site_share": site_share,
        }  # fmt: skip
        self._evidencing = Evidencing(
            scheme, read_origin, self._rules.evidence_pairs, elsewhere
        )  # fmt: skip
        self._site_hash = lru_cache(_SITES)(scheme.of_text)
        self._labeled = labeled or LabeledPages(scheme)
        self._similarity = similarity
        self._discovering = discovering
        self._quilting = quilting
        self._phrasing = phrasing
        self._reusing = reusing
        self._mirroring = mirroring
        self._settling = Settling(settle_pages)
        self._linking = Linking(scheme)
        parts = {
            "labeled": self._labeled, "terms": similarity, "discovery": discovering,
            "quilts": quilting, "settling": self._settling, "phrases": phrasing,
            "links": self._linking,
            "reuse": reusing, "mirrors": mirroring, "evidence": self._evidencing,
        }  # fmt: skip
        self._parts: dict[str, Part] = {n: part for n, part in parts.items() if part is not None}
        self.restore(None)

    def process(self, messages: Sequence[Message]) -> Output:
        """Judge the pages of the blocks, in order; of what is judged as one, revisits last."""
        out = Output(events=Counter())
        index, before = self._index, self._settling.total()
        cut, refused, dismissed = index.cut, index.refused, index.dismissed
        crowded = index.crowded
        popular: list[int] = []
        for group in in_groups(self._arrived(messages, out)):
            popular += self._judge_group(group, out)
        out.events["cut"] += index.cut - cut
        out.events["refused"] += index.refused - refused
        out.events["dismissed"] += index.dismissed - dismissed
        out.events["over-share"] += index.crowded - crowded
        return Output(
            out.messages, self._settling.total() - before, out.dead, out.events, popular=popular,
            unfinished=self._evidencing.take(),
        )  # fmt: skip

    def _arrived(self, messages: Sequence[Message], out: Output) -> Iterator[Arrived]:
        for message in messages:
            try:
                block = read_block(message, self._scheme)
            except WireError as error:
                self._refuse(message, error, out)
            else:
                yield Arrived(message, block, is_made(block))

    def _refuse(self, message: Message, error: WireError, out: Output) -> None:
        out.dead[error.reason] += 1
        out.messages.append(dead_letter_message(unread(message, error, self._clock())))

    def _judge_group(self, group: list[Arrived], out: Output) -> Sequence[int]:
        """Judge blocks of one partition; how many popular phrases pages have is returned."""
        block, made, partition = as_one(group), group[0].made, group[0].partition
        try:
            parts = [self._brought(part, made) for part in self._parts_of(block, partition)]
        except WireError as error:
            if len(group) == 1:
                self._refuse(group[0].message, error, out)
                return ()
            # One of them is bad, and the others must not go with it.
            return [one for alone in group for one in self._judge_group([alone], out)]
        return [one for part in parts for one in self._judge(part, partition, out)]

    def repeat(self, messages: Sequence[Message]) -> Output:
        """See `Repeats`: no evidence is made."""
        with self._evidencing.muted():
            return self.process(messages)

    def _parts_of(self, block: pa.RecordBatch, partition: str) -> list[pa.RecordBatch]:
        """A block in parts none of which goes past a step: what settles when one has ended would
        else hang on where blocks end."""
        return parts_of(block, self._settling.parts(partition, len(block)))

    def _brought(self, block: pa.RecordBatch, made: bool) -> Brought:
        return brought(
            block, self._origins, self._rules.owned, self._site_of, self._similarity, made=made
        )  # fmt: skip

    def _judge_hosts(self, out: Output, *, at_rest: bool) -> Sequence[int]:
        """Judge prefixes by their copies, and hosts and pages by their phrases, if it is time; how
        many popular ones pages have is returned."""
        now, version_of = self._clock(), partial(self._index.version_at, at=None)
        if self._reusing is not None:
            bad = self._reusing.judge(
                self._index.pages_of, self._index.last_seen, now, at_rest=at_rest
            )
            out.messages.extend(map(alert_message, bad))
        if self._mirroring is not None:
            mirrors = self._mirroring.judge(self._index, now, at_rest=at_rest)
            out.messages.extend(map(alert_message, mirrors))
        if self._phrasing is None:
            return ()
        phrased = self._phrasing.judge(version_of, now, at_rest=at_rest)
        out.messages.extend(map(alert_message, phrased.alerts))
        if phrased.pages:
            out.messages.extend(self._reporter.told_again(phrased.pages))
        return phrased.popular

    def settle(self) -> Output:
        """Judge what waits for its company: the stream stands still, or has ended."""
        out = Output(events=Counter())
        out.messages.extend(self._settled(self._settling.all(), out.events))
        if self._discovering is not None:
            out.messages.extend(map(alert_message, self._discovering.settle(self._clock())))
        popular = self._judge_hosts(out, at_rest=True)
        return Output(
            out.messages, 0, out.dead, out.events, popular=popular,
            unfinished=self._evidencing.take(),
        )  # fmt: skip

    def _settled(self, waited: list[Settles], events: Counter[str]) -> list[Outgoing]:
        now, out = self._clock(), list[Outgoing]()
        for one in waited:
            out += self._reporter.overtaken(one.overtaking, now, events)
            if self._settled_reporter is not None:
                out += self._settled_reporter.settled(one, now, events)
        return out

    def _judge(self, part: Brought, partition: str, out: Output) -> Sequence[int]:
        """Judge pages that are within one step. Where it ends with them, what has settled is
        judged, and hosts; how many popular phrases pages have is returned."""
        self._evidencing.resume(partition)
        out.messages.extend(self._judged(part, out.events))
        waiting = self._reporter.take_waiting().and_then(Settles(self._posted(part)))
        self._settling.wait(partition, waiting)
        settled, ended = self._settling.passed(partition, len(part.block))
        if ended:
            self._evidencing.ended(partition)
            self._linking.ended()
            if self._similarity is not None:
                self._similarity.ended()
            if self._discovering is not None:
                out.messages.extend(map(alert_message, self._discovering.ended(self._clock())))
        out.messages.extend(self._settled(settled, out.events))
        return self._judge_hosts(out, at_rest=False) if ended else ()

    def _posted(self, part: Brought) -> tuple[Posted, ...]:
        if self._quilting is None:
            return ()
        now = at_us(self._clock())
        posted = self._quilting.add(part.batch, part.mine, part.sightings.site, part.owned, now=now)
        return () if posted is None else (posted,)

    def _judged(self, part: Brought, events: Counter[str]) -> list[Outgoing]:
        block, mine, now = part.block, part.mine, self._clock()
        events["salvaged"] += block.column("salvaged").true_count
        events["overlong"] += part.batch.column("overlong").true_count
        out = self._discover(block, now, events)
        if self._similarity and part.weighted is not None:
            self._similarity.bring(part.weighted, now=at_us(now))
        # Before it is asked for them, the page has its links; what may be forged has none.
        self._linking.bring(only(block.select(LINK_COLUMNS), counts(block)))
        labeled = self._labeled.judge_block(part.batch, now, part.owned)
        events["labeled"] += sum(1 for one in labeled if one.labels)
        others = np.flatnonzero(~part.judged).tolist()
        between = self._error_pages(part, others)
        out += [alert_message(alert) for one in labeled for alert in one.alerts]
        out += self._add(mine, part.sightings, labeled, events, between)
        self._reporter.reach(None)
        out += between.get(len(mine), ())
        for at in others:
            subject, page = part.subjects[at], part.revisit_of[at]
            if page is None or self._is_known(subject):
                continue
            if subject.salvaged:
                out.append(self._reporter.not_judged(subject, "revisit"))
            else:
                out += self._revisiting.judge(subject, page, part.revisited[at], events)
        out += self._revisiting.seen((subject.page for subject in mine), events)
        if self._phrasing is not None:
            self._phrasing.add(block, self._origins)
        if self._reusing is not None:
            self._reusing.passed(len(block))
        return out

    def _error_pages(self, part: Brought, others: Sequence[int]) -> Mapping[int, list[Outgoing]]:
        """What is said of error pages, each ahead of the judged page that came next: what is said
        of a page last stands, wherever blocks end."""
        found: dict[int, list[Outgoing]] = {}
        if others:
            ahead = np.cumsum(part.judged)
        for at in others:
            subject = part.subjects[at]
            if part.revisit_of[at] is None and not self._is_known(subject):
                said = self._reporter.not_judged(subject, "error-page")
                found.setdefault(int(ahead[at]), []).append(said)
        return found

    def _is_known(self, subject: Subject) -> bool:
        """Whether a salvaged page is one that was seen undamaged: what is known of it stays."""
        return subject.salvaged and self._index.holds(subject.page)

    def _discover(
        self, block: pa.RecordBatch, now: datetime, events: Counter[str]
    ) -> list[Outgoing]:
        if self._discovering is None:
            return []
        found = self._discovering.add(block, now)
        events.update(found.events)
        return [*map(alert_message, found.alerts), *found.messages]

    def _add(
        self,
        subjects: list[Subject],
        sightings: Sightings,
        labeled: Sequence[Labeled],
        events: Counter[str],
        between: Mapping[int, Sequence[Outgoing]] | None = None,
    ) -> list[Outgoing]:
        if not subjects:
            return []
        now = self._clock()
        found = self._index.add(sightings, now=at_us(now))
        return self._reporter.report(subjects, found, labeled, now, events, between or {})

    def _site_of(self, subject: Subject) -> int:
        """The site by which pages are related: that of messages, or by the simple rule."""
        if self._rules.site == "simple":
            return self._site_hash(simple_site(subject.host))
        return self._site_hash(subject.site)

    def rows(self) -> int:
        """Page versions in the window, and revisits that wait."""
        return len(self._index) + len(self._revisiting)

    def nbytes(self) -> int:
        """What the window takes, and about what the rest does."""
        own = self._index.nbytes + self._origins.nbytes + self._revisiting.nbytes()
        return own + sum(part.nbytes() for part in self._parts.values())

    def condition(self) -> Condition:
        """The window's bound, the times of its pages, the threshold of labeled content."""
        oldest = self._index.oldest
        return Condition(
            most_rows=self._bounds["max_pages"],
            oldest_us=oldest,
            newest_us=None if oldest is None else self._index.newest,
            lines={"contains": self._labeled.line},
            passed=self._settling.total(),
        )

    def save(self) -> State:
        """The window's arrays, the waiting revisits, the names of archives, and the parts."""
        arrays = {_WINDOW + name: array for name, array in self._index.save().items()}
        of_parts = {}
        for name, part in self._parts.items():
            saved = part.save()
            arrays |= {f"{name}/{column}": array for column, array in saved.arrays.items()}
            of_parts[name] = dict(saved.facts)
        rules = {"policy": self._rules.policy, "thresholds": dict(self._rules.thresholds)}
        facts: dict[str, Any] = {"sources": self._origins.names, "judged_by": rules}
        facts["waiting"] = self._revisiting.save()
        facts["owned"] = list(self._rules.owned.names)
        facts["parts"] = of_parts
        return State(arrays, facts)

    def restore(self, state: State | None, *, question: str | None = None) -> None:
        """Take up a saved window; what no longer fits leaves with the next page.

        Pairs are judged as they are met: another policy than it was saved under needs no other
        window, and what was reported stays so. For a `question` only what answers it is taken up:
        the gram postings alone take seconds.
        """
        from reusewatch.detector.window.index import (
            NearDuplicateIndex,  # kernels, loaded by who really works
        )
        from reusewatch.detector.window.near_rules import Policy
        from reusewatch.streams.stages.index_reports import Reporter
        from reusewatch.streams.stages.settled_reports import SettledReporter

        rules = self._rules
        self._index = NearDuplicateIndex(
            **self._bounds,
            policy=Policy(rules.policy, **rules.thresholds),
            near_same_site=rules.near_same_site,
            near_other_site=rules.near_other_site,
            max_cluster=rules.max_cluster,
        )
        self._answers = IndexAnswers(self._scheme, self._index, self._similarity, self._reusing)
        self._origins = Origins() if state is None else Origins(state.facts["sources"])
        if state is not None:
            window = (name for name in state.arrays if name.startswith(_WINDOW))
            arrays = {name[len(_WINDOW) :]: state.arrays[name] for name in window}
            self._index.restore(arrays, to_ask=question is not None)
            canonical_urls(list(self._index.urls()))  # BadPage: reports ask for the site of each
            if tuple(state.facts.get("owned", ())) != rules.owned.names:
                self._index.own(rules.owned.has)
        for name, part in self._parts.items():
            needed = question is None or name in ANSWERING.get(question, ())
            part.restore(_part_of(state, name) if state is not None and needed else None)
        self._reporter = Reporter(
            self._scheme, self._index, self._origins, self._evidencing, self._site_of,
            self._labeled, self._similarity, self._quilting, self._phrasing,
            self._linking, self._reusing, self._mirroring, rules=rules,
        )  # fmt: skip
        self._revisiting = Revisiting(
            self._scheme, self._index, self._labeled, rules.owned, self._site_of, self._add,
            partial(self._reporter.not_judged, why="revisit"),
        )  # fmt: skip
        if state is not None:
            self._revisiting.restore(state.facts["waiting"])
        self._settled_reporter = None
        if self._quilting is not None:
            self._settled_reporter = SettledReporter(
                self._reporter, self._scheme, self._index, self._origins, self._labeled,
                self._quilting, self._linking, rules=rules,
            )  # fmt: skip

    def answer(self, name: str, parameters: Parameters) -> Rows:
        """See `IndexAnswers`."""
        return self._answers.answer(name, parameters)


def _part_of(state: State, name: str) -> State | None:
    """A part's own state; None where it was not there when the state was saved."""
    facts = state.facts["parts"].get(name)
    if facts is None:
        return None
    head = f"{name}/"
    arrays = {n.removeprefix(head): a for n, a in state.arrays.items() if n.startswith(head)}
    return State(arrays, facts)
