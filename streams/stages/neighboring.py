"""The stage `neighborhoods`: fingerprint blocks in, alerts on URL prefixes out.

Fingerprints are keyed by site, so all of a neighborhood is in one partition, and each partition has
figures of its own: it can go to another process with them (`streams.stages.neighborhood_log`).
Only the threshold is of all partitions together, wherever they are.

Error pages are no files, as in the index, and a revisit brings no words: what was known of the
page stands. Chunks are counted without stop chunks (Ardi, Heidemann 2014, §3.4.2).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from heapq import nsmallest
from itertools import compress
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reusewatch.detector.errors import BadPage
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.mean_and_deviation import (
    MATCHABLE_NEIGHBORHOODS,
    PAPER_NEIGHBORHOODS,
    Moments,
    Threshold,
)
from reusewatch.detector.neighborhoods.figures import Change, Neighborhood, PageFacts
from reusewatch.detector.neighborhoods.neighborhoods import Neighborhoods
from reusewatch.detector.neighborhoods.unlabeled import Unlabeled
from reusewatch.streams import topics
from reusewatch.streams.blocks.checking import PLACE_COLUMNS
from reusewatch.streams.blocks.for_window import counts, times_of
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.blocks.label_columns import Marks, marks_of, rows_of
from reusewatch.streams.blocks.matchable import Rule, counted_chunks
from reusewatch.streams.blocks.occurrences import lengths_of
from reusewatch.streams.bus import Message, Outgoing
from reusewatch.streams.questions import BadQuestion, Parameters, Rows, no_questions, number
from reusewatch.streams.stages.neighborhood_log import Heard, NeighborhoodLog, take_up_part
from reusewatch.streams.stages.neighborhood_reports import (
    RANKS,
    Cause,
    neighborhood_alert,
)
from reusewatch.streams.stages.snapshot import State
from reusewatch.streams.stages.stage import Condition, Line, Output
from reusewatch.streams.steering.reports import Seen, recursion, trap_alert
from reusewatch.streams.times import moment
from reusewatch.streams.url_sets import UrlSet
from reusewatch.streams.urls import canonical_urls, directory
from reusewatch.streams.wire import (
    Malformed,
    WireError,
    alert_message,
    dead_letter_message,
    unread,
)

_FIGURES: Mapping[Rule, float] = {
    "matchable": MATCHABLE_NEIGHBORHOODS,
    "paper": PAPER_NEIGHBORHOODS,
}
# All that is asked of a block here: most of its bytes are sketches, which are not.
_MARKS = ("labels_severity", "labeled", "labeled_by", "stopped", "labeled_homed")
_COLUMNS = (
    *PLACE_COLUMNS, "fetched_at", "status", "salvaged", "revisit_of", "chunks", "chunk_lengths",
    "labels_version", *_MARKS,
)  # fmt: skip
_ROW_BYTES, _PAGE_BYTES = 700, 70
_TOP = 20


class NeighborhoodStage:
    """Fingerprints → alerts on prefixes. Processes share the partitions."""

    name = "neighborhoods"
    reads = (topics.FINGERPRINTS,)
    sole = False

    def __init__(
        self,
        scheme: HashScheme,
        *,
        clock: Callable[[], datetime],
        max_prefixes: int = 200_000,
        max_pages: int = 1_000_000,
        min_files: int = 10,
        threshold: float | None = None,
        warm_up: int = 1000,
        partitions: int = 1,
        logged: bool = False,
        rule: Rule = "matchable",
        owned: UrlSet | None = None,
    ) -> None:
        """The bounds are of the whole: each partition has its share. `logged`: changes are kept
        for a changelog to take. Of `owned` pages nothing counts as
        labeled."""
        self._scheme = scheme
        self._clock = clock
        self._rule = rule
        self._owned = owned or UrlSet()
        self._new = partial(
            Neighborhoods,
            max_prefixes=-(-max_prefixes // partitions),
            max_pages=-(-max_pages // partitions),
            min_files=min_files,
            threshold=Threshold(
                _FIGURES[rule], fixed=threshold, warm_up=warm_up, most=_FIGURES[rule]
            ),
        )
        self._log = NeighborhoodLog() if logged else None
        self._parts: dict[int, Neighborhoods] = {}
        self._heard: dict[int, Heard] = {}

    def process(self, messages: Sequence[Message]) -> Output:
        """Count the pages of the blocks, in order."""
        out = Output(events=Counter())
        pages = 0
        for message in messages:
            try:
                block = read_block(message, self._scheme, _COLUMNS)
                counted = _counted(block, self._rule, self._owned)
            except WireError as error:
                out.dead[error.reason] += 1
                out.messages.append(dead_letter_message(unread(message, error, self._clock())))
                continue
            part = message.partition.number
            hoods = self._part(part)
            hoods.elsewhere, hoods.pages_elsewhere = self._elsewhere(part)
            self._count_all(counted, part, hoods, out)
            out.events["uncounted"] += len(block) - len(counted)
            pages += len(block)
        return Output(out.messages, pages, out.dead, out.events)

    def _part(self, part: int) -> Neighborhoods:
        if part not in self._parts:
            self._parts[part] = self._new()
        return self._parts[part]

    def _elsewhere(self, part: int) -> Heard:
        """How bad neighborhoods are in all partitions but this one."""
        known = self._heard | {n: _known(hoods) for n, hoods in self._parts.items()}
        others = [heard for other, heard in known.items() if other != part]
        together = Moments()
        for heard in others:
            together.merge(heard.moments)
        return Heard(together, sum(heard.pages for heard in others))

    def _count_all(self, counted: _Counted, part: int, hoods: Neighborhoods, out: Output) -> None:
        """Count pages in order, those of which nothing is labeled as columns. A changelog takes
        what each of them changed."""
        ends = [*sorted(counted.labeled), len(counted)]
        seen = hoods.seen(counted.pages.page)
        at = 0
        while at < len(counted):
            end = ends[bisect_left(ends, at)]
            run, change = hoods.add_unlabeled(counted.pages, at, end, seen)
            if self._log is not None:
                self._log.note_unlabeled(part, counted.pages, at, at + run - (change is not None))
            at += run
            if change is not None:
                self._tell(change, counted.facts(at - 1), counted.versions[at - 1], part, out)
            elif at < len(counted):
                facts = counted.facts(at)
                self._tell(hoods.add(facts), facts, counted.versions[at], part, out)
                seen.add(facts.page)  # or it were counted a second time where it comes again
                at += 1

    def _tell(
        self, change: Change, facts: PageFacts, version: str | None, part: int, out: Output
    ) -> None:
        """What came of counting a page."""
        if change.opened or change.closed or change.moved or change.new_trap:
            cause = Cause(facts.url, moment(facts.at), version, self._clock())
            out.messages.extend(self._reports(change, cause))
        self._note(facts, part, change)
        if change.trap is not None:
            out.events["trapped"] += 1
        if change.evicted:
            out.events["prefix-evicted"] += change.evicted
        if change.forgotten is not None:
            out.events["page-forgotten"] += 1

    def _note(self, facts: PageFacts, part: int, change: Change) -> None:
        if self._log is not None:
            self._log.note(part, facts, moment(facts.at), change)

    def _reports(self, change: Change, cause: Cause) -> Iterator[Outgoing]:
        if change.trap is not None and change.new_trap:
            seen = Seen(cause.url, cause.fetched_at, cause.now)
            told = trap_alert(recursion(change.trap, cause.url), seen, self._scheme)
            yield alert_message(told, stage=self.name)
        for found in (*change.opened, *change.moved):
            yield self._report(found, "open", change, cause)
        for found in change.closed:
            yield self._report(found, "closed", change, cause)

    def _report(self, found: Neighborhood, state: Any, change: Change, cause: Cause) -> Outgoing:
        alert = neighborhood_alert(found, state, change.threshold, cause, self._scheme)
        return alert_message(alert, stage=self.name)

    def settle(self) -> Output:
        """Nothing waits for later pages here."""
        return Output()

    def rows(self) -> int:
        """Prefixes held."""
        return sum(map(len, self._parts.values()))

    def nbytes(self) -> int:
        """About what they take, with their pages."""
        pages = sum(hoods.remembered for hoods in self._parts.values())
        return self.rows() * _ROW_BYTES + pages * _PAGE_BYTES

    def save(self) -> State:
        """All partitions' figures."""
        arrays: dict[str, np.ndarray[Any, Any]] = {}
        for part, hoods in self._parts.items():
            arrays.update({f"{part}:{name}": column for name, column in hoods.save().items()})
        return State(arrays, {"partitions": list(self._parts)})

    def restore(self, state: State | None, *, question: str | None = None) -> None:
        """Take up saved figures; what is over the bounds leaves."""
        self._parts.clear()
        if state is None:
            return
        for part in state.facts["partitions"]:
            mine = f"{part}:"
            columns = {
                name.removeprefix(mine): column
                for name, column in state.arrays.items()
                if name.startswith(mine)
            }
            self._part(part).restore(columns, pages=question is None)

    def changes(self) -> list[Outgoing]:
        """What must be on the changelog before the offsets of what was processed are."""
        if self._log is None:
            return []
        return [*self._log.take(), *self._log.moments(self._parts)]

    def take_up(self, part: int, messages: Iterable[Message]) -> None:
        """A partition comes, with what its changelog says of it."""
        hoods = self._parts[part] = self._new()
        for message in messages:
            try:
                forgotten = take_up_part(hoods, message)
            except (WireError, BadPage, ValueError):
                continue  # a stranger's message on a topic that is compacted, never ours
            if self._log is not None and forgotten is not None:
                self._log.forget(part, forgotten)

    def drop(self, parts: Iterable[int]) -> None:
        """These are somebody else's now. How bad they are is still known."""
        for part in parts:
            hoods = self._parts.pop(part, None)
            if hoods is not None:
                self._heard[part] = _known(hoods)
            if self._log is not None:
                self._log.drop(part)

    def hear(self, messages: Iterable[Message]) -> None:
        """What others say of their partitions."""
        for message in messages:
            try:
                part, heard = NeighborhoodLog.heard(message)
            except WireError:
                continue  # compacted, so it would stop every worker at every start
            self._heard[part] = heard

    @property
    def threshold(self) -> float:
        """Above which badness a neighborhood is bad, by all that is known."""
        return self._line().threshold

    def _line(self) -> Line:
        whole = self._new()
        known = self._elsewhere(-1)
        whole.elsewhere, whole.pages_elsewhere = known
        return Line(whole.threshold, known.moments.mean, known.moments.deviation)

    def condition(self) -> Condition:
        """The bound of the partitions held here, and the threshold over all."""
        most = self._new.keywords["max_prefixes"] * len(self._parts)
        return Condition(most_rows=most or None, lines={"badness": self._line()})

    def answer(self, name: str, parameters: Parameters) -> Rows:
        """`neighborhoods`: the worst ones, worst first, and behind them those that are named."""
        if name != "neighborhoods":
            return no_questions(name, parameters)
        top, files = number(parameters, "top", _TOP), number(parameters, "files", 1)
        under = _under(parameters.get("under", ""))
        found = [
            one
            for hoods in self._parts.values()
            for one in hoods.top(top, under=under, min_files=files)
        ]
        worst = nsmallest(top, found, key=lambda n: (-n.badness, n.prefix))
        told = {one.prefix for one in worst}
        named = {*parameters.get("also", "").split()} - told
        also = [
            one
            for prefix in sorted(named)
            for hoods in self._parts.values()
            if (one := hoods.of(prefix)) is not None and one.files >= files
        ]
        return [_shown(one) for one in (*worst, *also)]


