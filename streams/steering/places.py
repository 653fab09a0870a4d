"""What a crawl should keep out of now: the last that is known of each open finding of a place.

Made from the topic of alerts as it is read, message by message: what is closed or withdrawn is
lifted, and what was not detected again for a while expires, since nobody looks at a place that is
kept out of. A trap gives the shortest URL that is a trap by itself (Ardi, Heidemann 2014, §3.4.1,
appendix A), never the host that it stands on: all that begins with it has its loop, too. A whole
host is kept out of only where half of it comes from elsewhere: a neighborhood is bad from a third
on, and copies that stand behind queries at the root have no directory that could be named instead.
A host is kept out of only where it is known to have its pages from elsewhere: by owned pages, by a
label with a home, or because it says so. That others were seen first is not enough: whoever mirrors
a site, and is crawled before it, would remove that site from every crawl.

Fetches nothing and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

import msgspec

from reusewatch.detector.neighborhoods.prefixes import LONGEST_PREFIX, crawl_trap
from reusewatch.streams.alert_kinds import STEERING
from reusewatch.streams.bus import Message
from reusewatch.streams.records import Alert, Time
from reusewatch.streams.steering.narrowing import narrowed
from reusewatch.streams.wire import read_json

_ROOT_SLASHES = 3
EXPIRES = timedelta(days=7)
HOST_SHARE = 0.5
"""Badness from which on a whole host is kept out of, and not only its directories."""


class KeptOut(msgspec.Struct, frozen=True, kw_only=True):
    """A place to keep out of: all URLs that begin with the prefix. `since`: when it was detected
    last; `fetched_at`: when the page was fetched by which it was; `alert`: the finding's id.
    `sure`: it is more than information, and what stands there comes from elsewhere; else it may be
    the place that others copy."""

    prefix: str
    kind: str
    sure: bool = True
    since: Time
    fetched_at: Time
    expires: Time
    alert: str


@dataclass(frozen=True, slots=True)
class _Open:
    """An open finding. Its rows are made once: asked for at each change of any, those of many
    findings would take all of a spider's time."""

    alert: Alert
    rows: tuple[KeptOut, ...]

    @property
    def is_sure(self) -> bool:
        return all(row.sure for row in self.rows)


class Places:
    """The open findings of places, by alert id. Holds no more than those."""

    def __init__(
        self,
        *,
        expires: timedelta = EXPIRES,
        info: bool = False,
        unsure: bool = False,
        narrow: bool = False,
    ) -> None:
        """`info`, `unsure`: what is no more than information, and what may be the place that others
        copy, too. `narrow`: see `narrowing`."""
        self._narrow = narrow
        self._expires = expires
        self._info = info
        self._unsure = unsure
        self._open: dict[str, _Open] = {}

    def take(self, message: Message) -> None:
        """What is said of a finding now. Raises WireError where it cannot be read: what was known
        of it stays."""
        alert = None if message.value is None else read_json(message, Alert)
        if alert is not None and self._wanted(alert):
            self._open[message.key] = _Open(alert, self._rows(alert))
        else:
            self._open.pop(message.key, None)

    def _wanted(self, alert: Alert) -> bool:
        here = alert.direction is not None and alert.direction.original == "here"
        told = self._info or (alert.severity != "info" and _is_most(alert))
        wanted = (not here) if self._unsure else (_comes_from_elsewhere(alert) and told)
        return alert.kind in STEERING and alert.state == "open" and wanted

    def at(self, now: datetime) -> list[KeptOut]:
        """What to keep out of at this time, by prefix: of two findings of one place the sure one,
        or it would be lifted to a lower priority by what is not known so well."""
        rows = [row for one in self._standing() for row in one.rows if row.expires > now]
        found = {row.prefix: row for row in sorted(rows, key=lambda row: row.sure)}
        return [found[prefix] for prefix in sorted(found)]

    def _standing(self) -> Iterable[_Open]:
        if not self._narrow:
            return self._open.values()
        hoods = {one.alert.id: one for one in self._open.values() if _is_hood(one)}
        others = (one for one in self._open.values() if not _is_hood(one))
        # What is sure is narrowed by what is sure: else information on a directory would let its
        # host through.
        sure = narrowed(one.alert for one in hoods.values() if one.is_sure)
        standing = {alert.id for alert in sure}
        for alert in narrowed(one.alert for one in hoods.values()):
            if not hoods[alert.id].is_sure:
                standing.add(alert.id)
        return chain((one for alert, one in hoods.items() if alert in standing), others)

    def _rows(self, alert: Alert) -> tuple[KeptOut, ...]:
        sure = _comes_from_elsewhere(alert) and alert.severity != "info" and _is_most(alert)
        return tuple(
            KeptOut(
                prefix=prefix, kind=alert.kind, sure=sure, since=alert.detected_at,
                fetched_at=alert.fetched_at, expires=alert.detected_at + self._expires,
                alert=alert.id,
            )
            for prefix in _prefixes(alert)
        )  # fmt: skip


def _is_hood(one: _Open) -> bool:
    return one.alert.kind == "bad-neighborhood"


def _comes_from_elsewhere(alert: Alert) -> bool:
    # Alerts of before may be warnings that were known by who was seen first.
    if alert.direction is None:
        return alert.reused_by != "reuse"
    return alert.direction.original == "there" and alert.direction.by != "first-seen"


def _is_most(alert: Alert) -> bool:
    """Whether what is named is not a whole host for less than half of it."""
    whole = alert.kind == "bad-neighborhood" and (alert.prefix or "").count("/") == _ROOT_SLASHES
    return not whole or alert.figure >= HOST_SHARE


def _prefixes(alert: Alert) -> list[str]:
    if alert.kind != "crawl-trap":
        return [alert.prefix] if alert.prefix else []
    traps = (trap_in(row.url) for row in alert.evidence if row.url)
    return [trap for trap in traps if trap]


def trap_in(url: str) -> str | None:
    """The shortest directory of a URL that is a trap, else the URL; None where it is none (it was
    cut when it was shown).

    >>> trap_in("http://a.org/x/a/b/a/b/a/b/a/b/c.html?d")
    'http://a.org/x/a/b/a/b/a/b/'
    >>> trap_in("http://a.org/x/")
    """
    path = url[:LONGEST_PREFIX].partition("?")[0].partition("#")[0]
    # Few steps: with more slashes than the deepest page may have it is a trap already.
    end = path.find("/", path.find("://") + 3)
    while end >= 0:
        if crawl_trap(path[: end + 1]):
            return path[: end + 1]
        end = path.find("/", end + 1)
    return path if crawl_trap(path) else None
