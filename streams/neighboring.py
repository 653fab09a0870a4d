"""The stage `neighborhoods`: fingerprint blocks in, alerts on URL prefixes out.

Fingerprints are keyed by site, so all of a neighborhood is in one partition, and each partition has
figures of its own: it can go to another process with them (`streams.neighborhood_log`). Only the
threshold is of all partitions together, wherever they are.

Error pages are no files, as in the index, and a revisit brings no words: what was known of the
page stands. Chunks are counted without stop chunks (Ardi, Heidemann 2014, §3.4.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from heapq import nsmallest
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from detector.errors import BadPage
from detector.hashing import HashScheme
from detector.neighborhoods import Change, Neighborhood, Neighborhoods, PageFacts
from detector.thresholds import PAPER_NEIGHBORHOODS, Moments, Threshold
from streams import topics
from streams.blocks import read_block
from streams.bus import Message, Outgoing
from streams.marks import LABEL_FIELDS, Marks, marks_of
from streams.neighborhood_log import NeighborhoodLog, take_up_part
from streams.neighborhood_reports import RANKS, Cause, neighborhood_alert, trap_alert
from streams.questions import BadQuestion, Parameters, Rows, number
from streams.records import DeadLetter
from streams.reports import at_us
from streams.snapshot import State
from streams.stages import Output
from streams.urls import canonical
from streams.wire import Malformed, WireError, alert_message, dead_letter_message

_PAGE = ("page", "url", "fetched_at", "status", "revisit_of")
_OK = range(200, 300)
_ROW_BYTES, _PAGE_BYTES = 700, 150
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
    ) -> None:
        """The bounds are of the whole: each partition has its share. `logged`: changes are kept
        for a changelog to take."""
        self._scheme = scheme
        self._clock = clock
        self._new = partial(
            Neighborhoods,
            max_prefixes=-(-max_prefixes // partitions),
            max_pages=-(-max_pages // partitions),
            min_files=min_files,
            threshold=Threshold(PAPER_NEIGHBORHOODS, fixed=threshold, warm_up=warm_up),
        )
        self._log = NeighborhoodLog() if logged else None
        self._parts: dict[int, Neighborhoods] = {}
        self._heard: dict[int, Moments] = {}

    def process(self, messages: Sequence[Message]) -> Output:
        """Count the pages of the blocks, in order."""
        out = Output(events=Counter())
        pages = 0
        for message in messages:
            try:
                rows = list(_rows(read_block(message, self._scheme)))
            except WireError as error:
                out.dead[error.reason] += 1
                out.messages.append(dead_letter_message(self._dead_letter(message, error)))
                continue
            part = message.partition.number
            hoods = self._part(part)
            hoods.elsewhere = self._elsewhere(part)
            for row in rows:
                self._count(row, part, hoods, out)
            pages += len(rows)
        return Output(out.messages, pages, out.dead, out.events)

    def _part(self, part: int) -> Neighborhoods:
        if part not in self._parts:
            self._parts[part] = self._new()
        return self._parts[part]

    def _elsewhere(self, part: int) -> Moments:
        """How bad neighborhoods are in all partitions but this one."""
        known = self._heard | {n: hoods.neighborhoods for n, hoods in self._parts.items()}
        together = Moments()
        for other, moments in known.items():
            if other != part:
                together.merge(moments)
        return together

    def _dead_letter(self, message: Message, error: WireError) -> DeadLetter:
        return DeadLetter(
            reason=error.reason,
            source=f"{message.partition.topic}/{message.partition.number}",
            offset=message.offset,
            url=None,
            detail=str(error),
            at=self._clock(),
        )

    def _count(self, row: Mapping[str, Any], part: int, hoods: Neighborhoods, out: Output) -> None:
        if row["revisit_of"] is not None or (row["status"] or 200) not in _OK:
            out.events["uncounted"] += 1
            return
        marks = marks_of(row)
        facts = _facts(row, marks)
        change = hoods.add(facts)
        cause = Cause(facts.url, row["fetched_at"], marks.labels_version, self._clock())
        out.messages.extend(self._reports(change, cause))
        if self._log is not None:
            self._log.note(part, facts, row["fetched_at"], change)
        out.events["trapped"] += change.trap is not None
        out.events["prefix-evicted"] += change.evicted
        out.events["page-forgotten"] += change.forgotten is not None

    def _reports(self, change: Change, cause: Cause) -> Iterator[Outgoing]:
        if change.trap is not None and change.new_trap:
            yield alert_message(trap_alert(change.trap, cause, self._scheme), stage=self.name)
        for found in change.opened:
            yield self._report(found, "open", change, cause)
        for found in change.closed:
            yield self._report(found, "closed", change, cause)

    def _report(self, found: Neighborhood, state: Any, change: Change, cause: Cause) -> Outgoing:
        alert = neighborhood_alert(found, state, change.threshold, cause, self._scheme)
        return alert_message(alert, stage=self.name)

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

    def restore(self, state: State | None) -> None:
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
            self._part(part).restore(columns)

    def changes(self) -> list[Outgoing]:
        """What must be on the changelog before the offsets of what was processed are."""
        if self._log is None:
            return []
        return [*self._log.take(), *self._log.moments(self._parts)]

    def take_up(self, part: int, messages: Iterable[Message]) -> None:
        """A partition comes, with what its changelog says of it."""
        hoods = self._parts[part] = self._new()
        for message in messages:
            forgotten = take_up_part(hoods, message)
            if self._log is not None and forgotten is not None:
                self._log.forget(part, forgotten)

    def drop(self, parts: Iterable[int]) -> None:
        """These are somebody else's now. How bad they are is still known."""
        for part in parts:
            hoods = self._parts.pop(part, None)
            if hoods is not None:
                self._heard[part] = hoods.neighborhoods
            if self._log is not None:
                self._log.drop(part)

    def hear(self, messages: Iterable[Message]) -> None:
        """What others say of their partitions."""
        for message in messages:
            part, moments = NeighborhoodLog.heard(message)
            self._heard[part] = moments

    @property
    def threshold(self) -> float:
        """Above which badness a neighborhood is bad, by all that is known."""
        whole = self._new()
        whole.elsewhere = self._elsewhere(-1)
        return whole.threshold

    def answer(self, name: str, parameters: Parameters) -> Rows:
        """`neighborhoods`: the worst ones, worst first."""
        if name != "neighborhoods":
            raise BadQuestion(f"{name}: this stage answers neighborhoods")
        top, files = number(parameters, "top", _TOP), number(parameters, "files", 1)
        under = _under(parameters.get("under", ""))
        found = [
            one
            for hoods in self._parts.values()
            for one in hoods.top(top, under=under, min_files=files)
        ]
        return [_shown(one) for one in nsmallest(top, found, key=lambda n: (-n.badness, n.prefix))]


