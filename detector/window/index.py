"""The sliding index of exact and near-duplicates (Henzinger 2006; Fetterly et al. 2005, §3.3).

`match` is pure, `add` changes; adding a page twice changes nothing. Both take a batch of pages and
answer as if they came one by one. The window is bounded by count and by age; age is event time,
and what is too old leaves at once and wholly.

Knows no clock: `now` is a fact that is passed in. Never decides what a site is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.window.adding import add_pages
from reusewatch.detector.window.arrays import arrays_of, as_saved, store_of
from reusewatch.detector.window.class_list import Class, classes
from reusewatch.detector.window.growth import empty_store, with_room
from reusewatch.detector.window.host_pages import pages_on, rows_of_pages
from reusewatch.detector.window.identity_sets import TOLD_AGAIN
from reusewatch.detector.window.judging import JUDGED
from reusewatch.detector.window.looking_up import NOW, row_at, rows_about, rows_held
from reusewatch.detector.window.near_rules import Policy
from reusewatch.detector.window.owned import is_owned, real
from reusewatch.detector.window.shares import LEAST_SHARE, counted, share_of, uncounted
from reusewatch.detector.window.sightings import Cluster, Judgements, Seen, Settled, Sightings
from reusewatch.detector.window.store import (
    ALERTED,
    CROWDED_EVER,
    CUT,
    DISMISSED_EVER,
    ENTRY,
    LIVE,
    LIVE_ENTRIES,
    LIVE_ROWS,
    MAX_AGE,
    MAX_BLANKS,
    MAX_CLUSTER,
    MAX_ROWS,
    MAX_VERSIONS,
    NEWEST,
    QUEUED,
    REFUSED,
    ROWS,
    SAME_SITE,
    SEEN,
    SHARE,
    Store,
)
from reusewatch.detector.window.url_arena import UNIT, read_out
from reusewatch.detector.window.versions import versions_of

PagesOf = Callable[[set[int]], Iterable[tuple[int, int, str]]]
"""The pages that a window has of these sites: site, page, URL."""
BATCH = 256
"""Pages of one call: the memory that they touch fits into a core's own cache."""
LARGEST_CLASS = 100_000
VERSIONS_OF_A_PAGE = 64
"""Contents of one URL that are kept: a page that changes at each fetch is looked up among them,
which takes some 8 µs, and with every one of 10 000 took 60 µs."""
BLANKS = 32
"""Pages without words that are known, of so many with words one: beside these, and for what their
URL is now alone."""
_WORDLESS = np.zeros(1, ENTRY)[0]
_POINTERS = ("file", "text", "donors", "near", "alert", "seen")


