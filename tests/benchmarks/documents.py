"""Real pages to measure with: HTML of Debian documentation packages, where they are installed.

Without any, pages are made up, the same for the same seed: their ratios are near those of real
ones, no more. The results say which it was.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Literal

from reusewatch.crawler.demo.prose import paragraph, title

Kind = Literal["debian", "generated"]
ROOT = Path("/usr/share/doc")
PACKAGES = {
    "postgresql-doc-15": ROOT / "postgresql-doc-15",
    "python3.11-doc": ROOT / "python3.11-doc" / "html",
    "openjdk-17-doc": ROOT / "openjdk-17-doc" / "api",
}
# A page of a megabyte would be a tenth of all bytes.
_MOST_BYTES = 1 << 19
_SEED = 2006
_GENERATED = 1500


@dataclass(frozen=True, slots=True)
class Document:
    """A page as it was written; where it will stand, the corpus decides."""

    package: str
    path: str
    html: bytes


def documents(kind: Kind | None = None, most: int | None = None) -> Sequence[Document]:
    """Debian's if there are any, in an order that mixes packages; else pages that are made up."""
    found = [] if kind == "generated" else list(_installed())
    if not found:
        if kind == "debian":
            raise SystemExit(f"no HTML of {', '.join(PACKAGES)} under {ROOT}: install one of them")
        found = list(_generated(most or _GENERATED))
    random.Random(_SEED).shuffle(found)
    return found[:most]


def versions(found: Sequence[Document]) -> dict[str, str]:
    """The packages that documents are of, with their versions."""
    names = sorted({document.package for document in found})
    return {name: _version(name) for name in names}


def _version(package: str) -> str:
    if package not in PACKAGES:
        return str(_SEED)
    command = ["dpkg-query", "--show", "--showformat", "${Version}", package]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _installed() -> Iterator[Document]:
    for package, root in PACKAGES.items():
        for path in sorted(root.rglob("*.html")):
            if path.is_file() and 0 < path.stat().st_size <= _MOST_BYTES:
                yield Document(package, path.relative_to(root).as_posix(), path.read_bytes())


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
