"""Exact duplicates: pages with the same file, or the same token sequence, over the window.

A *copy* has the words of a page of another site that was seen before it. What is reported is a
function of the window's pages alone, not of the order in which they arrived: an earlier page that
arrives late turns those after it into copies, and an earlier sighting of a copy withdraws it.

Reads no clock: `now` is a fact that is passed in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.detector.window.plain_sets import IdentitySets
from tests.detector.window.plain_window import Sighting, Window

HOUR_US = 3_600_000_000
# Before the web: a date that an archive invented, or did not have.
WEB_BEGINS_US = 631_152_000_000_000
_NEVER = 1 << 62


@dataclass(frozen=True, slots=True)
class Seen:
    """A page of the window."""

    page: int
    url: str
    first: int
    last: int
    text: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Match:
    """What the window knows of a page: `file` and `text` are the earliest pages before it.

    `copies` are the pages with its words, up to itself.
    """

    file: Seen | None
    text: Seen | None
    donors: tuple[Seen, ...]
    copies: int


@dataclass(frozen=True, slots=True)
class Turned:
    """A page of the window that must be judged again. `superseded`: only its alert counts."""

    seen: Seen
    match: Match
    alert: bool
    superseded: bool


@dataclass(frozen=True, slots=True)
class Change:
    """What adding a page changed. `alert`: the page is a copy, and was not reported before."""

    alert: bool
    withdrawn: bool = False
    superseded: bool = False
    late: bool = False
    misdated: bool = False
    evicted: int = 0
    turned: tuple[Turned, ...] = ()


class DuplicateIndex:
    """The window's identity sets. `match` is pure, `add` changes; match before add."""

    def __init__(
        self,
        *,
        max_pages: int,
        max_age_us: int | None = None,
        same_site: bool = False,
        max_versions: int = 64,
    ) -> None:
        self.window = Window(max_pages=max_pages, max_age_us=max_age_us, max_versions=max_versions)
        self.texts = IdentitySets(self.window, same_site=same_site)
        self.files = IdentitySets(self.window, same_site=same_site)

    def match(self, seen: Sighting, *, now: int) -> Match:
        """The earlier pages with the content of this one."""
        row = self.window.version(seen.page, seen.text, seen.file)
        first = seen.at if row is None else min(seen.at, self.window.first[row])
        if row is None and _misdated(seen.at, now):
            first = _NEVER
        match = self._match(seen.text, seen.file, (first, seen.page), seen.site)
        itself = bool(seen.text) and row is None
        return replace(match, copies=match.copies + itself)

    def _match(self, text: int, file: int, order: tuple[int, int], site: int) -> Match:
        return Match(
            file=self._optional(self.files.earliest(file, order)),
            text=self._optional(self.texts.earliest(text, order)),
            donors=tuple(map(self._seen, self.texts.donors(text, order, site))),
            copies=self.texts.up_to(text, order),
        )

    def add(self, seen: Sighting, *, now: int) -> Change:
        """Put the page into the window; the same page again is a sighting of it."""
        row = self.window.version(seen.page, seen.text, seen.file)
        if _misdated(seen.at, now):
            match = self.match(seen, now=now)
            return Change(alert=row is None and bool(match.donors), misdated=True)
        self.window.reach(seen.at)
        if row is not None:
            return self._see_again(row, seen)
        row = self.window.add(seen)
        turned = self._place(row)
        alert = self._flag(row)
        superseded = self.window.superseded(row)
        evicted = self._dismiss(seen.page) + self._expire()
        late = row in evicted
        return Change(alert, superseded=superseded, late=late, evicted=len(evicted), turned=turned)

    def _see_again(self, row: int, seen: Sighting) -> Change:
        window = self.window
        if seen.at >= window.first[row] and seen.file == window.file[row]:
            window.last[row] = max(window.last[row], seen.at)
            # Or an old archive, replayed again, would put a verdict on what stood there before
            # in the place of the one on what stands there now.
            superseded = window.superseded(row)
            evicted = self._dismiss(seen.page) + self._expire()
            return Change(False, superseded=superseded or row in evicted, evicted=len(evicted))
        self._unplace(row)
        sooner = seen.at < window.first[row]
        window.first[row] = min(window.first[row], seen.at)
        if seen.at >= window.last[row]:
            window.last[row], window.file[row] = seen.at, seen.file
        turned = self._place(row)
        withdrawn = bool(window.alerted[row]) and not self.texts.is_copy(window.text[row], row)
        if withdrawn:
            window.alerted[row] = 0
        alert = self._flag(row) or (sooner and bool(window.alerted[row]))
        superseded = window.superseded(row)
        evicted = self._dismiss(seen.page) + self._expire()
        return Change(alert, withdrawn, superseded, evicted=len(evicted), turned=turned)

    def _place(self, row: int) -> tuple[Turned, ...]:
        window = self.window
        texts = self.texts.place(window.text[row], row)
        files = self.files.place(window.file[row], row)
        again = dict.fromkeys((*texts.copies, *texts.led, *files.led))
        again.pop(row, None)
        return tuple(self._turned(other) for other in again)

    def _unplace(self, row: int) -> None:
        self.texts.remove(self.window.text[row], row)
        self.files.remove(self.window.file[row], row)

    def _turned(self, row: int) -> Turned:
        window = self.window
        match = self._match(window.text[row], window.file[row], window.order(row), window.site[row])
        return Turned(self._seen(row), match, self._flag(row), window.superseded(row))

    def _flag(self, row: int) -> bool:
        """Whether the row is a copy that was not reported yet; it counts as reported from now."""
        if self.window.alerted[row] or not self.texts.is_copy(self.window.text[row], row):
            return False
        self.window.alerted[row] = 1
        return True

    def _dismiss(self, page: int) -> list[int]:
        dismissed = []
        while (row := self.window.surplus(page)) is not None:
            self._unplace(row)
            self.window.dismiss(row)
            dismissed.append(row)
        return dismissed

    def _expire(self) -> list[int]:
        evicted = []
        while (row := self.window.expired()) is not None:
            self._unplace(row)
            self.window.drop(row)
            evicted.append(row)
        return evicted

    def _seen(self, row: int) -> Seen:
        window = self.window
        return Seen(window.page[row], window.url[row], window.first[row], window.last[row],
                    window.text[row], window.start[row], window.end[row])  # fmt: skip

    def _optional(self, row: int | None) -> Seen | None:
        return None if row is None else self._seen(row)


def _misdated(at: int, now: int) -> bool:
    """A date before the web, or more than an hour past the machine's clock."""
    return at < WEB_BEGINS_US or at > now + HOUR_US
