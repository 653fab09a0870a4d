"""The pages that are measured with: of Debian's documentation, or made up.

Debian's are always the same ones (`tests.corpora`). Those that are made up are the same for the
same seed; the tests of the benchmarks use them, and who asks for them: ratios on these are not
those of real pages, and the results say which it was.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from reusewatch.crawler.demo.prose import paragraph, title
from tests.corpora import BENCHMARKS, pages

Kind = Literal["debian", "generated"]
_SEED = 2006
_GENERATED = 1500


@dataclass(frozen=True, slots=True)
class Document:
    """A page as it was written; where it will stand, the corpus decides."""

    package: str
    path: str
    html: bytes


def documents(kind: Kind = "debian", most: int | None = None) -> Sequence[Document]:
    """The pages of a kind, in an order that mixes packages."""
    found = list(_debian() if kind == "debian" else _generated(most or _GENERATED))
    random.Random(_SEED).shuffle(found)
    return found[:most]


def versions(found: Sequence[Document]) -> dict[str, str]:
    """The packages that documents are of, with their versions."""
    known = {package.name: package.version for package in BENCHMARKS}
    names = sorted({document.package for document in found})
    return {name: known.get(name, str(_SEED)) for name in names}


def _debian() -> Iterator[Document]:
    for package in BENCHMARKS:
        for path, html in pages(package).items():
            yield Document(package.name, path, html)


def _generated(count: int) -> Iterator[Document]:
    """Pages of about 27 kB in one template: half of it markup, as on the web."""
    rng = random.Random(_SEED)
    for number in range(count):
        name = escape(title(rng))
        links = "".join(
            f'<li class="nav-item level-{n % 3}"><a href="/section-{n}/page-{n}.html" '
            f'title="{escape(title(rng))}">Section {n}</a></li>\n'
            for n in range(40)
        )
        body = "".join(
            f'<section id="part-{n}"><h2>{escape(title(rng))}</h2>\n<p class="text">'
            f"{escape(paragraph(rng))}</p>\n<p>{escape(paragraph(rng))}</p></section>\n"
            for n in range(rng.randint(5, 30))
        )
        html = (
            f"<!DOCTYPE html><html><head><title>{name}</title><style>p {{ margin: 1em }}</style>"
            f"<script>let page = {number};</script></head><body><nav><ul>{links}</ul></nav>"
            f"<main><h1>{name}</h1>{body}</main></body></html>"
        )
        yield Document("generated", f"{number}.html", html.encode())
