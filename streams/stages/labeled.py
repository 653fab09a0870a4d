"""Labeled pages: what of a page is in the labeled dataset, and whether that is reported (Ardi,
Heidemann 2014, §3.1 steps 4 and 5): a part of the stage `index`.

`labeled-page` where the file as a whole is in L_f, `labeled-content` where contains reaches the
threshold, or where enough of the page's grams stand on labeled pages (`gram_containment`), whose
share is the figure then. Which chunks count below the line is said in `blocks.matchable`; a page
without any has no contains, and is in no mean. Without a fixed threshold it is mean plus one
standard deviation of the pages seen so far: then which pages are reported depends on when they
came, as in the paper; with a fixed one it depends on nothing but the page.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import chain, repeat
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec.structs import replace as replace_record
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme, hex_of
from reusewatch.detector.labels.contains import contains
from reusewatch.detector.mean_and_deviation import PAPER_PAGES, Moments, Threshold, share
from reusewatch.streams.alert_kinds import KINDS, SEVERITIES, Severity
from reusewatch.streams.blocks.for_window import counts, obfuscated_of
from reusewatch.streams.blocks.label_columns import (
    LABEL_FIELDS,
    Marks,
    Place,
    Row,
    marks_of,
    rows_of,
)
from reusewatch.streams.blocks.matchable import Rule, counted_chunks
from reusewatch.streams.blocks.occurrences import lengths_of
from reusewatch.streams.blocks.values import is_here
from reusewatch.streams.records import (
    DETECTOR,
    FINE,
    HIDES,
    Alert,
    Evidence,
    Kind,
    Origin,
)
from reusewatch.streams.stages.direction import AT_HOME
from reusewatch.streams.stages.reports import alert_id, severity_of
from reusewatch.streams.stages.snapshot import State
from reusewatch.streams.stages.stage import Line
from reusewatch.streams.url_sets import UrlSet

# Labeled pages that a later verdict, when they turn out to be copies, still says it of.
MOST_SAID = 100_000
_SAID_BYTES = 400
# Rows of an alert's evidence: paragraphs, and passages beside them.
MOST_EVIDENCE = 24
LABELED_GRAMS = 0.05
"""From this share of a page's grams on it is reported, if nothing else is set."""
# Versions of labels whose pages come at one time.
_VERSIONS = 64
_COUNTED = ("labeled", "file_labels")
_COLUMNS = (
    "page", "url", "site", "ip", "status", "revisit_of", "fetched_at", "text_start", "text_end",
    "excerpt", "salvaged", "truncated", "overlong", "obfuscated", "file_hash", "identity_hash",
    "chunk_starts", "chunk_ends", "source", "offset", "record_id",
    *(field.name for field in LABEL_FIELDS),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Labeled:
    """What is said of one page. `contains` is None where no dataset was in force, or no chunk of
    the page could be in it."""

    contains: float | None = None
    labels: tuple[str, ...] = ()
    labels_version: str | None = None
    alerts: tuple[Alert, ...] = ()
    # Where the page hides what it has.
    obfuscated: float = 0.0
    # Not all of the page was read; `overlong`: as it has more words than are read.
    truncated: bool = False
    overlong: bool = False
    # The share of its grams that stand on labeled pages; None where that was not looked at, or are
    # fewer than are ever reported.
    grams: float | None = None


NOT_JUDGED = Labeled()


class LabeledPages:
    """The threshold over all pages, and what it makes of each.

    A row has the facts of a page, its label columns, `chunks`, `chunk_starts`, `chunk_ends`.
    """

    def __init__(
        self,
        scheme: HashScheme,
        *,
        fixed: float | None = None,
        grams: float = LABELED_GRAMS,
        rule: Rule = "matchable",
        allowed: UrlSet | None = None,
    ) -> None:
        self._scheme = scheme
        self._allowed = allowed or UrlSet()
        self._rule = rule
        self._grams = grams
        self._threshold = Threshold(PAPER_PAGES, fixed=fixed, most=PAPER_PAGES)
        self._seen = Moments()
        self._said: OrderedDict[int, Labeled] = OrderedDict()

    def judge_block(
        self, block: pa.RecordBatch, now: datetime, owned: NDArray[np.bool_] | None = None
    ) -> list[Labeled]:
        """What is said of the pages of a block; page by page only where something is labeled.

        Owned pages are no subjects: they have no alert, and do not count for the threshold.
        """
        return self._hiding(block, self._judged(block, now, owned))

    def _hiding(self, block: pa.RecordBatch, found: list[Labeled]) -> list[Labeled]:
        """With those that hide what they have, or are not read to their end: a later verdict says
        it again."""
        shares, pages = obfuscated_of(block), block.column("page").to_pylist()
        cut, over = (
            block.column(name).to_numpy(zero_copy_only=False) for name in ("truncated", "overlong")
        )
        hides = shares >= HIDES
        for at, page in enumerate(pages):
            if page in self._said and not (self._said[page].labels or hides[at] or cut[at]):
                del self._said[page]  # it hides no more
        for at in np.flatnonzero(hides | cut).tolist():
            found[at] = replace(
                found[at], obfuscated=float(shares[at]) if hides[at] else 0.0,
                truncated=bool(cut[at]), overlong=bool(over[at]),
            )  # fmt: skip
            if not block.column("salvaged")[at].as_py():
                self.remember(pages[at], found[at])
        return found

    def _judged(
        self, block: pa.RecordBatch, now: datetime, owned: NDArray[np.bool_] | None
    ) -> list[Labeled]:
        versions = block.column("labels_version").to_pylist()
        if not any(versions):
            return [NOT_JUDGED] * len(block)
        some = sum(lengths_of(block.column(name)) for name in _COUNTED)
        by_grams = is_here(block.column("labeled_grams"))
        hits = np.flatnonzero((some > 0) | by_grams).tolist()
        rows = rows_of(block, _COLUMNS, hits) if hits else []
        pages = block.column("page").to_pylist()
        totals, counted = counted_chunks(block, self._rule), counts(block)
        known = [version if one else None for version, one in zip(versions, counted, strict=True)]
        found = list(map(_unlabeled, known, (totals > 0).tolist()))
        # Those that count for the threshold, though nothing of them is labeled.
        seen = (totals > 0) & np.array([one is not None for one in known])
        if owned is not None:
            seen &= ~owned
        last = 0
        for at, row in zip([*hits, len(block)], [*rows, None], strict=True):
            self._nothing_of(pages[last:at], int(seen[last:at].sum()))
            last = at + 1
            if row is not None:
                mine = owned is not None and bool(owned[at])
                found[at] = self.judge(row, int(totals[at]), now, owned=mine)
                if not row["salvaged"]:  # or what is said of the page itself stays as it is
                    self.remember(pages[at], found[at])
        return found

    def _nothing_of(self, pages: Sequence[int], counted: int) -> None:
        """Nothing of these pages is labeled, of which so many count for the threshold."""
        if self._said:
            for page in pages:
                self._said.pop(page, None)
        self._seen.merge(Moments(counted))

    def remember(self, page: int, said: Labeled) -> None:
        """What was said of a page, for verdicts that come later."""
        self._said.pop(page, None)
        if said.labels or said.obfuscated or said.truncated:
            self._said[page] = replace(said, alerts=())
            if len(self._said) > MOST_SAID:
                self._said.popitem(last=False)

    def said(self, page: int) -> Labeled:
        """What was said of a labeled page when it was judged."""
        return self._said.get(page, NOT_JUDGED)

    def nbytes(self) -> int:
        """About what is remembered."""
        return len(self._said) * _SAID_BYTES

    @property
    def threshold(self) -> float:
        """From which share on a page is reported, as of now."""
        return self._threshold.of(self._seen)

    @property
    def line(self) -> Line:
        """The threshold, with what it is made of."""
        return Line(self.threshold, self._seen.mean, self._seen.deviation)

    def judge(self, row: Row, total: int, now: datetime, *, owned: bool = False) -> Labeled:
        """What is said of a page of which so many chunks count; it then counts for the threshold
        of those that follow."""
        marks = marks_of(row)
        error_page = row["status"] is not None and row["status"] not in FINE
        if marks.labels_version is None or row["revisit_of"] is not None or error_page:
            return NOT_JUDGED
        # Not above 1, whatever a forged block says.
        labeled = min(len(set(marks.labeled)), total)
        found, threshold = contains(labeled, total), self.threshold
        alerts = []
        if marks.file_labels and not owned:
            alerts.append(self._page_alert(row, marks, now))
        of_grams = _gram_share(marks)
        many = of_grams is not None and of_grams >= self._grams
        if labeled and found >= threshold and not owned:
            alerts.append(self._content_alert(row, marks, found, threshold, now, grams=many))
        elif of_grams is not None and many and not owned:
            alerts.append(self._gram_alert(row, marks, of_grams, now))
        if total and not row["salvaged"] and not owned:
            self._seen.add(share(labeled, total))
        names = {*marks.file_labels, *marks.labeled_by, *(_gram_labels(marks) if many else ())}
        said = found if total else None
        return Labeled(
            said, tuple(sorted(names)), marks.labels_version, tuple(alerts), grams=of_grams
        )

    def save(self) -> State:
        """What the threshold is made of."""
        # As text: sums of squares are larger than what JSON readers take for numbers.
        seen = self._seen
        said = [
            [page, x.contains, x.labels, x.labels_version, x.obfuscated, x.truncated, x.overlong]
            for page, x in self._said.items()
        ]
        numbers = [str(seen.count), str(seen.total), str(seen.squares)]
        grams = [[page, x.grams] for page, x in self._said.items() if x.grams is not None]
        return State(facts={"seen": numbers, "said": said, "grams": grams})

    def restore(self, state: State | None) -> None:
        """Go on with a saved threshold, or anew."""
        self._seen, self._said = Moments(), OrderedDict()
        if state is not None and state.facts:
            self._seen = Moments(*map(int, state.facts["seen"]))
            for page, contained, labels, version, hides, cut, over in state.facts["said"]:
                self._said[page] = Labeled(
                    contained, tuple(labels), version, (), hides, truncated=cut, overlong=over
                )
            for page, share_of_grams in state.facts.get("grams", ()):
                self._said[page] = replace(self._said[page], grams=share_of_grams)

    def _page_alert(self, row: Row, marks: Marks, now: datetime) -> Alert:
        evidence = tuple(
            Evidence(
                start=row["text_start"], end=row["text_end"], text=row["excerpt"], label=name,
                **_stood(None if at else marks.file_at),
            )
            for at, name in enumerate(marks.file_labels)
        )  # fmt: skip
        names = tuple(sorted(marks.file_labels))
        return self._alert("labeled-page", row, marks, row["file_hash"], names, 1.0, 1.0, evidence,
                           now)  # fmt: skip

    def _content_alert(
        self, row: Row, marks: Marks, found: float, threshold: float, now: datetime, *, grams: bool
    ) -> Alert:
        names = {*marks.labeled_by, *(_gram_labels(marks) if grams else ())}
        alert = self._alert("labeled-content", row, marks, row["identity_hash"],
                            tuple(sorted(names)), found, threshold, _content(row, marks),
                            now)  # fmt: skip
        return replace_record(alert, figure_of="chunks")

    def _gram_alert(self, row: Row, marks: Marks, found: float, now: datetime) -> Alert:
        """Of a page whose paragraphs are not labeled, or too few, and whose sentences are."""
        said = marks.labeled_grams or {}
        severest = _severest(marks.labels_severity, said.get("severity"))
        homed = bool(marks.labels_homed or said.get("homed"))
        marks = marks._replace(labels_severity=severest, labels_homed=homed)
        names = tuple(sorted({*marks.labeled_by, *_gram_labels(marks)}))
        alert = self._alert("labeled-content", row, marks, row["identity_hash"], names, found,
                            self._grams, _content(row, marks), now)  # fmt: skip
        return replace_record(alert, figure_of="grams")

    def _alert(
        self,
        kind: Kind,
        row: Row,
        marks: Marks,
        content: int,
        names: tuple[str, ...],
        figure: float,
        threshold: float,
        evidence: tuple[Evidence, ...],
        now: datetime,
    ) -> Alert:
        said = marks.labels_severity
        severity: Severity = next((one for one in SEVERITIES if one == said), KINDS[kind].severity)
        severity = severity_of(
            severity, overlong=row["overlong"], salvaged=row["salvaged"],
            harmless=self._allowed.has(row["url"]),
            obfuscated=row["obfuscated"] or 0.0,
        )  # fmt: skip
        return Alert(
            id=alert_id(kind, row["page"], content, self._scheme),
            kind=kind, severity=severity, url=row["url"], site=row["site"], figure=figure,
            threshold=threshold, labels=names, evidence=evidence, fetched_at=row["fetched_at"],
            detected_at=now, detector=DETECTOR, labels_version=marks.labels_version,
            scheme=self._scheme.name, page_id=hex_of(row["page"]), ip=row["ip"],
            salvaged=row["salvaged"], truncated=row["truncated"],
            direction=AT_HOME if marks.labels_homed else None,
            obfuscated=round(row["obfuscated"] or 0.0, 4),
            origin=Origin(
                source=row["source"], offset=row["offset"], record_id=row["record_id"]
            ),
            file_hash=hex_of(row["file_hash"]),
        )  # fmt: skip


@lru_cache(_VERSIONS)
def _unlabeled(version: str | None, counts: bool) -> Labeled:
    """What is said of a page of which nothing is labeled: of most."""
    return NOT_JUDGED if version is None else Labeled(0.0 if counts else None, (), version)


def _severest(*said: str | None) -> str | None:
    known = [one for one in SEVERITIES if one in said]
    return known[-1] if known else None


def _gram_share(marks: Marks) -> float | None:
    """The share of a page's grams that are labeled; not above 1, whatever a forged block says."""
    said = marks.labeled_grams
    if said is None or not said["labeled"] or not said["total"]:
        return None
    found: float = said["labeled"] / said["total"]
    return min(max(found, 0.0), 1.0)


def _gram_labels(marks: Marks) -> tuple[str, ...]:
    said = marks.labeled_grams
    return () if said is None else tuple(name for name in said["labels"] or () if name)


def _content(row: Row, marks: Marks) -> tuple[Evidence, ...]:
    """The first of the labeled chunks, then passages that are not within them."""
    starts, ends = row["chunk_starts"], row["chunk_ends"]
    # Only those with a text: the first of them.
    stood = chain(marks.labeled_at or (), repeat(None))
    shown = zip(marks.labeled, marks.labeled_by, marks.labeled_text, stood, strict=False)
    chunks = [
        Evidence(start=starts[place], end=ends[place], text=text, label=name, **_stood(at))
        for place, name, text, at in shown
    ]
    spans = [(starts[place], ends[place]) for place in set(marks.labeled)]
    passages = [
        Evidence(start=one["from"], end=one["to"], text=one["text"], label=one["label"],
                 **_stood(one["at"]))
        for one in (marks.labeled_grams or {}).get("passages") or ()
        if one and not any(start <= (one["from"] or 0) < end for start, end in spans)
    ]  # fmt: skip
    return tuple([*chunks, *passages][:MOST_EVIDENCE])


def _stood(place: Place | None) -> dict[str, Any]:
    """Which labeled page it is from, and where on it, as evidence has it."""
    if place is None or place["url"] is None:
        return {}
    source = place["source"]
    return {
        "donor": place["url"],
        "donor_start": place["start"],
        "donor_end": place["end"],
        "donor_origin": Origin(source=source, offset=place["offset"]) if source else None,
        "donor_hash": None if place["file_hash"] is None else hex_of(place["file_hash"]),
    }
