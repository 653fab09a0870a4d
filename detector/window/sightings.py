"""Pages as they were seen once, and what the window answers: columns in, columns out.

One page's answer can be had as a value; whoever judges fifty thousand a second reads the columns
and asks for values only where something was found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.ragged import as_column
from reusewatch.detector.window.judging import (
    ALERT,
    ALERT_SAME,
    LATE,
    MISDATED,
    NEAR_ALERT,
    NEAR_WITHDRAWN,
    OVERTAKES,
    SAME,
    SUPERSEDED,
    WITHDRAWN,
)
from reusewatch.detector.window.owned import AHEAD_US, date_of, is_owned, real
from reusewatch.detector.window.store import ENTRY, ROW, SAMPLE

_COLUMNS = (
    ("page", np.uint64, ()), ("site", np.uint64, ()), ("at", np.int64, ()),
    ("text", np.uint64, ()), ("file", np.uint64, ()), ("origin", np.uint64, ()),
    ("start", np.uint32, ()), ("end", np.uint32, ()),
    ("super8", np.uint64, (6,)), ("super5", np.uint64, (6,)), ("simhash", np.uint64, (6,)),
    ("sample", np.uint8, (SAMPLE,)),
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Sightings:
    """A batch of pages, a row each: `text` is the identity hash, `file` that of the bytes.

    `site` is a hash of what the caller takes for a site; `sample` is `policy.sample_of` the
    min-values with k = 5. Pages without words have `text` 0 and are like no other page. `origin`
    is the caller's, and handed back: where the page can be read again. `owned`: see
    `detector.window.owned`. `canonical`: the page that each names as its source; 0 names none.
    """

    page: NDArray[np.uint64]
    site: NDArray[np.uint64]
    at: NDArray[np.int64]
    text: NDArray[np.uint64]
    file: NDArray[np.uint64]
    origin: NDArray[np.uint64]
    start: NDArray[np.uint32]
    end: NDArray[np.uint32]
    super8: NDArray[np.uint64]
    super5: NDArray[np.uint64]
    simhash: NDArray[np.uint64]
    sample: NDArray[np.uint8]
    urls: NDArray[np.uint8]
    url_offsets: NDArray[np.int64]
    owned: NDArray[np.bool_] | None = None
    canonical: NDArray[np.uint64] | None = None

    def __post_init__(self) -> None:
        count = len(self.page)
        for name, kind, shape in _COLUMNS:
            column = as_column(getattr(self, name), kind)
            if column.shape != (count, *shape):
                raise ValueError(f"{name} has shape {column.shape} for {count} pages")
            object.__setattr__(self, name, column)
        offsets = as_column(self.url_offsets, np.int64)
        if offsets.shape != (count + 1,) or (offsets[1:] < offsets[:-1]).any() or offsets[0] < 0:
            raise ValueError(f"URL offsets do not cut the URLs of {count} pages")
        if offsets[-1] > self.urls.size:
            raise ValueError(f"URLs end at {offsets[-1]}, there are {self.urls.size} bytes")
        object.__setattr__(self, "url_offsets", offsets)
        object.__setattr__(self, "urls", as_column(self.urls, np.uint8))
        if self.owned is not None and self.owned.shape != (count,):
            raise ValueError(f"owned has shape {self.owned.shape} for {count} pages")
        if self.canonical is not None and self.canonical.shape != (count,):
            raise ValueError(f"canonical has shape {self.canonical.shape} for {count} pages")

    def __len__(self) -> int:
        return len(self.page)

    @classmethod
    def of_row(
        cls, row: Any, entry: Any, *, page: int, site: int, at: int, url: bytes, owned: bool = False
    ) -> Self:
        """One page with the content of a row of the window, whose identity set is given."""
        taken = {name: row[name] for name in ("file", "origin", "start", "end")}
        taken |= {name: entry[name] for name in ("text", "super8", "super5", "simhash", "sample")}
        taken |= {"page": page, "site": site, "at": at}
        columns: dict[str, Any] = {
            name: np.array([taken[name]], kind) for name, kind, _ in _COLUMNS
        }
        return cls(
            **columns,
            urls=np.frombuffer(url, np.uint8),
            url_offsets=np.array([0, len(url)], np.int64),
            owned=np.array([owned]),
        )

    def rows(self) -> NDArray[Any]:
        """As the window keeps versions."""
        rows = np.zeros(len(self), ROW)
        for name in ("page", "site", "file", "origin", "start", "end"):
            rows[name] = getattr(self, name)
        rows["first"] = rows["last"] = rows["since"] = self.at
        if self.owned is not None:
            rows["since"] -= np.where(self.owned, AHEAD_US, 0)
        if self.canonical is not None:
            rows["canonical"] = self.canonical
        rows["length"] = self.url_offsets[1:] - self.url_offsets[:-1]
        return rows

    def entries(self) -> NDArray[Any]:
        """As the window keeps identity sets."""
        entries = np.zeros(len(self), ENTRY)
        entries["text"] = self.text
        entries["simhash"] = self.simhash
        entries["super8"] = short_supershingles(self.super8)
        entries["super5"] = short_supershingles(self.super5)
        wordless = self.text == 0
        for name in ("simhash", "super8", "super5"):
            entries[name][wordless] = 0
        entries["sample"] = self.sample
        return entries


def short_supershingles(supershingles: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """32 bits of each; 0 stands for none and for nothing else."""
    low = supershingles.astype(np.uint32)
    low[(low == 0) & (supershingles != 0)] = 1
    return low


class Seen(NamedTuple):
    """A page of the window: `first` and `last` are when it was seen with these words.

    `since` is when it counts as first seen: with words near to these, see `inheriting`.
    """

    page: int
    url: str
    site: int
    first: int
    last: int
    text: int
    start: int
    end: int
    file: int = 0
    origin: int = 0
    since: int = 0
    owned: bool = False
    canonical: int = 0


class Near(NamedTuple):
    """The nearest page seen before: agreeing supershingles and bits, and its class. `own` is how
    alike both are without what many pages have, where that is known."""

    seen: Seen
    b: int
    c: int
    same_site: bool
    cluster: int
    own: float | None = None


class Match(NamedTuple):
    """What the window knows of a page: `file` and `text` are the earliest pages before it.

    `copies` are the pages with its words, up to itself. `alert` is the nearest page before it
    in a relation that alerts. `since` is when it counts as seen itself; None without a date.
    """

    file: Seen | None
    text: Seen | None
    donors: tuple[Seen, ...]
    copies: int
    near: Near | None
    alert: Near | None = None
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What adding a page changed. `alert`, `near_alert`: it is reported as such from now."""

    alert: bool
    withdrawn: bool
    near_alert: bool
    near_withdrawn: bool
    superseded: bool
    late: bool
    misdated: bool
    evicted: int


