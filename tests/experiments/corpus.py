"""The corpus: one site that is ripped, and a background that nobody copies.

The site is the documentation of PostgreSQL as Debian packages it, whose pages are as long in
paragraphs as those of the paper's blog (mean 46, median 22; the paper's: 48 and 23); the background
is that of Python. Quick runs, and tests, make both up: pages in a template, some of them long.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from reusewatch.crawler.demo.prose import paragraph, title
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged, page_offsets
from reusewatch.detector.sketching.chunks import Chunks
from reusewatch.detector.sketching.fingerprint import Document, fingerprints
from reusewatch.detector.sketching.raw_chunks import raw_chunks
from tests.corpora import POSTGRES_15, PYTHON_311, pages

SCHEME = HashScheme()
Unit = Literal["raw", "text"]
UNITS: tuple[Unit, Unit] = ("raw", "text")
"""The paper's chunks, bytes between paragraph tags; and ours, words of a block."""
_BATCH = 32


@dataclass(frozen=True, slots=True)
class Corpus:
    """Pages as bytes. `names` are the paths of the site's."""

    names: tuple[str, ...]
    site: tuple[bytes, ...]
    background: tuple[bytes, ...]


@lru_cache(maxsize=2)
def corpus(quick: bool) -> Corpus:
    """Debian's documentation; made up if it must be quick."""
    if quick:
        site = tuple(_made_up(40, seed=1))
        return Corpus(_numbered(site), site, tuple(_made_up(20, seed=2)))
    site, background = pages(POSTGRES_15), pages(PYTHON_311)
    return Corpus(tuple(site), tuple(site.values()), tuple(background.values()))


def _numbered(pages: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(f"part-{number % 3}/{number}.html" for number in range(len(pages)))


def _made_up(count: int, seed: int) -> Iterator[bytes]:
    """Pages of a template and of 4 to 60 paragraphs, the long ones few."""
    rng = random.Random(seed)
    links = [f"{title(rng)} {seed}" for _ in range(6)]
    nav = "".join(f'<p class="nav"><a href="/{n}.html">{link}</a></p>' for n, link in
                  enumerate(links))  # fmt: skip
    for _ in range(count):
        length = min(60, int(4 * rng.paretovariate(1.1)))
        body = "\n".join(f'<p class="text">{paragraph(rng)}</p>' for _ in range(length))
        head = title(rng)
        yield (
            f"<!DOCTYPE html><html><head><title>{head}</title></head><body>"
            f"<nav>{nav}</nav><h1>{head}</h1>\n{body}</body></html>"
        ).encode()


def chunks_of(pages: Sequence[bytes], unit: Unit) -> Chunks:
    """The chunk hash vectors of pages."""
    if unit == "raw":
        return joined([raw_chunks(page, SCHEME) for page in pages])
    batches = [pages[at : at + _BATCH] for at in range(0, len(pages), _BATCH)]
    return joined(
        [
            fingerprints(
                [Document(page) for page in batch], SCHEME, gram_sample=0.0
            ).sketches.chunks
            for batch in batches
        ]
    )


def joined(parts: Sequence[Chunks]) -> Chunks:
    """The chunks of all pages of all parts."""
    counts = np.concatenate([part.hashes.counts for part in parts])
    values = np.concatenate([part.hashes.values for part in parts])
    columns = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("lengths", "starts", "ends")
    )
    return Chunks(Ragged(values, page_offsets(counts)), *columns)
