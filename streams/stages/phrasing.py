"""Popular phrases (Fetterly et al. 2005): a part of the stage `index`.

Keeps the shingles of the pages that were fetched last, and judges them together when enough have
come, or when the stream stands still. Says which pages consist of popular phrases, and which hosts
do: those are alerts, open as long as they do.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.alert_kinds import KINDS
from reusewatch.streams.blocks.occurrences import countable
from reusewatch.streams.blocks.values import matrix_of
from reusewatch.streams.origins import Origins
from reusewatch.streams.records import DETECTOR, Alert, Evidence
from reusewatch.streams.stages.popular_counts import PopularCounts
from reusewatch.streams.stages.rows_on_disk import RowsOnDisk
from reusewatch.streams.stages.snapshot import State
from reusewatch.streams.steering.reports import prefix_alert_id
from reusewatch.streams.urls import place, root_of

if TYPE_CHECKING:
    from reusewatch.detector.phrases.window import Judged, PhraseWindow, Told
    from reusewatch.detector.window.sightings import Seen

_HOSTS = 65_536
_HOST_BYTES = 200
_NEVER = -1
_LONGEST_NAME = 48
_TOLD = ("site", "host", "url", "source", "offset", "record_id")
Known = Callable[[int], "Seen | None"]
"""A page of the window by its id."""


class Consisting(NamedTuple):
    """A page that consists of popular shingles, and what only is known of it here."""

    page: int
    text: int
    truncated: bool
    # Which record it was last, and the name of that, if it has one and that is not long.
    origin: int
    record_id: str | None


@dataclass(frozen=True, slots=True)
class Phrased:
    """What came of judging: alerts on hosts, how many popular shingles each new page has, and
    which pages consist of such."""

    alerts: tuple[Alert, ...] = ()
    popular: tuple[int, ...] = ()
    pages: tuple[Consisting, ...] = ()


NOTHING = Phrased()


class Phrasing:
    """The shingles of the pages that were fetched last, and what was found of hosts."""

    def __init__(
        self, scheme: HashScheme, *, most: int, least_new: int, directory: Path | None = None
    ) -> None:
        """Shingles stand in a file below this directory, or where temporary ones do."""
        self._scheme = scheme
        self._most = most
        self._directory = directory
        self._least_new = least_new
        self._hash = lru_cache(_HOSTS)(scheme.of_text)
        # Pages that have come since the last time.
        self._since = 0
        self.restore(None)

    def add(self, block: pa.RecordBatch, origins: Origins) -> None:
        """Take the pages of a block that have words of their own."""
        from reusewatch.detector.phrases.window import FETCH

        block = countable(block)
        worded = block.column("identity_hash").to_numpy() != 0
        if not worded.any():
            return
        told = [block.column(name).to_pylist() for name in _TOLD]
        here: Any = slice(None)
        if not worded.all():
            told, here = [list(compress(values, worded)) for values in told], worded
        sites, hosts, urls, sources, offsets, names = told
        fetches = np.zeros(len(sites), FETCH)
        fetches["page"] = block.column("page").to_numpy()[here]
        fetches["identity"] = block.column("identity_hash").to_numpy()[here]
        fetches["fetched"] = block.column("fetched_at").view(pa.int64()).to_numpy()[here]
        fetches["site"] = [self._hash(name) for name in sites]
        fetches["host"] = self._hosts_of(hosts, urls)
        fetches["popular"] = _NEVER
        fetches["truncated"] = block.column("truncated").to_numpy(zero_copy_only=False)[here]
        fetches["origin"] = origins.numbers(sources, offsets)
        fetches["record"] = list(map(_short, names))
        fetches["supershingles"] = matrix_of(block.column("supershingles5"))[here]
        fetches["shingles"] = matrix_of(block.column("shingles"))[here]
        self._window.add(fetches)
        self._since += len(fetches)

    def _hosts_of(self, hosts: Sequence[str], urls: Sequence[str]) -> list[int]:
        found = [self._hash(host) for host in hosts]
        for host, url in zip(found, urls, strict=True):
            if host not in self._roots:
                self._roots[host] = root_of(url)
        while len(self._roots) > self._most:
            self._roots.popitem(last=False)
        return found

    def judge(self, known: Known, now: datetime, *, at_rest: bool = False) -> Phrased:
        """What is found of the pages, if enough have come since, or any and none come now."""
        if not self._since or (
            not at_rest and (self._since < self._least_new or not self._window.due)
        ):
            return NOTHING
        self._since = 0
        judged = self._window.judge()
        self._said.put(judged.pages, judged.popular)
        consist = self._consisting(judged)
        alerts = [*self._closed(judged, now), *self._opened(judged, known, now)]
        new = judged.popular[judged.before < 0]
        return Phrased(tuple(alerts), tuple(new.tolist()), consist)

    def _consisting(self, judged: Judged) -> tuple[Consisting, ...]:
        """Pages that have as many popular shingles by now as tells of a host."""
        from reusewatch.detector.phrases.hosts import LEAST_MEAN

        some = (judged.popular >= LEAST_MEAN) & (judged.before < LEAST_MEAN)
        columns = (judged.pages, judged.identities, judged.truncated, judged.origins)
        names = (name.decode() or None for name in judged.records[some].tolist())
        rows = zip(*(column[some].tolist() for column in columns), names, strict=True)
        return tuple(map(Consisting._make, rows))

    def said(self, page: int) -> int | None:
        """How many popular shingles a page has, by when it was judged last."""
        return self._said.get(page)

    def said_of(self, pages: Sequence[int]) -> list[int | None]:
        """The same of several."""
        return self._said.of(pages)

    def _opened(self, judged: Judged, known: Known, now: datetime) -> list[Alert]:
        told = []
        for one in judged.hosts:
            root = self._roots.get(one.host)
            seen = [page for page in map(known, one.worst) if page is not None]
            if root is None or not seen or root in self._open:
                continue
            self._open[root] = one.host
            told.append(self._alert(root, "open", one, seen, now))
        return told

    def _closed(self, judged: Judged, now: datetime) -> list[Alert]:
        """Hosts that are none any more, now that more of the web is known."""
        bad = {one.host for one in judged.hosts}
        gone = [root for root, host in self._open.items() if host not in bad]
        for root in gone:
            del self._open[root]
        return [self._alert(root, "closed", None, [], now) for root in gone]

    def _alert(
        self, root: str, state: Literal["open", "closed"], told: Told | None, seen: list[Seen],
        now: datetime,
    ) -> Alert:  # fmt: skip
        from reusewatch.detector.phrases.hosts import LEAST_MEAN
        from reusewatch.streams.times import moment

        return Alert(
            id=prefix_alert_id("phrase-host", root, self._scheme),
            kind="phrase-host",
            state=state,
            severity=KINDS["phrase-host"].severity,
            url=None,
            prefix=root,
            site=place(root, self._scheme).site,
            figure=0.0 if told is None else round(told.found.mean, 3),
            threshold=float(LEAST_MEAN),
            evidence=tuple(Evidence(url=one.url) for one in seen),
            fetched_at=moment(max((one.last for one in seen), default=0)) if seen else now,
            detected_at=now,
            detector=DETECTOR,
            scheme=self._scheme.name,
            files=None if told is None else told.found.pages,
            deviation=None if told is None else round(told.found.deviation, 3),
        )

    def nbytes(self) -> int:
        """Bytes of the pages in memory, and about of hosts."""
        return self._window.nbytes + len(self._roots) * _HOST_BYTES + self._said.nbytes

    def save(self) -> State:
        """All of it."""
        facts: dict[str, Any] = {
            "roots": list(self._roots.items()), "open": list(self._open.items()),
            "since": self._since,
        }  # fmt: skip
        return State({**self._window.save(), **self._said.save()}, facts)

    def restore(self, state: State | None) -> None:
        """Take up what was saved, or begin with nothing."""
        from reusewatch.detector.phrases.shingle_rows import MIN_VALUES
        from reusewatch.detector.phrases.window import PhraseWindow

        facts: Any = {} if state is None else state.facts
        rows = RowsOnDisk(MIN_VALUES, self._directory, instead="keep no phrases (phrase_pages = 0)")
        self._window: PhraseWindow = PhraseWindow(self._most, rows)
        arrays = None if state is None else state.arrays
        self._window.restore(arrays)
        self._roots: OrderedDict[int, str] = OrderedDict(facts.get("roots", ()))
        self._open: dict[str, int] = dict(facts.get("open", ()))
        self._said = PopularCounts(self._most, arrays)
        self._since = int(facts.get("since", 0))


def _short(name: str | None) -> bytes:
    """The name of a record, as nearly all are; of a longer one nothing is kept."""
    stored = (name or "").encode()
    return stored if len(stored) <= _LONGEST_NAME else b""
