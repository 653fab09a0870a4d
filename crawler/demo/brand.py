"""The part of the demo's web that copies what is labeled: a brand's site, and who lives off it.

The brand's own pages are not crawled. They are what an operator knows beforehand, and labels.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from reusewatch.crawler.demo.markup import Article, html_of, named_article
from reusewatch.crawler.demo.prose import BANK
from reusewatch.crawler.demo.web import BEGIN, SEED, DemoPage, Role, dated, web

BRAND = "alder-bank.example"
HOST = "https://free-pages.example/"
STUFFED = f"{HOST}~teller/"
ENDLESS = "https://town-calendar.example/events/"
NOTICE_SITES = (
    "ferry-notes.example", "kiln-and-clay.example", "night-garden.example", "rope-walk.example",
)  # fmt: skip
_BRAND_PAGES = 23
_HOBBY_PAGES, _STUFFED_PAGES = 20, 14


def whole_web(seed: int = SEED) -> list[DemoPage]:
    """All that the demo's crawl fetches: the web of copies, and then what lives off the brand."""
    pages = web(seed)
    rng = random.Random(f"{seed} brand")  # noqa: S311 - the same web for the same seed
    known = _brand(rng)
    more = [*_lifted(rng, known[:6]), *_stolen(known[6:9]), *_hobby(rng),
            *_stuffed(rng, known[9:]), *_notices(rng), *_endless(rng)]  # fmt: skip
    begin = BEGIN + timedelta(seconds=7 * len(pages))
    return list(map(dated, pages)) + [
        replace(page, fetched_at=begin + timedelta(seconds=7 * n)) for n, page in enumerate(more)
    ]


def brand(seed: int = SEED) -> list[DemoPage]:
    """The brand's site, which is labeled."""
    rng = random.Random(f"{seed} brand")  # noqa: S311 - the same web for the same seed
    return [_page(url, "known", html_of(BRAND, text)) for url, text in _brand(rng)]


def brand_articles(seed: int = SEED) -> list[Article]:
    """What the brand's pages say."""
    rng = random.Random(f"{seed} brand")  # noqa: S311 - the same web for the same seed
    return [text for _, text in _brand(rng)]


_Known = tuple[str, Article]


def _brand(rng: random.Random) -> list[_Known]:
    return [
        (f"https://www.{BRAND}/help/{n}.html", named_article(rng, BANK))
        for n in range(1, _BRAND_PAGES + 1)
    ]


def _page(url: str, role: Role, html: str, copy_of: str | None = None) -> DemoPage:
    return DemoPage(url, role, BEGIN, html, copy_of)


def _lifted(rng: random.Random, known: list[_Known]) -> Iterator[DemoPage]:
    """Three paragraphs of the brand and two of one's own."""
    for number, (of, text) in enumerate(known, 1):
        own = named_article(rng)
        mixed = [*rng.sample(text.paragraphs, 3), *own.paragraphs[:2]]
        rng.shuffle(mixed)
        site = f"savings-tips-{number}.example"
        html = html_of(site, Article(own.title, tuple(mixed)))
        yield _page(f"https://{site}/read-this-first", "lifted", html, of)


def _stolen(known: list[_Known]) -> Iterator[DemoPage]:
    for number, (of, text) in enumerate(known, 1):
        url = f"https://login-{number}.secure-accounts.example/"
        yield _page(url, "stolen", html_of(BRAND, text), of)


def _hobby(rng: random.Random) -> Iterator[DemoPage]:
    for number in range(1, _HOBBY_PAGES + 1):
        html = html_of("free-pages.example", named_article(rng))
        yield _page(f"{HOST}~gardener/{number}.html", "hobby", html)


def _stuffed(rng: random.Random, known: list[_Known]) -> Iterator[DemoPage]:
    """Four paragraphs of one page of the brand, and one of their own."""
    for number, (of, text) in zip(range(1, _STUFFED_PAGES + 1), known, strict=True):
        own = named_article(rng)
        mixed = (*rng.sample(text.paragraphs, 4), own.paragraphs[0])
        html = html_of("free-pages.example", Article(own.title, mixed))
        yield _page(f"{STUFFED}{number}.html", "stuffed", html, of)


def _notices(rng: random.Random) -> Iterator[DemoPage]:
    """Two articles of each site, between whose paragraphs the same notice stands."""
    notice = named_article(rng).paragraphs[0]
    for number in (1, 2):
        for site in NOTICE_SITES:
            own = named_article(rng)
            text = Article(own.title, (*own.paragraphs, notice))
            yield _page(f"https://{site}/posts/{number}", "notice", html_of(site, text))


def _endless(rng: random.Random) -> Iterator[DemoPage]:
    for steps in range(3, 7):
        html = html_of("town-calendar.example", named_article(rng))
        yield _page(f"{ENDLESS}{'next/month/' * steps}", "endless", html)
