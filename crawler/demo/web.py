"""The demo's web: originals, mirrors, copies with changed navigation, and innocent pages.

Every page knows what it is, so that tests compare what was found with what was planted.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Literal

from crawler.demo.prose import paragraph, title

SEED = 2014
BEGIN = datetime(2026, 3, 2, 6, 0, tzinfo=UTC)
ORIGINALS = ("harbour-gazette.example", "fern-and-rye.example", "marsh-museum.example")
PAGES_A_SITE = 12

Role = Literal[
    "original",      # the first to have its text
    "mirror",        # the same file on another site
    "reformatted",   # the same words in other markup, on another site
    "renavigated",   # the main text between another site's navigation
    "restamped",     # only a timestamp differs
    "template",      # one template, each page with an item of its own: innocent
    "error",         # the error page that every server has
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

    @property
    def is_duplicate(self) -> bool:
        """Whether a page of another site has the same words and came before."""
        return self.role in ("mirror", "reformatted")


@dataclass(frozen=True, slots=True)
class _Article:
    title: str
    paragraphs: tuple[str, ...]


def web(seed: int = SEED) -> list[DemoPage]:
    """All pages, in the order in which a crawl fetches them."""
    rng = random.Random(seed)  # noqa: S311 - the same web for the same seed
    pages: list[DemoPage] = []
    for page in _pages(rng):
        pages.append(replace(page, fetched_at=BEGIN + timedelta(seconds=7 * len(pages))))
    return pages


def duplicates(pages: list[DemoPage]) -> dict[str, str]:
    """The truth about exact duplicates: copy → original."""
    return {page.url: page.copy_of for page in pages if page.is_duplicate and page.copy_of}


def _pages(rng: random.Random) -> Iterator[DemoPage]:
    articles: dict[str, _Article] = {}
    for site in ORIGINALS:
        for number in range(1, PAGES_A_SITE + 1):
            article = _article(rng)
            url = f"https://www.{site}/articles/{number}.html"
            articles[url] = article
            yield _page(url, "original", _html(site, article))
    yield from _template_pages(rng)
    urls = list(articles)
    for url in rng.sample(urls, 8):
        yield _copy("https://mirror.pagefarm.example", url, "mirror", articles[url])
    for url in rng.sample(urls, 5):
        yield _copy("http://reader-view.example", url, "reformatted", articles[url])
    for url in rng.sample(urls, 5):
        yield _copy("https://daily-digest.example", url, "renavigated", articles[url])
    yield from _restamped(articles, rng.sample(urls, 4))
    for site in (*ORIGINALS, "pagefarm.example", "daily-digest.example"):
        html = "<html><title>404 Not Found</title><h1>Not Found</h1><p>nginx</html>"
        yield replace(_page(f"https://{site}/gone", "error", html), status=404)


def _article(rng: random.Random) -> _Article:
    return _Article(title(rng), tuple(paragraph(rng) for _ in range(rng.randint(5, 9))))


def _page(url: str, role: Role, html: str, copy_of: str | None = None) -> DemoPage:
    return DemoPage(url, role, BEGIN, html, copy_of)


def _copy(base: str, of: str, role: Role, article: _Article) -> DemoPage:
    host, _, path = of.removeprefix("https://www.").partition("/")
    site = host if role == "mirror" else "daily-digest.example"
    html = _plain(host, article) if role == "reformatted" else _html(site, article)
    return _page(f"{base}/{host}/{path}", role, html, of)


def _restamped(articles: dict[str, _Article], urls: list[str]) -> Iterator[DemoPage]:
    for number, of in enumerate(urls):
        stamp = f"<p>Page served at 0{number}:17:5{number} by web{number}</p>"
        host, _, path = of.removeprefix("https://www.").partition("/")
        html = _html(host, articles[of]).replace("</main>", f"{stamp}</main>")
        yield _page(f"https://cache.edge-copy.example/{host}/{path}", "restamped", html, of)


def _template_pages(rng: random.Random) -> Iterator[DemoPage]:
    """A shop: much boilerplate, a few words that differ."""
    for number in range(1, 9):
        item = _Article(f"Lot {number}: {title(rng)}", (paragraph(rng), *_BOILERPLATE))
        html = _html("lamp-auctions.example", item)
        yield _page(f"https://lamp-auctions.example/lots/{number}", "template", html)


_BOILERPLATE = (
    "All lots are sold as seen. Bids are binding, and are taken in writing until noon of the day "
    "of the sale. The buyer pays a premium of twelve in the hundred, and for the carriage.",
    "Viewing is on the two days before the sale, from ten until four. Children are welcome and "
    "may not touch the lamps. Tea is served in the yard when the weather allows.",
    "Payment is due within a week. Lots that are not collected within a month are stored at the "
    "expense of the buyer. Disputes are settled by the court of the county.",
)


def _html(site: str, article: _Article) -> str:
    name = site.split(".", maxsplit=1)[0].replace("-", " ").title()
    links = "".join(
        f'<li><a href="/{word}/">{word.title()} of the {name}</a></li>'
        for word in ("news", "letters", "archive", "contact")
    )
    body = "\n".join(f"<p>{escape(text)}</p>" for text in article.paragraphs)
    return (
        f"<!DOCTYPE html>\n<html><head><title>{escape(article.title)} | {name}</title>"
        f"<style>body {{ margin: 3em }}</style></head>\n<body><nav><ul>{links}</ul></nav>\n"
        f"<main><h1>{escape(article.title)}</h1>\n{body}\n</main>\n"
        f"<footer>{name}, all rights reserved</footer></body></html>\n"
    )


def _plain(site: str, article: _Article) -> str:
    """The same words as `_html`, without its markup."""
    name = site.split(".", maxsplit=1)[0].replace("-", " ").title()
    links = "".join(
        f"<div>{word.title()} of the {name}</div>"
        for word in ("news", "letters", "archive", "contact")
    )
    body = "<br><br>".join(escape(text) for text in article.paragraphs)
    return (
        f"<html><title>{escape(article.title)} | {name}</title><body bgcolor=white>{links}"
        f"<b>{escape(article.title)}</b><div class=x>{body}</div><i>{name}, all rights reserved</i>"
    )
