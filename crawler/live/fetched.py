"""What a Scrapy response says, as plain values, and what becomes of it: a page, a letter, nothing.

The body is taken as it came, and its content encodings are undone here, with the bounds that hold
for archives. Scrapy undoes them later (HttpCompression), after redirects were followed, with other
bounds, and lets a body through whose encoding it does not know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from scrapy.http import Request, Response

from reusewatch.crawler.archives.headers import text_of
from reusewatch.crawler.pages.archive_events import Limits
from reusewatch.crawler.pages.page import may_be_page, page_from_response
from reusewatch.detector.errors import BadPage
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.records import DeadLetter, Origin, Page

# Kinds of responses that are no page: a closed set, since they become names of stats.
SKIPPED = frozenset(
    {
        "cached",  # from Scrapy's HTTP cache: fetched, and counted, by an earlier crawl
        "content-type",  # images, scripts, styles, …
        "head",  # the answer to a HEAD request has no body
        "not-modified",  # 304: the body is what it was
        "other-scheme",  # file:, data:, ftp:, s3:
        "robots",  # robots.txt: read by the crawler, no page of the site
    }
)
# Scrapy's flags of a body that is not all of the page.
_CUT = frozenset({"dataloss", "download_stopped", "partial"})
MAX_URL_SHOWN = 2048
# Three digits, says HTTP (RFC 9110, §15), and archives are read so.
_LEAST_STATUS, _MOST_STATUS = 100, 999


@dataclass(frozen=True, slots=True)
class Fetched:
    """A response; `skipped`: why it is no page. It is kept all the same where a crawl is."""

    url: str
    fetched_at: datetime
    status: int
    content_type: str
    content_encoding: str
    body: bytes
    ip: str | None
    truncated: bool
    headers: tuple[tuple[bytes, bytes], ...] = ()
    skipped: str | None = None


# From a response to what goes onto the bus; None where it turns out to be no page.
Maker = Callable[[Fetched], Page | DeadLetter | None]


def skip_kind(request: Request, response: Response) -> str | None:
    """Why this response is no page; None where it may be one."""
    if "cached" in response.flags:
        return "cached"
    if urlsplit(response.url).scheme not in ("http", "https"):
        return "other-scheme"
    if is_robots(response.url):
        return "robots"
    if request.method == "HEAD":
        return "head"
    if response.status == 304:
        return "not-modified"
    return None if may_be_page(_header(response, "Content-Type")) else "content-type"


def is_robots(url: str) -> bool:
    """Whether this is where a site says what crawlers may fetch. With a query it is a page as any:
    a site has as many of these as it likes.

    >>> is_robots("http://a.example/robots.txt"), is_robots("http://a.example/robots.txt?x")
    (True, False)
    """
    parts = urlsplit(url)
    return parts.path == "/robots.txt" and not parts.query


def fetched(response: Response, *, skipped: str | None = None, whole: bool = False) -> Fetched:
    """The response as plain values, fetched now. `whole`: with all its headers, to be kept."""
    return Fetched(
        url=response.url,
        fetched_at=datetime.now(UTC),
        status=response.status,
        content_type=_header(response, "Content-Type"),
        content_encoding=_header(response, "Content-Encoding"),
        body=response.body,
        ip=None if response.ip_address is None else str(response.ip_address),
        truncated=not _CUT.isdisjoint(response.flags),
        headers=tuple((name, v) for name, values in response.headers.items() for v in values)
        if whole
        else (),
        skipped=skipped,
    )


def maker(
    source: str, scheme: HashScheme, limits: Limits, keep: Callable[[Fetched], Origin] | None = None
) -> Maker:
    """What makes pages of this crawl's responses. `keep` is called with each first, and says where
    it can be read again."""
    nowhere = Origin(source=source)

    def make(found: Fetched) -> Page | DeadLetter | None:
        origin = nowhere if keep is None else keep(found)
        if found.skipped is not None:
            return None
        try:
            _check_status(found.status)
            return page_from_response(
                found.url,
                fetched_at=found.fetched_at,
                status=found.status,
                content_type=found.content_type,
                content_encoding=found.content_encoding,
                body=found.body,
                origin=origin,
                scheme=scheme,
                limits=limits,
                ip=found.ip,
                truncated=found.truncated,
            )
        except BadPage as error:
            return letter(source, found.url, error)

    return make


def _check_status(status: int) -> None:
    # A server may send a number of thousands of digits, and no record holds it.
    if not _LEAST_STATUS <= status <= _MOST_STATUS:
        raise BadPage("bad-http", f"the status {str(status)[:20]} is none of HTTP")


def letter(source: str, url: str, error: BadPage) -> DeadLetter:
    """The dead letter of a response that could not become a page."""
    return DeadLetter(
        reason=error.reason,
        source=source,
        offset=None,
        url=url[:MAX_URL_SHOWN],
        detail=error.detail,
        at=datetime.now(UTC),
    )


def _header(response: Response, name: str) -> str:
    return ", ".join(text_of(value) for value in response.headers.getlist(name))
