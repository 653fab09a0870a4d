"""The demo's web: originals, mirrors, copies with changed navigation, and innocent pages.

Every page knows what it is, so that tests compare what was found with what was planted.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from reusewatch.crawler.demo.markup import Article, article, html_of, plain
from reusewatch.crawler.demo.prose import paragraph, title

SEED = 2014
BEGIN = datetime(2026, 3, 2, 6, 0, tzinfo=UTC)
ORIGINALS = ("harbour-gazette.example", "fern-and-rye.example", "marsh-museum.example")
PAGES_A_SITE = 12
# Two days lie between a page of the one and its copies; the other is ours, and was crawled last.
OLDER_SITE, OWN_SITE = "fern-and-rye.example", "marsh-museum.example"
# A machine's, that stitches pages from sentences.
SLICED_SITE = "word-market.example"
# Of a third one's pages those in other markup say where they are from.
HONEST_OF = "harbour-gazette.example"
OLDER_BY, OWN_LATER_BY = timedelta(days=2), timedelta(hours=1)

Role = Literal[
    "original",      # the first to have its text
    "mirror",        # the same file on another site
    "reformatted",   # the same words in other markup, on another site
    "renavigated",   # the main text between another site's navigation
    "restamped",     # only a timestamp differs
    "template",      # one template, each page with an item of its own: innocent
    "error",         # the error page that every server has
    "known",         # a page of the brand: it is labeled, and not crawled
    "lifted",        # paragraphs of the brand among words of its own
    "stolen",        # a file of the brand, byte for byte
    "stuffed",       # in a directory of pages that are mostly the brand's paragraphs
    "hobby",         # on the same host as that directory, with words of its own: innocent
    "notice",        # words of its own, and a paragraph that many sites have
    "stitched",      # made of paragraphs of many other sites' pages
    "excerpted",     # half of another site's page among words of its own
    "sliced",        # each page stitched anew from a machine's stock of sentences
    "endless",       # one of the URLs that a calendar makes for ever
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class DemoPage:
    """A page, and the truth about it."""

    url: str
    role: Role
    fetched_at: datetime
    html: str
    copy_of: str | None = None
    status: int = 200


def web(seed: int = SEED) -> list[DemoPage]:
    """All pages, in the order in which a crawl fetches them."""
    rng = random.Random(seed)  # noqa: S311 - the same web for the same seed
    pages: list[DemoPage] = []
    for page in _pages(rng):
        pages.append(replace(page, fetched_at=BEGIN + timedelta(seconds=7 * len(pages))))
    return pages


def _pages(rng: random.Random) -> Iterator[DemoPage]:
    articles: dict[str, Article] = {}
    for site in ORIGINALS:
        for number in range(1, PAGES_A_SITE + 1):
            text = article(rng)
            url = f"https://www.{site}/articles/{number}.html"
            articles[url] = text
            yield _page(url, "original", html_of(site, text))
    yield from _template_pages(rng)
    urls = list(articles)
    for url in rng.sample(urls, 8):
        yield _copy("https://mirror.pagefarm.example", url, "mirror", articles[url])
    for url in rng.sample(urls, 5):
        yield _copy("http://reader-view.example", url, "reformatted", articles[url])
    for url in rng.sample(urls, 5):
        yield _copy("https://daily-digest.example", url, "renavigated", articles[url])
    yield from _restamped(articles, rng.sample(urls, 4))
    yield from _parts_of(articles, random.Random(SEED + 1))  # noqa: S311 - the same web for the same seed
    for site in (*ORIGINALS, "pagefarm.example", "daily-digest.example"):
        html = "<html><title>404 Not Found</title><h1>Not Found</h1><p>nginx</html>"
        yield replace(_page(f"https://{site}/gone", "error", html), status=404)
    yield from _sliced_pages(random.Random(SEED + 2))  # noqa: S311 - the same web for the same seed


def _sliced_pages(rng: random.Random) -> Iterator[DemoPage]:
    """A host whose machine answers every request with sentences of its stock."""
    stock = [part for _ in range(20) for part in paragraph(rng).split(". ")]
    for number in range(1, 25):
        drawn = rng.sample(stock, len(stock) // 2)
        parts = tuple(". ".join(drawn[at : at + 4]) for at in range(0, len(drawn), 4))
        html = html_of(SLICED_SITE, Article(title(rng), parts))
        yield _page(f"https://{SLICED_SITE}/answers/{number}.html", "sliced", html)


def _parts_of(articles: dict[str, Article], rng: random.Random) -> Iterator[DemoPage]:
    """Pages that are stitched from paragraphs of others, and pages with half of another."""
    for number in range(1, 4):
        some = rng.sample(list(articles), 6)
        parts = (*(rng.choice(articles[url].paragraphs) for url in some), paragraph(rng))
        site = "story-mill.example"
        html = html_of(site, Article(title(rng), parts))
        yield _page(f"https://{site}/stories/{number}.html", "stitched", html)
    for number, url in enumerate(rng.sample(list(articles), 3), 1):
        taken = articles[url].paragraphs
        parts = (paragraph(rng), *taken[: len(taken) // 2 + 1], paragraph(rng), paragraph(rng))
        site = "quote-board.example"
        html = html_of(site, Article(title(rng), parts))
        yield _page(f"https://{site}/quotes/{number}.html", "excerpted", html, url)


def dated(page: DemoPage) -> DemoPage:
    """A page with the time of its fetch as the demo's crawl has it."""
    if page.copy_of and OLDER_SITE in page.copy_of:
        return replace(page, fetched_at=page.fetched_at + OLDER_BY)
    if page.role == "original" and OWN_SITE in page.url:
        return replace(page, fetched_at=page.fetched_at + OWN_LATER_BY)
    return page


