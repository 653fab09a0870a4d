"""Bad neighborhoods of content that nobody labeled: a part of the stage `index`.

Remembers which pages were found to be copies of others that are known to be the originals
(`direction` `there`, and not by what the page says of itself), as a whole, nearly, or in part.
Where a site has some, the pages of the window that it has are counted under each prefix, now and
then: when half as many pages have come again, and when the stream stands still.

A prefix is more than information where copies of owned pages make it bad by themselves, and its
figure is of those alone. All other copies are known only by who was seen first, which may be a
mirror of theirs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.neighborhoods.judging import MOVED
from reusewatch.detector.neighborhoods.reuse import Reused, counted_prefixes, reused_prefixes
from reusewatch.streams.records import DETECTOR, Alert, Direction, Evidence
from reusewatch.streams.stages.direction import is_proven
from reusewatch.streams.stages.snapshot import State
from reusewatch.streams.steering.reports import prefix_alert_id
from reusewatch.streams.times import moment
from reusewatch.streams.urls import place

if TYPE_CHECKING:
    from reusewatch.detector.neighborhoods.mirrors import Known
    from reusewatch.detector.window.index import PagesOf

MOST_PAGES = 200_000
"""Copies that are remembered; those that were found first leave first."""
_BYTES = 200
_EVIDENCE = 5
LastSeen = Callable[[Collection[int]], int | None]
"""When any of some pages was seen last."""


class Reusing:
    """The pages that are copies, and the prefixes that are open for it."""

    def __init__(
        self, scheme: HashScheme, *, min_files: int, threshold: float, least_new: int
    ) -> None:
        self._scheme = scheme
        self._min_files = min_files
        self._threshold = threshold
        self._least_new = least_new
        # Pages that have come since the last time, and that had come by then.
        self._since = self._judged = 0
        # Whether other pages are copies since.
        self._changed = False
        # Prefixes, the share of each that was told, and whether it was of copies of owned pages.
        self._open: dict[str, tuple[float, bool]] = {}
        self.restore(None)

    def note(self, page: int, site: int, by: Known) -> None:
        """A page was found to be a copy; `by`: how that is known."""
        self._copies[page] = site, is_proven(by)
        self._changed = True
        if len(self._copies) > MOST_PAGES:
            self._copies.popitem(last=False)

    def forget(self, page: int) -> None:
        """A page is no copy any more."""
        self._changed |= self._copies.pop(page, None) is not None

    def passed(self, pages: int) -> None:
        """So many pages have come."""
        self._since += pages

    def judge(
        self, pages_of: PagesOf, last_seen: LastSeen, now: datetime, *, at_rest: bool
    ) -> list[Alert]:
        """Alerts on prefixes that are bad now, or no longer, if it is time to look."""
        enough = self._since >= max(self._least_new, self._judged // 2)
        if not (enough or at_rest) or not (self._since or self._changed):
            return []
        self._changed = False
        self._judged, self._since = self._judged + self._since, 0
        sites = self._suspect()
        pages = [(page, url) for _, page, url in pages_of(sites)] if sites else []
        bad = self._bad(pages)
        before, self._open = self._open, {}
        alerts = []
        for prefix, (one, sure) in bad.items():
            told = before.get(prefix)
            is_news = told is None or abs(one.share - told[0]) >= MOVED or told[1] != sure
            if is_news:
                alerts.append(self._opened(one, pages, last_seen, now, sure=sure))
            self._open[prefix] = (one.share, sure) if is_news or told is None else told
        closed = [(prefix, sure) for prefix, (_, sure) in before.items() if prefix not in bad]
        return alerts + [
            self._alert(Reused(prefix, 1, 0), "closed", (), now, now, sure=sure)
            for prefix, sure in closed
        ]

    def _bad(self, pages: Sequence[tuple[int, str]]) -> dict[str, tuple[Reused, bool]]:
        """The prefixes that are bad, and whether copies of owned pages alone make them so. Of what
        is below such a prefix nothing else is told."""
        found: dict[str, tuple[Reused, bool]] = {}
        for sure in (True, False):
            bad = reused_prefixes(
                ((url, self._is_copy(page, sure=sure)) for page, url in pages),
                min_files=self._min_files, threshold=self._threshold,
                told=[one for one, (_, is_sure) in self._open.items() if is_sure or not sure],
            )  # fmt: skip
            for one in bad:
                if not one.prefix.startswith(tuple(found)):
                    found[one.prefix] = one, sure
        return found

    def _is_copy(self, page: int, *, sure: bool) -> bool:
        copy = self._copies.get(page)
        return copy is not None and (copy[1] or not sure)

    def is_open(self, prefix: str) -> bool:
        """Whether an alert on it stands."""
        return prefix in self._open

    def counted(
        self, pages_of: PagesOf, *, min_files: int, top: int, under: str = "",
        named: Collection[str] = (),
    ) -> list[Reused]:  # fmt: skip
        """The prefixes that have copies among the pages of the window, the largest share first, and
        behind them those that are `named`; below a prefix alone where one is given."""
        sites = {site for site, _ in self._copies.values()}
        if under or not top:  # of no others anything is told
            sites &= {self._site_of(one) for one in ([under] if under else named)}
        pages = pages_of(sites) if sites else ()
        found = [
            one
            for one in counted_prefixes(
                (url, page in self._copies) for _, page, url in pages if url.startswith(under)
            )
            if one.prefix.startswith(under)
        ]
        copied = (one for one in found if one.reused and one.files >= min_files)
        worst = sorted(copied, key=lambda one: (-one.share, one.prefix))[:top]
        told = {one.prefix for one in worst}
        return worst + [one for one in found if one.prefix in named and one.prefix not in told]

    def _site_of(self, prefix: str) -> int:
        return self._scheme.of_text(place(prefix, self._scheme).site)

    def _suspect(self) -> set[int]:
        """Sites with as many copies as a bad prefix has at least."""
        counts: dict[int, int] = {}
        for site, _ in self._copies.values():
            counts[site] = counts.get(site, 0) + 1
        least = max(1, int(self._threshold * self._min_files))
        return {site for site, count in counts.items() if count >= least}

    def _opened(
        self, found: Reused, pages: Iterable[tuple[int, str]], last_seen: LastSeen, now: datetime,
        *, sure: bool,
    ) -> Alert:  # fmt: skip
        copies = [
            (page, url)
            for page, url in pages
            if self._is_copy(page, sure=sure) and url.startswith(found.prefix)
        ]
        last = last_seen([page for page, _ in copies])
        # By their ids, and so from all over the prefix.
        examples = tuple(url for _, url in sorted(copies)[:_EVIDENCE])
        fetched = now if last is None else moment(last)
        return self._alert(found, "open", examples, fetched, now, sure=sure)

    def _alert(
        self, found: Reused, state: Literal["open", "closed"], urls: tuple[str, ...],
        fetched: datetime, now: datetime, *, sure: bool,
    ) -> Alert:  # fmt: skip
        # Another finding than that of labels on the same prefix, which opens and closes by itself.
        one = prefix_alert_id("bad-neighborhood", f"{found.prefix}\nreuse", self._scheme)
        return Alert(
            id=one,
            kind="bad-neighborhood",
            state=state,
            severity="warning" if sure else "info",
            direction=Direction(original="there", by="owned" if sure else "first-seen"),
            url=None,
            prefix=found.prefix,
            site=place(found.prefix, self._scheme).site,
            figure=round(found.share, 4),
            threshold=self._threshold,
            reused_by="reuse",
            reused=found.reused,
            evidence=tuple(Evidence(url=url) for url in urls),
            fetched_at=fetched,
            detected_at=now,
            detector=DETECTOR,
            scheme=self._scheme.name,
            files=found.files,
        )

    def nbytes(self) -> int:
        """About what the copies take."""
        return len(self._copies) * _BYTES

    def save(self) -> State:
        """All of it."""
        facts: dict[str, Any] = {
            "copies": list(self._copies.items()), "open": self._open, "since": self._since,
            "judged": self._judged, "changed": self._changed,
        }  # fmt: skip
        return State({}, facts)

    def restore(self, state: State | None) -> None:
        """Take up what was saved, or begin with nothing."""
        facts: Any = {} if state is None else state.facts
        copies = ((page, (site, sure)) for page, (site, sure) in facts.get("copies", ()))
        self._copies: OrderedDict[int, tuple[int, bool]] = OrderedDict(copies)
        self._open = {one: (told, sure) for one, (told, sure) in facts.get("open", {}).items()}
        self._changed = bool(facts.get("changed", False))
        self._since, self._judged = int(facts.get("since", 0)), int(facts.get("judged", 0))
