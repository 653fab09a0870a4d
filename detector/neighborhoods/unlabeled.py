"""Pages of which nothing is labeled, as most of a crawl: what a run of them adds to each directory.

A new page without labels changes no badness that is not nothing, so that nothing has to be judged
between such pages: those of a directory are counted together. A run ends before the first page that
is more than that: one seen before, one in a trap, one under a prefix where something is labeled or
that was reported, and one for which something would have to be forgotten.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reusewatch.detector.neighborhoods.prefix_sums import PrefixSums
from reusewatch.detector.neighborhoods.prefixes import neighborhoods_of


class Unlabeled(NamedTuple):
    """Pages of which nothing is labeled, as columns: URL, fetch, and chunks that count."""

    page: Sequence[int]
    url: Sequence[str]
    at: Sequence[int]
    total: Sequence[int]


@dataclass(slots=True)
class Below:
    """What a run adds to the prefixes of one directory: its files and their chunks. `first` and
    `last` are the first and the last page of the run that stand there."""

    first: int
    last: int
    files: int = 0
    chunks: int = 0


Run = dict[tuple[str, ...], Below]
"""By the prefixes of a directory, the deepest first."""


class Room(NamedTuple):
    """What a run finds: prefixes that are counted, those that are open though nothing of them is
    counted, pages seen, and how many more prefixes and pages there may be."""

    nodes: Mapping[str, PrefixSums]
    left_open: Container[str]
    seen: Container[int]
    prefixes: int
    pages: int


def run_of(pages: Unlabeled, begin: int, end: int, room: Room) -> tuple[Run, list[str]]:
    """The pages from `begin` on that are a run, and the directory of each."""
    run: Run = {}
    directories: list[str] = []
    new: set[str] = set()
    mine: set[int] = set()
    columns = zip(pages.page[begin:end], pages.url[begin:end], pages.total[begin:end], strict=True)
    for at, (page, url, total) in enumerate(columns):
        trap, touched = neighborhoods_of(url)
        if trap is not None or page in room.seen or page in mine or at == room.pages:
            break
        below = run.get(touched)
        if below is None:
            if not _is_plain(touched, room, new):
                break
            below = run[touched] = Below(at, at)
        below.last = at
        if total:
            below.files += 1
            below.chunks += total
        mine.add(page)
        directories.append(touched[0])
    return run, directories


def _is_plain(touched: tuple[str, ...], room: Room, new: set[str]) -> bool:
    """Whether a page under these prefixes changes no figure; notes those that are new."""
    here = [prefix for prefix in touched if prefix not in room.nodes]
    known = (room.nodes[prefix] for prefix in touched if prefix in room.nodes)
    if any(node.shares or node.open for node in known):
        return False
    if any(prefix in room.left_open for prefix in here):
        return False
    if len(new) + sum(prefix not in new for prefix in here) > room.prefixes:
        return False
    new.update(here)
    return True