class NearDuplicateIndex:
    """The window's pages by words, file, supershingles and pieces of their simhashes.

    `same_site`: exact copies on one site count as copies too. `near_same_site`,
    `near_other_site`: which near-copies alert, the others are judged only. `max_cluster`: sets
    that a class of near-duplicates may grow to by chaining. `max_versions`: contents of one URL
    that are kept, beside the first, see `versions`. `site_share`: what one site may have of a full
    window before its own oldest pages leave first, see `shares`.
    """

    def __init__(
        self,
        *,
        max_pages: int,
        max_age_us: int | None = None,
        same_site: bool = False,
        near_same_site: bool = True,
        near_other_site: bool = True,
        policy: Policy | None = None,
        max_cluster: int = LARGEST_CLASS,
        max_versions: int = VERSIONS_OF_A_PAGE,
        site_share: float = 1.0,
    ) -> None:
        if max_pages < 1:
            raise ValueError(f"a window has room for at least one page, not {max_pages}")
        if max_versions < 1:
            raise ValueError(f"of a page at least its last version is kept, not {max_versions}")
        if not LEAST_SHARE <= site_share <= 1:
            raise ValueError(f"a site's share is from {LEAST_SHARE} to 1, not {site_share}")
        self.policy = policy or Policy()
        # As `neighbors.ALERTS` says.
        self._rules = np.append(self.policy.numbers(), near_same_site + 2 * near_other_site)
        self._facts = {
            MAX_ROWS: max_pages,
            MAX_AGE: -1 if max_age_us is None else max_age_us,
            SAME_SITE: int(same_site),
            MAX_CLUSTER: max_cluster,
            MAX_VERSIONS: max_versions,
            MAX_BLANKS: max(1, max_pages // BLANKS),
            SHARE: share_of(max_pages, site_share),
        }
        self._limit = max_pages + BATCH
        self._store = self._bounded(empty_store())

    def _bounded(self, store: Store) -> Store:
        for number, value in self._facts.items():
            store.numbers[number] = value
        return uncounted(store)

    def __len__(self) -> int:
        return int(self._store.numbers[LIVE_ROWS])

    @property
    def sets(self) -> int:
        """Identity sets of the window: token sequences that are not the same."""
        return int(self._store.numbers[LIVE_ENTRIES])

    @property
    def newest(self) -> int:
        """The latest fetch seen."""
        return int(self._store.numbers[NEWEST])

    @property
    def oldest(self) -> int | None:
        """No page with words in the window was last seen before this; None where there is none.

        The head of the queue, which is exact once pages leave: a page seen again goes back only
        when its turn comes.
        """
        return int(self._store.due[0]) if self._store.numbers[QUEUED] else None

    @property
    def cut(self) -> int:
        """Candidates and postings that hot keys have cost so far."""
        return int(self._store.numbers[CUT])

    @property
    def dismissed(self) -> int:
        """Versions that left so far since their page had too many."""
        return int(self._store.numbers[DISMISSED_EVER])

    @property
    def crowded(self) -> int:
        """Pages that left so far before their turn since their site had more than its share."""
        return int(self._store.numbers[CROWDED_EVER])

    @property
    def refused(self) -> int:
        """Classes that did not join since the whole would have been too large."""
        return int(self._store.numbers[REFUSED])

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, unused room included."""
        return sum(array.nbytes for array in self._store)

    def match(self, pages: Sightings, *, now: int) -> Judgements:
        """What the window knows of pages; each is judged alone, against the window."""
        from reusewatch.detector.window.asking import match_pages  # compiled for those who ask

        answer = np.empty(len(pages), JUDGED)
        found = match_pages(self._store, pages.rows(), pages.entries(), self._rules, now, answer)
        return self._judgements(answer, np.empty(0, JUDGED), found)

    def add(self, pages: Sightings, *, now: int) -> Judgements:
        """Put pages into the window, one after the other, and judge each just before."""
        rows, entries = pages.rows(), pages.entries()
        parts, end = [], 0
        while (begin := end) < len(pages):
            self._store, some = counted(self._store, min(BATCH, len(pages) - begin))
            end = begin + some
            offsets = pages.url_offsets[begin : end + 1]
            self._store = with_room(self._store, some, int(offsets[-1] - offsets[0]), self._limit)
            answer = np.empty(some, JUDGED)
            found, turned = add_pages(
                self._store, rows[begin:end], entries[begin:end], self._rules, now, pages.urls,
                offsets, answer,
            )  # fmt: skip
            parts.append(self._judgements(answer, turned, found))
        return _joined(parts)

    def settled(self, versions: Sequence[tuple[int, int]]) -> tuple[list[int], Settled]:
        """What the window knows by now of versions that it holds, each a page and its words.

        Returns which of these the window holds still, and what it knows of those.
        """
        rows = self._rows_held(versions)
        held = np.flatnonzero(rows >= 0)
        return held.tolist(), self._settled(rows[held])

    def overtaken(self, versions: Sequence[tuple[int, int]]) -> tuple[Judgements, int]:
        """What the window knows by now of the pages that were reported as copies and come after any
        of these with the same words; and whether there were too many to be looked at."""
        from reusewatch.detector.window.settled import rows_behind

        rows, behind = self._rows_held(versions), np.empty(TOLD_AGAIN, np.int64)
        found = behind[: rows_behind(self._store, rows[rows >= 0], behind)]
        reported = (self._store.rows["state"][found] & ALERTED) != 0
        return self._settled(found[reported]).judged, int(len(found) == TOLD_AGAIN)

    def _rows_held(self, versions: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
        rows = np.empty(len(versions), np.int64)
        pages, texts = (np.array(column, np.uint64) for column in _columns(versions))
        rows_held(self._store, pages, texts, rows)
        return rows

    def _settled(self, rows: NDArray[np.int64]) -> Settled:
        from reusewatch.detector.window.settled import WITH_OWN, judge_settled

        answer = np.empty(len(rows), JUDGED)
        nearest = np.empty((len(rows) * WITH_OWN, 4), np.int32)
        found = judge_settled(self._store, rows, self._rules, answer, nearest)
        judged = self._judgements(answer, np.empty(0, JUDGED), found)
        return Settled(judged, nearest.reshape(len(rows), WITH_OWN, 4))

    def _judgements(
        self, pages: NDArray[Any], turned: NDArray[Any], found: NDArray[Any]
    ) -> Judgements:
        """With the URLs themselves: their room may be used again at the next `add`."""
        return Judgements(pages, turned, found, read_out(self._store, found).tobytes())

    def clusters(self, *, top: int = 10, page: int | None = None) -> list[Cluster]:
        """The largest classes of near-duplicates, or the one of a page as it is now.

        Exact at this moment (`detector.window.closure`), in time linear in the window.
        """
        row = None
        if page is not None:
            versions = versions_of(self._store, np.uint64(page))
            row = int(versions[0]) if versions.size else -1
        found = classes(self._store, top=top, row=row, largest=self._facts[MAX_CLUSTER])
        return [self._cluster(one) for one in found.found]

    def _cluster(self, one: Class) -> Cluster:
        rows = self._store.rows[one.rows]
        return Cluster(
            cluster=one.cluster, representative=self._seen(rows[0]), size=one.size,
            sites=one.sites, diameter=one.steps,
            urls=tuple(self._url(row) for row in rows),
        )  # fmt: skip

    def version_at(self, page: int, at: int | None) -> Seen | None:
        """A page as it was at a time when it was seen; without a time, as it is now.

        None where it was not seen with one content both before and after: what else is known of
        the page says nothing about that time.
        """
        row = self._row_at(page, at)
        return None if row is None else self._seen(row)

    def versions_about(self, pages: Sequence[int], times: Sequence[int]) -> list[Seen | None]:
        """Pages each as it was at a time, or, where it was not seen then, as it is now."""
        rows = np.empty(len(pages), np.int64)
        rows_about(self._store, np.array(pages, np.uint64), np.array(times, np.int64), rows)
        return [None if row < 0 else self._seen(self._store.rows[row]) for row in rows.tolist()]

    def pages_of(self, sites: set[int]) -> list[tuple[int, int, str]]:
        """Site, page and URL of all pages of these sites; looks at every row once."""
        rows = self._store.rows[: self._store.numbers[ROWS]]
        mine = np.isin(rows["site"], np.array(sorted(sites), np.uint64))
        found = np.flatnonzero(mine & ((rows["state"] & LIVE) != 0))
        _, first = np.unique(rows["page"][found], return_index=True)
        # As they came: those of a directory near each other.
        found = found[np.sort(first)]
        return list(
            zip(
                rows["site"][found].tolist(), rows["page"][found].tolist(), self._urls(found),
                strict=True,
            )
        )  # fmt: skip

    def pages_on(
        self, hosts: Mapping[str, int], host_of: Callable[[str], str]
    ) -> dict[str, dict[int, int]]:
        """Of each of these hosts, told by the URL of its root and by its site, the pages, and when
        each was first seen; `host_of` tells it of a URL. Looks at every row once."""
        return pages_on(self._store, hosts, lambda row: host_of(self._url(row)))

    def seen_between(self, page: int) -> tuple[int, int] | None:
        """When the page was seen for the first and the last time, of the versions that the window
        has; None of no page."""
        rows = self._store.rows[versions_of(self._store, np.uint64(page))]
        return (int(rows["first"].min()), int(rows["last"].max())) if rows.size else None

    def last_seen(self, pages: Collection[int]) -> int | None:
        """When any of these pages was seen last; looks at every row once. None of no page."""
        rows = self._store.rows[: self._store.numbers[ROWS]]
        mine = np.isin(rows["page"], np.array([*pages], np.uint64))
        times = rows["last"][mine & ((rows["state"] & LIVE) != 0)]
        return int(times.max()) if times.size else None

    def urls_of(self, pages: Sequence[int]) -> dict[int, str]:
        """The URLs of those of these pages that the window has."""
        rows = np.empty(len(pages), np.int64)
        rows_of_pages(self._store, np.array(pages, np.uint64), rows)
        held = np.flatnonzero(rows >= 0)
        return dict(zip((pages[at] for at in held.tolist()), self._urls(rows[held]), strict=True))

    def urls(self) -> Iterator[str]:
        """The URLs of all rows. UnicodeDecodeError where one is no text."""
        return self._urls(
            np.flatnonzero(self._store.rows["state"][: self._store.numbers[ROWS]] & LIVE)
        )

    def _urls(self, rows: NDArray[np.int64]) -> Iterator[str]:
        named = np.zeros(len(rows), SEEN)
        for name in ("url", "length"):
            named[name] = self._store.rows[name][rows]
        return _texts(read_out(self._store, named).tobytes(), named["length"])

    def holds(self, page: int) -> bool:
        """Whether the window has any version of a page."""
        return bool(versions_of(self._store, np.uint64(page)).size)

    def as_seen(
        self, of: int, then: int | None, *, page: int, site: int, at: int, url: bytes,
        owned: bool = False,
    ) -> Sightings | None:  # fmt: skip
        """A page with the content, and the sketches, that another one had at a time."""
        row = self._row_at(of, then)
        if row is None:
            return None
        return Sightings.of_row(
            row, self._entry(row), page=page, site=site, at=at, url=url, owned=owned
        )

    def entry_of(self, page: int) -> Any:
        """The sketches of a page as it is now; None of a page that the window has not."""
        row = self._row_at(page, None)
        return None if row is None else self._entry(row)

    def _row_at(self, page: int, at: int | None) -> Any:
        row = row_at(self._store, np.uint64(page), NOW if at is None else at)
        return None if row < 0 else self._store.rows[row]

    def _entry(self, row: Any) -> Any:
        """The identity set of a row; a page without words has an empty one."""
        return self._store.entries[row["entry"]] if row["entry"] >= 0 else _WORDLESS

    def _seen(self, row: Any) -> Seen:
        (page, site, first, last, file, origin, start, end, _, _, since, canonical, *_) = row.item()
        return Seen(
            page=page, url=self._url(row), site=site, first=first, last=last,
            text=int(self._entry(row)["text"]), start=start, end=end, file=file, origin=origin,
            since=real(since), owned=is_owned(since), canonical=canonical,
        )  # fmt: skip

    def _url(self, row: Any) -> str:
        begin = int(row["url"]) * UNIT
        url = self._store.arena[begin : begin + int(row["length"])].tobytes()
        return url.decode("utf-8", "surrogatepass")

    def save(self) -> Mapping[str, NDArray[Any]]:
        """The window as raw arrays, without copies: to be written before the next `add`."""
        return arrays_of(self._store)

    def restore(self, arrays: Mapping[str, NDArray[Any]], *, to_ask: bool = False) -> None:
        """Take up a saved window; what no longer fits leaves with the next page. One that is only
        asked stands where the arrays do, and takes no page. Raises BadState."""
        self._store = self._bounded(as_saved(arrays) if to_ask else store_of(arrays))

    def own(self, owns: Callable[[str], bool]) -> None:
        """Other pages are owned from now on, by their URLs. What was reported stays so."""
        from reusewatch.detector.window.owning import own_pages  # compiled where settings changed

        rows = self._store.rows[: self._store.numbers[ROWS]]
        live = (rows["state"] & LIVE) != 0
        mine = np.fromiter((owns(self._url(row)) for row in rows[live]), np.bool_, int(live.sum()))
        own_pages(self._store, np.flatnonzero(live), mine)


def _columns(versions: Sequence[tuple[int, int]]) -> tuple[Sequence[int], Sequence[int]]:
    return [page for page, _ in versions], [text for _, text in versions]


def _texts(urls: bytes, lengths: NDArray[np.uint32]) -> Iterator[str]:
    """URLs that stand end to end."""
    ends = np.cumsum(lengths, dtype=np.int64).tolist()
    if urls.isascii():  # nearly always, and then a byte is a character
        text = urls.decode("ascii")
        return (text[begin:end] for begin, end in pairwise([0, *ends]))
    return (urls[begin:end].decode("utf-8", "surrogatepass") for begin, end in pairwise([0, *ends]))


def _joined(parts: list[Judgements]) -> Judgements:
    """Answers of one batch after the other as those of one."""
    if len(parts) == 1:
        return parts[0]
    pages = found = urls = 0
    for part in parts:
        for records in (part.pages, part.turned):
            for name in _POINTERS:
                records[name] += (records[name] >= 0) * np.int32(found)
        part.turned["by"] += pages
        part.found["url"] += urls
        pages, found, urls = pages + len(part), found + len(part.found), urls + len(part.urls)
    return Judgements(
        _after_another([part.pages for part in parts], JUDGED),
        _after_another([part.turned for part in parts], JUDGED),
        _after_another([part.found for part in parts], SEEN),
        b"".join(part.urls for part in parts),
    )


def _after_another(parts: list[NDArray[Any]], kind: np.dtype[Any]) -> NDArray[Any]:
    return np.frombuffer(bytearray().join(part.data for part in parts), kind)
