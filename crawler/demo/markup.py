"""The demo's pages as HTML: an article between its site's navigation and footer."""

from __future__ import annotations

import random
from dataclasses import dataclass
from html import escape

from reusewatch.crawler.demo.prose import TOWN, Voice, names, paragraph, paragraph_about, title


@dataclass(frozen=True, slots=True)
class Article:
    """A headline and its paragraphs."""

    title: str
    paragraphs: tuple[str, ...]


def article(rng: random.Random) -> Article:
    """One that nobody else has."""
    return Article(title(rng), tuple(paragraph(rng) for _ in range(rng.randint(5, 9))))


def named_article(rng: random.Random, voice: Voice = TOWN) -> Article:
    """One whose people and places nobody else writes about either."""
    who = names(rng)
    parts = tuple(paragraph_about(rng, who, voice) for _ in range(rng.randint(5, 9)))
    return Article(title(rng, voice), parts)


def html_of(site: str, text: Article) -> str:
    """As its site serves it."""
    name = site.split(".", maxsplit=1)[0].replace("-", " ").title()
    links = "".join(
        f'<li><a href="/{word}/">{word.title()} of the {name}</a></li>'
        for word in ("news", "letters", "archive", "contact")
    )
    body = "\n".join(f"<p>{escape(part)}</p>" for part in text.paragraphs)
    return (
        f"<!DOCTYPE html>\n<html><head><title>{escape(text.title)} | {name}</title>"
        f"<style>body {{ margin: 3em }}</style></head>\n<body><nav><ul>{links}</ul></nav>\n"
        f"<main><h1>{escape(text.title)}</h1>\n{body}\n</main>\n"
        f"<footer>{name}, all rights reserved</footer></body></html>\n"
    )


def plain(site: str, text: Article) -> str:
    """The same words as `html_of`, without its markup."""
    name = site.split(".", maxsplit=1)[0].replace("-", " ").title()
    links = "".join(
        f"<div>{word.title()} of the {name}</div>"
        for word in ("news", "letters", "archive", "contact")
    )
    body = "<br><br>".join(escape(part) for part in text.paragraphs)
    return (
        f"<html><title>{escape(text.title)} | {name}</title><body bgcolor=white>{links}"
        f"<b>{escape(text.title)}</b><div class=x>{body}</div><i>{name}, all rights reserved</i>"
    )