@dataclass(frozen=True, slots=True)
class Turned:
    """A page of the window that must be judged again, turned by page number `by` of the batch.
    `overtakes`: it counts as seen sooner now than others with its words."""

    by: int
    seen: Seen
    match: Match
    alert: bool
    withdrawn: bool
    near_alert: bool
    near_withdrawn: bool
    superseded: bool
    overtakes: bool


@dataclass(frozen=True, slots=True)
class Cluster:
    """A class of near-duplicates: its representative is the page first seen, `urls` go by that too.

    `diameter` is the number of steps, from near-duplicate to near-duplicate, from the
    representative to the farthest page: above 1, chaining holds the class together.
    """

    cluster: int
    representative: Seen
    size: int
    sites: int
    diameter: int
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Judgements:
    """Answers for a batch: `pages` in its order, `turned` in the order in which they turned.

    Records of `judging.JUDGED`; the numbers in them are places in `found`.
    """

    pages: NDArray[Any]
    turned: NDArray[Any]
    found: NDArray[Any]
    urls: bytes

    def __len__(self) -> int:
        return len(self.pages)

    @property
    def matched(self) -> NDArray[np.bool_]:
        """Of which pages the window knew any other: of the rest there is no match to tell."""
        one = self.pages
        found: NDArray[np.bool_] = (
            (one["text"] >= 0) | (one["file"] >= 0) | (one["near"] >= 0) | (one["donor_count"] > 0)
        )
        return found

    def match(self, page: int) -> Match:
        """What the window knew of a page of the batch just before it was added."""
        return self._match(self.pages[page])

    def change(self, page: int) -> Change:
        """What adding a page of the batch changed."""
        record = self.pages[page]
        flags = int(record["flags"])
        return Change(
            alert=bool(flags & ALERT),
            withdrawn=bool(flags & WITHDRAWN),
            near_alert=bool(flags & NEAR_ALERT),
            near_withdrawn=bool(flags & NEAR_WITHDRAWN),
            superseded=bool(flags & SUPERSEDED),
            late=bool(flags & LATE),
            misdated=bool(flags & MISDATED),
            evicted=int(record["evicted"]),
        )

    def turns(self) -> Iterator[Turned]:
        """The pages of the window that must be judged again."""
        for record in self.turned:
            flags = int(record["flags"])
            yield Turned(
                by=int(record["by"]),
                seen=self.seen(int(record["seen"])),
                match=self._match(record),
                alert=bool(flags & ALERT),
                withdrawn=bool(flags & WITHDRAWN),
                near_alert=bool(flags & NEAR_ALERT),
                near_withdrawn=bool(flags & NEAR_WITHDRAWN),
                superseded=bool(flags & SUPERSEDED),
                overtakes=bool(flags & OVERTAKES),
            )

    def seen(self, at: int) -> Seen:
        """A page that a judgement names."""
        found = self.found[at].item()
        page, site, first, last, text, file, origin, start, end, url, length, since, named = found
        name = self.urls[url : url + length].decode("utf-8", "surrogatepass")
        return Seen(
            page, name, site, first, last, text, start, end, file, origin, real(since),
            is_owned(since), named,
        )  # fmt: skip

    def _match(self, record: Any) -> Match:
        (
            cluster, flags, since, _, _, file, text, donors, count, copies, near, alert, _, _, _,
            b, c, alert_b, alert_c,
        ) = record.item()  # fmt: skip
        nearest = None if near < 0 else self.seen(near)
        alerts = None if alert < 0 else nearest if alert == near else self.seen(alert)
        return Match(
            None if file < 0 else self.seen(file),
            None if text < 0 else self.seen(text),
            tuple(map(self.seen, range(donors, donors + count))),
            copies,
            None if nearest is None else Near(nearest, b, c, bool(flags & SAME), cluster),
            None
            if alerts is None
            else Near(alerts, alert_b, alert_c, bool(flags & ALERT_SAME), cluster),
            date_of(since),
        )