def _under(prefix: str) -> str:
    try:
        return directory(prefix) if prefix else prefix
    except BadPage as error:
        raise BadQuestion(f"under={prefix}: {error.detail}") from error


def _shown(found: Neighborhood) -> dict[str, Any]:
    return {
        "prefix": found.prefix, "files": found.files, "badness": found.badness,
        "chunk_ratio": found.chunk_ratio, "open": found.open, "labels": list(found.labels),
    }  # fmt: skip


def _known(hoods: Neighborhoods) -> Heard:
    return Heard(hoods.neighborhoods, hoods.pages.count)


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """The pages of a block that are counted, and the version of the labels of each; by its place
    what is `labeled` of a page, of those of which something is."""

    pages: Unlabeled
    versions: list[str | None]
    labeled: Mapping[int, PageFacts]

    def __len__(self) -> int:
        return len(self.versions)

    def facts(self, at: int) -> PageFacts:
        labeled = self.labeled.get(at)
        if labeled is not None:
            return labeled
        pages = self.pages
        return PageFacts(pages.page[at], pages.url[at], pages.at[at], 0, pages.total[at])


def _counted(block: pa.RecordBatch, rule: Rule, owned: UrlSet) -> _Counted:
    """The pages of a block that are counted.

    An owned page is counted as one without labels, so that a prefix that was open before it was
    known to be owned closes.
    """
    try:
        urls = canonical_urls(block.column("url").to_pylist())
        totals = counted_chunks(block, rule)
        of = counts(block)
        marks = _marks_of(block, of, owned)
        columns = [
            block.column("page").to_pylist(), urls,
            [at or 0 for at in times_of(block, "fetched_at")], totals.tolist(),
            block.column("labels_version").to_pylist(),
        ]  # fmt: skip
        most = lengths_of(block.column("chunks"))
    except (pa.ArrowException, BadPage, ValueError) as error:
        raise Malformed(f"a fingerprint block with a value that no page has: {error}") from error
    if not of.all():
        columns = [list(compress(column, of.tolist())) for column in columns]
    *pages, versions = columns
    places = np.cumsum(of) - 1
    found = Unlabeled(*pages)
    labeled = {}
    for row, mine in marks.items():
        at = int(places[row])
        chunks = {p for p in mine.labeled if p < int(most[row])} - {*mine.stopped}
        labeled[at] = _facts(
            found.page[at], found.url[at], found.at[at], found.total[at], chunks, mine
        )
    return _Counted(found, versions, labeled)


def _marks_of(block: pa.RecordBatch, of: NDArray[np.bool_], owned: UrlSet) -> dict[int, Marks]:
    """What is labeled of the pages that are counted, by their rows."""
    labeled = lengths_of(block.column("labeled"))
    some = (labeled > 0) & of
    if not some.any():
        return {}
    rows = np.flatnonzero(some & ~owned.of(block)).tolist()
    return dict(zip(rows, map(marks_of, rows_of(block, _MARKS, rows)), strict=True)) if rows else {}


def _facts(page: int, url: str, at: int, total: int, labeled: set[int], marks: Marks) -> PageFacts:
    by = zip(marks.labeled, marks.labeled_by, strict=False)
    return PageFacts(
        page=page, url=url, at=at, labeled=len(labeled), total=total,
        labels=frozenset(name for place, name in by if place in labeled),
        severity=RANKS.get(marks.labels_severity, 0) if labeled else 0,
        homed=len(labeled & {*(marks.labeled_homed or ())}),
    )  # fmt: skip
