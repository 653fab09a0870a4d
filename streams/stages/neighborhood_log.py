"""The changelog of neighborhoods: what one partition's figures are made of, on a compacted topic.

A message per page that counts, one per neighborhood that is open, one per trap that was reported.
Sums are not in it: they are added up again from the pages, and a page that is added twice changes
nothing. So a write that a crash cut short leaves nothing to mend: what is there is true, and what
is not is read again. What was reported goes first; else a restart in between would report it
again, or, of a neighborhood whose pages are there already, never take it for open.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from reusewatch.detector.hashing import hex_of
from reusewatch.detector.mean_and_deviation import SHARE_BITS, Moments
from reusewatch.detector.neighborhoods.figures import Change, PageFacts
from reusewatch.detector.neighborhoods.neighborhoods import Neighborhoods
from reusewatch.detector.neighborhoods.unlabeled import Unlabeled
from reusewatch.streams.bus import Message, Outgoing
from reusewatch.streams.records import NeighborhoodPart, PartitionMoments
from reusewatch.streams.stages.neighborhood_reports import BY_RANK, RANKS
from reusewatch.streams.times import at_us, moment
from reusewatch.streams.wire import Malformed, moments_message, part_gone, part_message, read_json

_MOST_PAGES = 1 << 48
_MOST_CHUNKS = 1 << 32  # of one page
_PAGE_ID = re.compile("[0-9a-f]{1,16}")
_SQUARES = re.compile("[0-9a-f]{1,48}")
_Noted = dict[str, NeighborhoodPart | None]  # by key; None: it is gone


class Heard(NamedTuple):
    """How bad the neighborhoods of a partition are, and of how many pages that is."""

    moments: Moments
    pages: int


class NeighborhoodLog:
    """What has changed since it was last written, by partition."""

    def __init__(self) -> None:
        self._reported: dict[int, _Noted] = {}
        self._pages: dict[int, _Noted] = {}
        self._told: dict[int, Moments] = {}

    def note(self, part: int, facts: PageFacts, at: datetime, change: Change) -> None:
        """What a page changed."""
        reported = self._reported.setdefault(part, {})
        if change.trap is not None and change.new_trap:
            prefix = change.trap.prefix
            reported[f"trap {prefix}"] = NeighborhoodPart(what="trap", url=prefix, at=at)
        for found in (*change.opened, *change.moved):
            told = int(found.badness * (1 << SHARE_BITS))
            mark = NeighborhoodPart(
                what="open", url=found.prefix, at=at, told=told, sure=found.sure
            )
            reported[f"open {found.prefix}"] = mark
        for found in change.closed:
            reported[f"open {found.prefix}"] = None
        if change.counted:
            # Moved to the end: pages are taken up in the order in which they were counted.
            pages, key = self._pages.setdefault(part, {}), _key(facts.page)
            pages.pop(key, None)
            pages[key] = _page(facts, at)
        if change.forgotten is not None:
            self.forget(part, change.forgotten)

    def note_unlabeled(self, part: int, pages: Unlabeled, begin: int, end: int) -> None:
        """That pages were counted of which nothing is labeled, and which changed nothing else."""
        noted = self._pages.setdefault(part, {})
        columns = [column[begin:end] for column in pages]
        for page, url, at, total in zip(*columns, strict=True):
            named = hex_of(page)
            noted.pop(key := f"page {named}", None)
            noted[key] = NeighborhoodPart(
                what="page", url=url, at=moment(at), page_id=named, total=total
            )

    def forget(self, part: int, page: int) -> None:
        """This page counts no longer."""
        self._pages.setdefault(part, {})[_key(page)] = None

    def drop(self, part: int) -> None:
        """This partition is somebody else's to write."""
        self._reported.pop(part, None)
        self._pages.pop(part, None)
        self._told.pop(part, None)

    def take(self) -> list[Outgoing]:
        """What is to be written, in this order."""
        found = [
            part_gone(key, part) if value is None else part_message(key, value, part)
            for noted in (self._reported, self._pages)
            for part, values in noted.items()
            for key, value in values.items()
        ]
        self._reported.clear()
        self._pages.clear()
        return found

    def moments(self, parts: Mapping[int, Neighborhoods]) -> list[Outgoing]:
        """How bad the neighborhoods of these partitions are, where that has changed."""
        found = []
        for part, hoods in parts.items():
            now = Moments()
            now.merge(hoods.neighborhoods)
            if self._told.get(part) != now:
                self._told[part] = now
                record = PartitionMoments(
                    partition=part,
                    count=now.count,
                    total=now.total,
                    squares=f"{now.squares:x}",
                    pages=hoods.pages.count,
                )
                found.append(moments_message(record))
        return found

    @staticmethod
    def heard(message: Message) -> tuple[int, Heard]:
        """The moments of a partition, as somebody wrote them."""
        said = read_json(message, PartitionMoments)
        if not _SQUARES.fullmatch(said.squares):
            raise Malformed(f"squares of {said.squares[:100]!r} are no number")
        moments = Moments(said.count, said.total, int(said.squares, 16))
        if not moments.possible:
            raise Malformed(f"no shares add up to {moments}"[:300])
        return said.partition, Heard(moments, min(max(said.pages, 0), _MOST_PAGES))


def take_up_part(hoods: Neighborhoods, message: Message) -> int | None:
    """Take up what one message of the changelog says; the page that is forgotten for it."""
    part = read_json(message, NeighborhoodPart)
    _check(part)
    if part.what == "open":
        hoods.hold_open(part.url, part.told, sure=part.sure)
    elif part.what == "trap":
        hoods.hold_trap(part.url)
    else:
        return hoods.take_up(
            PageFacts(
                page=int(part.page_id or "0", 16), url=part.url, at=at_us(part.at),
                labeled=part.labeled, total=part.total, labels=frozenset(part.labels),
                severity=RANKS[part.severity], homed=part.homed,
            )
        )  # fmt: skip
    return None


def _check(part: NeighborhoodPart) -> None:
    """Malformed where a number is none that was ever written: snapshots have no room for it."""
    page = part.page_id or "0"
    if not _PAGE_ID.fullmatch(page):
        raise Malformed(f"a part of neighborhoods of a page {page[:100]!r}")
    if not 0 <= part.told <= 1 << SHARE_BITS or not 0 <= part.total <= _MOST_CHUNKS:
        raise Malformed(f"a part of neighborhoods that counts {part.told} and {part.total}")


def _page(facts: PageFacts, at: datetime) -> NeighborhoodPart:
    return NeighborhoodPart(
        what="page", url=facts.url, at=at, page_id=hex_of(facts.page), labeled=facts.labeled,
        total=facts.total, labels=tuple(sorted(facts.labels)),
        severity=BY_RANK[facts.severity], homed=facts.homed,
    )  # fmt: skip


def _key(page: int) -> str:
    return f"page {hex_of(page)}"