def urls_of(seen: NDArray[Any], text: bytes) -> list[str]:
    """The URLs of pages that a judgement names, in the text of all of them."""
    spans = zip(seen["url"].tolist(), (seen["url"] + seen["length"]).tolist(), strict=True)
    if text.isascii():  # nearly always, and then a byte is a character
        whole = text.decode("ascii")
        return [whole[begin:end] for begin, end in spans]
    return [text[begin:end].decode("utf-8", "surrogatepass") for begin, end in spans]


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """Pages judged once more, and to which pages each is near: as `settled` lists them, that of its
    own site last."""

    judged: Judgements
    nearest: NDArray[Any]

    def near(self, page: int) -> Iterator[Near]:
        """The near pages in a relation that alerts, those first that share most phrases; mostly the
        first alone is asked for."""
        record = self.judged.pages[page]
        site, cluster = int(self.judged.found[record["seen"]]["site"]), int(record["cluster"])
        for at, b, c, _ in self.nearest[page, :-1].tolist():
            if at >= 0:
                seen = self.judged.seen(at)
                yield Near(seen, b, c, seen.site == site, cluster)

    def before(self, page: int) -> Seen | None:
        """The page of its own site, seen before it, that is near to it and shares most phrases."""
        at = int(self.nearest[page, -1, 0])
        return None if at < 0 else self.judged.seen(at)
