"""Pages for tests: sightings as a few numbers, and who is a copy of whom by the definition."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from hypothesis import strategies as st

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.sketching.fingerprint import Document, fingerprints
from reusewatch.streams.records import Origin, Page, Sighting
from reusewatch.streams.stages.reports import alert_id
from reusewatch.streams.urls import place

BEGIN = datetime(2026, 3, 2, 6, 0, tzinfo=UTC)
SCHEME = HashScheme()


@dataclass(frozen=True, slots=True)
class Fetch:
    """One fetch. `of`: a revisit record, saying "as the page of that number was at that time"."""

    page: int
    site: int
    at: int
    text: int
    markup: int = 0
    of: tuple[int, int] | None = None

    @property
    def url(self) -> str:
        return url_of(self.page, self.site)

    @property
    def fetched_at(self) -> datetime:
        return BEGIN + timedelta(seconds=self.at)

    @property
    def body(self) -> bytes:
        return body_of(self.text, self.markup)


def url_of(page: int, site: int) -> str:
    return f"http://www.site{site}.example/page/{page}"


def body_of(text: int, markup: int = 0) -> bytes:
    """A page of words; `markup` changes the bytes and not the words."""
    words = " ".join(f"word{text}x{n}" for n in range(12))
    tag = "p" if markup == 0 else "div"
    return f"<html><title>t{text}</title><{tag}>{words}</{tag}></html>".encode()


def site_of(page: int) -> int:
    """A page belongs to one site for good."""
    return page % 3


def page_of(fetch: Fetch, source: str = "test", offset: int = 0) -> Page:
    where = place(fetch.url, SCHEME)
    of = None
    if fetch.of is not None:
        page, at = fetch.of
        of = Sighting(url=url_of(page, site_of(page)), fetched_at=BEGIN + timedelta(seconds=at))
    return Page(
        id=where.page_id, url=fetch.url, site=where.site, host=where.host,
        fetched_at=fetch.fetched_at, content_type="text/html", charset="utf-8",
        body=b"" if of else fetch.body, origin=Origin(source=source, offset=offset), status=200,
        revisit_of=of,
    )  # fmt: skip


def copies(fetches: Iterable[Fetch]) -> set[str]:
    """Ids of the alerts by the definition: a copy has the words of a page of another site that
    was seen before it; of two seen at once the one with the greater id."""
    first: dict[tuple[int, int], tuple[datetime, int]] = {}
    sites: dict[int, int] = {}
    for f in fetches:
        page = int(place(f.url, SCHEME).page_id, 16)
        sites[page] = f.site
        key = (page, f.text)
        first[key] = min(first.get(key, (f.fetched_at, page)), (f.fetched_at, page))
    return {
        alert_id("duplicate", page, _identity(text), SCHEME)
        for (page, text), order in first.items()
        for (other, words), before in first.items()
        if words == text and sites[page] != sites[other] and before < order
    }


def _identity(text: int) -> int:
    return int(fingerprints([Document(body_of(text))], SCHEME).sketches.identity[0])


@st.composite
def crawls(draw: st.DrawFn, max_size: int = 24) -> list[Fetch]:
    """Pages with refetches, changed and unchanged, and revisits of what was fetched, in any order.

    What a page held at a time is one thing: a page does not change back to what it was before.
    """
    fetches: list[Fetch] = []
    number = st.integers(0, 11)
    for page in sorted(draw(st.lists(number, max_size=10, unique=True))):
        times = sorted(draw(st.lists(st.integers(0, 30), min_size=1, max_size=3, unique=True)))
        texts: list[int] = draw(st.lists(st.integers(0, 3), min_size=1, max_size=2, unique=True))
        for n, at in enumerate(times):
            text = texts[min(n, len(texts) - 1)]
            fetches.append(Fetch(page, site_of(page), at, text, draw(st.integers(0, 1))))
    stored = list(fetches)
    if stored:
        for page, at, of in draw(
            st.lists(
                st.tuples(st.integers(12, 20), st.integers(0, 30), st.sampled_from(stored)),
                max_size=5,
                unique_by=lambda drawn: drawn[0],
            )
        ):
            fetches.append(Fetch(page, site_of(page), at, of.text, 0, (of.page, of.at)))
    return list(draw(st.permutations(fetches[:max_size])))


def write_warc(fetches: Sequence[Fetch], path: Path) -> None:
    """The fetches as an archive, in this order, one gzip member a record."""
    path.write_bytes(b"".join(gzip.compress(_record(fetch), 1, mtime=0) for fetch in fetches))


def _record(fetch: Fetch) -> bytes:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
    block += b"" if fetch.of else fetch.body
    fields = {
        "WARC-Type": "revisit" if fetch.of else "response",
        "WARC-Record-ID": f"<urn:uuid:{uuid4()}>",
        "WARC-Target-URI": fetch.url,
        "WARC-Date": _date(fetch.fetched_at),
        "Content-Type": "application/http; msgtype=response",
        "Content-Length": str(len(block)),
    }
    if fetch.of is not None:
        page, at = fetch.of
        fields["WARC-Refers-To-Target-URI"] = url_of(page, site_of(page))
        fields["WARC-Refers-To-Date"] = _date(BEGIN + timedelta(seconds=at))
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return b"WARC/1.0\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n"


def _date(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def mixed_crawl(pages: int, choose: Callable[[int], int]) -> list[Fetch]:
    """A larger crawl: a third of the pages are copies, some are fetched again, some revisited.

    `choose(n)` gives a number below n.
    """
    fetches: list[Fetch] = []
    for page in range(pages):
        text = choose(page + 1) if choose(3) == 0 else 10_000 + page
        fetches.append(Fetch(page, site_of(page), choose(100_000), text, choose(2)))
    for n in range(pages // 10):
        again = fetches[choose(pages)]
        later = again.at + 1 + choose(1000)
        text = again.text if n % 2 else 20_000 + n
        fetches.append(Fetch(again.page, again.site, later, text))
        of = fetches[choose(pages)]
        page = pages + n
        fetches.append(Fetch(page, site_of(page), of.at + 5, of.text, 0, (of.page, of.at)))
    return fetches