def names_its_source(role: Role, of: str) -> bool:
    """Whether a copy says itself of which page it is one."""
    return role == "reformatted" and HONEST_OF in of


def _page(url: str, role: Role, html: str, copy_of: str | None = None) -> DemoPage:
    return DemoPage(url, role, BEGIN, html, copy_of)


def _copy(base: str, of: str, role: Role, article: Article) -> DemoPage:
    host, _, path = of.removeprefix("https://www.").partition("/")
    site = host if role == "mirror" else "daily-digest.example"
    html = plain(host, article) if role == "reformatted" else html_of(site, article)
    if names_its_source(role, of):
        html = html.replace("<title>", f'<link rel=canonical href="{of}"><title>', 1)
    return _page(f"{base}/{host}/{path}", role, html, of)


def _restamped(articles: dict[str, Article], urls: list[str]) -> Iterator[DemoPage]:
    for number, of in enumerate(urls):
        stamp = f"<p>Page served at 0{number}:17:5{number} by web{number}</p>"
        host, _, path = of.removeprefix("https://www.").partition("/")
        html = html_of(host, articles[of]).replace("</main>", f"{stamp}</main>")
        yield _page(f"https://cache.edge-copy.example/{host}/{path}", "restamped", html, of)


def _template_pages(rng: random.Random) -> Iterator[DemoPage]:
    """A shop: much boilerplate, a few words that differ."""
    for number in range(1, 9):
        item = Article(f"Lot {number}: {title(rng)}", (paragraph(rng), *_BOILERPLATE))
        html = html_of("lamp-auctions.example", item)
        yield _page(f"https://lamp-auctions.example/lots/{number}", "template", html)


_BOILERPLATE = (
    "All lots are sold as seen. Bids are binding, and are taken in writing until noon of the day "
    "of the sale. The buyer pays a premium of twelve in the hundred, and for the carriage.",
    "Viewing is on the two days before the sale, from ten until four. Children are welcome and "
    "may not touch the lamps. Tea is served in the yard when the weather allows.",
    "Payment is due within a week. Lots that are not collected within a month are stored at the "
    "expense of the buyer. Disputes are settled by the court of the county.",
)