def _under(prefix: str) -> str:
    """A prefix as neighborhoods have it: canonical, and ending where a directory does."""
    if not prefix:
        return prefix
    try:
        found = canonical(prefix)
    except BadPage as error:
        raise BadQuestion(f"under={prefix}: {error.detail}") from error
    return found.partition("?")[0].rstrip("/") + "/"


def _shown(found: Neighborhood) -> dict[str, Any]:
    return {
        "prefix": found.prefix, "files": found.files, "badness": found.badness,
        "chunk_ratio": found.chunk_ratio, "open": found.open, "labels": list(found.labels),
    }  # fmt: skip


def _rows(block: pa.RecordBatch) -> list[dict[str, Any]]:
    """What is counted of each page: canonical URL, fetch, labels, and how many chunks it has."""
    names = [*_PAGE, *(field.name for field in LABEL_FIELDS)]
    try:
        rows: list[dict[str, Any]] = block.select(names).to_pylist()
        counts = pc.list_value_length(block.column("chunks")).to_pylist()
        for row, count in zip(rows, counts, strict=True):
            row["chunks"], row["url"] = count, canonical(row["url"])
    except (pa.ArrowException, BadPage, ValueError, OverflowError) as error:
        raise Malformed(f"a fingerprint block with a value that no page has: {error}") from error
    return rows


def _facts(row: Mapping[str, Any], marks: Marks) -> PageFacts:
    stopped = {at for at in marks.stopped if at < row["chunks"]}
    labeled = {at for at in marks.labeled if at < row["chunks"]} - stopped
    by = zip(marks.labeled, marks.labeled_by, strict=False)
    return PageFacts(
        page=row["page"], url=row["url"], at=at_us(row["fetched_at"]), labeled=len(labeled),
        total=row["chunks"] - len(stopped),
        labels=frozenset(name for at, name in by if at in labeled),
        severity=RANKS.get(marks.labels_severity, 0) if labeled else 0,
    )  # fmt: skip
