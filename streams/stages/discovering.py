"""Discovery over the stream: content that comes to be common is reported once, while the crawl goes
on (Ardi, Heidemann 2014, §3.2, blind).

A part of the stage that sees all pages: discovery is not distributive. Reports a chunk, or a file,
when more pages than the threshold, of enough sites, had it within the window; what that promises in
any order of pages is said by `detector.discovery.online`. The alert's id is made of the hash alone:
whose page was the last one needed does not matter. Never looks into pages but for the sample of the
text.

A label must be on more sites, which are counted by themselves, as a few domains are cheap: whoever
has these could else make a label of somebody's own words. What it finds is information only, and
never says anything of the site that had it first: the label names that site, and is sent again
when an earlier page comes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from reusewatch.detector.hashing import HashScheme, hex_of
from reusewatch.detector.text_column import packed, unpacked
from reusewatch.streams.alert_kinds import KINDS
from reusewatch.streams.blocks.occurrences import (
    IsStopFile,
    chunks_of,
    countable,
    files_of,
    owners_of,
)
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.page_text import ReadOrigin, texts_of
from reusewatch.streams.records import DETECTOR, Alert, Evidence, Label, Origin
from reusewatch.streams.sites import Sites
from reusewatch.streams.stages.discovery_figures import Counted, Figures
from reusewatch.streams.stages.discovery_quota import Spared
from reusewatch.streams.stages.first_pages import first_of, numbers_of
from reusewatch.streams.stages.reports import alert_id
from reusewatch.streams.stages.snapshot import State
from reusewatch.streams.wire import label_message

if TYPE_CHECKING:
    from reusewatch.detector.discovery.online import Discovered, Discovery, Occurrences

LABEL = "discovered"
# Counters may take so much; a higher threshold makes each larger, hence fewer of them.
_COUNTER_BYTES = 128 << 20
_FIGURES = "figures."
_FACTS = ("page", "url", "site", "ip", "fetched_at", "source", "offset", "record_id", "file_hash",
          "labels_version")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rules:
    """What is worth discovering: on more pages than these, of so many sites, longer than that.

    With `label` it also goes into the labeled dataset, once it is on `label_sites` sites.
    """

    pages: int = 100
    file_pages: int = 100
    sites: int = 5
    length: int = 100
    label: bool = False
    label_sites: int = 5


@dataclass(frozen=True, slots=True)
class Findings:
    """What a block of pages brought to light."""

    alerts: list[Alert] = field(default_factory=list)
    messages: list[Outgoing] = field(default_factory=list)
    events: Counter[str] = field(default_factory=Counter)


class _Found(NamedTuple):
    """What was discovered, and where on its page it stands."""

    what: Discovered
    unit: Counted
    start: int
    end: int


class Discovering:
    """Counts what pages share; `add` counts a block, and says what is over the threshold now."""

    def __init__(
        self,
        scheme: HashScheme,
        rules: Rules,
        *,
        window_pages: int,
        read_origin: ReadOrigin | None = None,
        is_stop_file: IsStopFile | None = None,
    ) -> None:
        self._scheme = scheme
        self._rules = rules
        self._period = max(1, window_pages // 2)
        self._read_origin = read_origin
        self._is_stop_file = is_stop_file
        self._events: Counter[str] = Counter()
        self.restore(None)

    def _counting(self, min_sites: int, *, firsts: bool = False) -> dict[Counted, Discovery]:
        from reusewatch.detector.discovery.online import (
            Discovery,  # kernels, loaded by who really works
        )

        def counting(pages: int, singletons: int, counters: int) -> Discovery:
            row = 52 + 4 * (pages + 1) + 8 * max(16, min_sites)
            return Discovery(
                self._scheme, threshold=pages, min_sites=min_sites, period=self._period,
                singletons=max(singletons, 1 << 12),
                counters=min(max(counters, 1 << 10), _COUNTER_BYTES // row), keeps_firsts=firsts,
            )  # fmt: skip

        period = self._period
        return {
            "chunk": counting(
                self._rules.pages, min(32 * period, 1 << 24), min(period // 4, 1 << 17)
            ),
            "file": counting(
                self._rules.file_pages, min(2 * period, 1 << 22), min(period // 16, 1 << 15)
            ),
        }

    def add(self, block: pa.RecordBatch, now: datetime) -> Findings:
        """Count the pages of a block. One that comes again is one page."""
        events, self._events = self._events, Counter[str]()
        out = Findings(events=events)
        block = countable(block)
        # In parts, so that a period ends at a page and not at a block.
        while len(block):
            some = self._of["chunk"].left
            self._add(block.slice(0, some), now, out)
            block = block.slice(some)
        return out

    def _add(self, block: pa.RecordBatch, now: datetime, out: Findings) -> None:
        sites = self._sites.hashes(owners_of(block.column("site")))
        seen: dict[Counted, Occurrences] = {
            "chunk": chunks_of(block, sites, min_length=self._rules.length),
            "file": files_of(block, sites, is_stop=self._is_stop_file),
        }
        if self._labeling:
            self._label(block, seen, out)
        rows: dict[int, list[_Found]] = {}
        for unit, occurrences in seen.items():
            counting = self._of[unit]
            before = counting.evicted, counting.forgotten
            for what in counting.add(occurrences):
                row = int(np.searchsorted(occurrences.hashes.offsets, what.at, "right")) - 1
                place = int(occurrences.starts[what.at]), int(occurrences.ends[what.at])
                rows.setdefault(row, []).append(_Found(what, unit, *place))
            out.events["discovery-evicted"] += counting.evicted - before[0]
            out.events["discovery-forgotten"] += counting.forgotten - before[1]
        # By page, as if each had come alone: what is spared does not hang on where blocks end.
        passed = 0
        for row, found in sorted(rows.items()):
            self._spared.saw(row + 1 - passed)
            passed = row + 1
            self._report(found, row, block.slice(row, 1).select(_FACTS).to_pylist()[0], now, out)
        self._spared.saw(len(block) - passed)
        for unit, occurrences in seen.items():
            self._figures.add(unit, occurrences)

    def ended(self, now: datetime) -> list[Alert]:
        """A step of pages has ended: the alerts whose figure is twice what they said."""
        return self._figures.ended(now)

    def settle(self, now: datetime) -> list[Alert]:
        """The stream stands still: the alerts whose figure is more by now."""
        return self._figures.settled(now)

    def _report(
        self, found: list[_Found], row: int, page: dict[str, Any], now: datetime, out: Findings
    ) -> None:
        """Everything that was discovered on one page; it is read once."""
        for one in found:
            out.events[f"discovered-{one.unit}"] += 1
        # By hash: which of them are told must not depend on where in the page they stand.
        found.sort(key=lambda one: one.what.hash)
        told = self._spared.allowed(found)
        out.events["discovery-untold"] += len(found) - len(told)
        texts = texts_of(
            self._read_origin, _origin_of(page), [(one.start, one.end) for one in told],
            file_hash=page["file_hash"], scheme=self._scheme,
        )  # fmt: skip
        for one, text in zip(told, texts, strict=True):
            alert = self._alert(one, text, page, now)
            out.alerts.append(alert)
            if not self._figures.follow(one.unit, one.what, alert, row):
                out.events["discovery-unfollowed"] += 1

    def _alert(self, found: _Found, text: str | None, page: dict[str, Any], now: datetime) -> Alert:
        limit = self._rules.pages if found.unit == "chunk" else self._rules.file_pages
        return Alert(
            id=alert_id("discovered-content", 0, found.what.hash, self._scheme),
            kind="discovered-content",
            severity=KINDS["discovered-content"].severity,  # mostly a template (§6.2)
            url=page["url"],
            site=page["site"],
            figure=float(found.what.pages),
            threshold=float(limit),
            labels=(LABEL,) if self._rules.label else (),
            sites=self._sites.names(found.what.sites),
            evidence=(Evidence(start=found.start, end=found.end, text=text),),
            fetched_at=page["fetched_at"],
            detected_at=now,
            detector=DETECTOR,
            labels_version=page["labels_version"],
            scheme=self._scheme.name,
            page_id=hex_of(page["page"]),
            ip=page["ip"],
            origin=_origin_of(page),
        )

    def _label(
        self, block: pa.RecordBatch, seen: Mapping[Counted, Occurrences], out: Findings
    ) -> None:
        firsts = numbers_of(block, self._sites)
        # Once a block: read backwards, each page of it is earlier than those before.
        found = {
            (unit, what.hash): what
            for unit, counting in self._labeling.items()
            for what in counting.add(replace(seen[unit], firsts=firsts))
        }
        names = self._sites.by_last_bits() if found else {}
        for (unit, _), what in found.items():
            first = first_of(what.first, names)
            if first is None:
                out.events["discovery-unlabeled"] += 1
                continue
            label = Label(
                hash=hex_of(what.hash), unit=unit, name=LABEL, version=LABEL, severity="info",
                first=first,
            )  # fmt: skip
            out.messages.append(label_message(label))

    def nbytes(self) -> int:
        """Bytes of all tables."""
        counted = (*self._of.values(), *self._labeling.values())
        tables = sum(counting.memory for counting in counted)
        return tables + self._sites.nbytes() + self._figures.nbytes()

    def _tables(self) -> Iterator[tuple[str, Discovery]]:
        yield from self._of.items()
        yield from ((f"label-{unit}", counting) for unit, counting in self._labeling.items())

    def save(self) -> State:
        """All state."""
        arrays = {
            f"{unit}.{name}": column
            for unit, counting in self._tables()
            for name, column in counting.save().items()
        }
        figures = self._figures.save()
        arrays |= {_FIGURES + name: array for name, array in figures.arrays.items()}
        facts = self._spared.facts() | {"figures": figures.facts}
        return State(arrays | {"sites": packed(self._sites)}, facts)

    def restore(self, state: State | None) -> None:
        """Go on from a saved state. Where tables have another size by now, counting begins anew."""
        self._of = self._counting(self._rules.sites)
        label_sites = self._rules.label_sites
        self._labeling = self._counting(label_sites, firsts=True) if self._rules.label else {}
        self._sites = Sites(self._scheme)
        self._spared = Spared(None if state is None else dict(state.facts))
        self._events = Counter[str]()
        self._figures = Figures(self._of, self._period)
        if state is None:
            return
        told = {
            name.removeprefix(_FIGURES): array
            for name, array in state.arrays.items() if name.startswith(_FIGURES)
        }  # fmt: skip
        self._figures.restore(State(told, state.facts["figures"]))
        self._sites.extend(unpacked(state.arrays["sites"]))
        for unit, counting in self._tables():
            head = f"{unit}."
            saved = {n.removeprefix(head): a for n, a in state.arrays.items() if n.startswith(head)}
            try:
                counting.restore(saved)
            except (KeyError, ValueError):  # counted for the first time, or otherwise
                self._events["discovery-anew"] += 1


def _origin_of(page: dict[str, Any]) -> Origin:
    return Origin(source=page["source"], offset=page["offset"], record_id=page["record_id"])
