"""Pages as the gram postings take them, of any k and any sample; and texts cut into their parts.

What the experiments on quilts, partial copies and popular phrases have in common. Real pages are
Debian's documentation, each manual a site; own text of made-up pages is words of the manuals in an
order that nobody has.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape, unescape

import numpy as np
from numpy.typing import NDArray

from reusewatch.crawler.demo.prose import paragraph
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.quilts.judging import Judged, judge
from reusewatch.detector.quilts.postings import GramPages, GramPostings
from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.detector.quilts.store import DOCUMENT
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.grams import GRAM_K, SHORT, gram_sets, in_sample
from reusewatch.detector.sketching.identity import identity_hashes
from reusewatch.detector.sketching.shingles import phrases
from tests import corpora
from tests.experiments.near_sites import tokens_of_batch

SCHEME = HashScheme(counts="damped")
SEED = 2012
SAMPLES = {"all": 1.0, "1/4": 1 / 4, "1/8": 1 / 8, "1/16": 1 / 16}
_MARKUP = re.compile(rb"(?s)<(script|style|nav).*?</\1>|<[^>]*>")
_BLOCKS = re.compile(rb"(?s)<p[ >].*?</p>")
_END = re.compile(r"(?<=[.!?]) (?=[A-Z])")
_BATCH = 32
_MOST_GRAMS = 16_384


@dataclass(frozen=True, slots=True)
class Served:
    """A page: its bytes, and the names of its site and address."""

    html: bytes
    site: str
    ip: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Worded:
    """Pages by their words; sites and addresses as hashes."""

    tokens: Ragged
    identity: NDArray[np.uint64]
    sites: NDArray[np.uint64]
    ips: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.tokens)


def worded(served: Sequence[Served]) -> Worded:
    """The words of pages."""
    parts = [
        tokens_of_batch([one.html for one in served[at : at + _BATCH]])
        for at in range(0, len(served), _BATCH)
    ]
    tokens = Ragged.of([page for part in parts for page in part])
    names = {name: SCHEME.of_text(name) if name else 0 for one in served
             for name in (one.site, one.ip)}  # fmt: skip
    return Worded(
        tokens, identity_hashes(tokens, SCHEME),
        np.array([names[one.site] for one in served], np.uint64),
        np.array([names[one.ip] for one in served], np.uint64),
    )  # fmt: skip


def gram_pages(pages: Worded, *, begin: int = 1, k: int = GRAM_K, sample: float = 1.0) -> GramPages:
    """Pages that were fetched one after the other, from the moment `begin` on.

    Where their grams stand is told in words, not in bytes.
    """
    straight = phrases(pages.tokens, k, SCHEME, circular=False)
    found = gram_sets(straight, pages.identity, sample=sample, short=SHORT)
    offsets, kept = found.hashes.offsets, found.hashes.counts
    ranged = np.concatenate(([0], np.cumsum(in_sample(found.hashes.values, sample))))[offsets]
    number = np.arange(begin, begin + len(pages))
    records = np.zeros(len(pages), DOCUMENT)
    records["page"], records["text"], records["at"] = number, pages.identity, number
    records["site"], records["ip"] = pages.sites, pages.ips
    records["kept"], records["ranged"] = kept, np.diff(ranged)
    whole = (sample >= 1) | (straight.counts <= SHORT)
    records["grams"] = np.where(whole, kept, np.maximum(kept / sample, kept + 1))
    return GramPages(records, found.hashes, found.positions, found.positions + np.uint32(k))


def posted(pages: GramPages) -> GramPostings:
    """Postings of all of these."""
    found = GramPostings(max_bytes=1 << 32)
    for part in parts_of(pages):
        found.add(part)
    return found


def parts_of(pages: GramPages) -> Iterator[GramPages]:
    """The pages in groups whose answers take little memory."""
    offsets, begin = pages.grams.offsets, 0
    while begin < len(pages):
        end = int(np.searchsorted(offsets, offsets[begin] + _MOST_GRAMS, "right")) - 1
        end = min(max(end, begin + 1), len(pages))
        some = slice(int(offsets[begin]), int(offsets[end]))
        grams = Ragged(pages.grams.values[some], offsets[begin : end + 1] - offsets[begin])
        yield GramPages(pages.documents[begin:end], grams, pages.starts[some], pages.ends[some])
        begin = end


def judged(
    postings: GramPostings, pages: GramPages, rules: QuiltRules, *, sample: float = 1.0,
    by_paper: bool = False,
) -> Iterator[tuple[GramPages, Judged]]:  # fmt: skip
    """What is found of pages, group by group.

    `by_paper`: as Najork 2012 defines it, without order and without templates: every page comes
    after all others, and no site has enough pages to tell its template.
    """
    for part in parts_of(pages):
        holders = postings.ask(part.grams.values, most=rules.m)
        if by_paper:
            part.documents["at"] = np.iinfo(np.int64).max
            holders.documents["peers"] = np.iinfo(np.uint16).max
        yield part, judge(part, holders, rules, sample=sample)


# Texts, and their parts.


def text_of(html: bytes) -> str:
    """What a page says, on one line."""
    return " ".join(unescape(_MARKUP.sub(b" ", html).decode("utf-8", "replace")).split())


def paragraphs(html: bytes) -> list[str]:
    """The paragraphs of a page."""
    found = (text_of(block.group()) for block in _BLOCKS.finditer(html))
    return [one for one in found if one]


def sentences(html: bytes, least: int = 8, most: int = 60) -> list[str]:
    """The sentences of a page's paragraphs."""
    found = (one for text in paragraphs(html) for one in _END.split(text))
    return [one for one in found if least <= len(one.split()) <= most]


def as_page(*texts: str) -> bytes:
    """A page of these paragraphs."""
    return "".join(f"<p>{escape(text)}</p>\n" for text in texts).encode()


def own_text(words: Sequence[str], count: int, rng: random.Random) -> str:
    """So many words in an order that nobody has."""
    return " ".join(rng.choices(words, k=count))


def manual(package: corpora.Package, most: int) -> list[bytes]:
    """Some of the pages of a manual, always the same; without the longest, which are indices."""
    found = [page for page in corpora.pages(package).values() if len(page) < 1 << 17]
    random.Random(SEED).shuffle(found)
    return found[:most]


def made_up_manual(count: int, seed: int) -> list[bytes]:
    """Pages of prose in a template of their own, for who has no packages."""
    rng = random.Random(seed)
    frame = paragraph(rng)
    return [
        as_page(frame, *(paragraph(rng) for _ in range(rng.randrange(3, 12)))) for _ in range(count)
    ]


def vocabulary(pages: Sequence[bytes]) -> list[str]:
    """The words of some pages."""
    return sorted({word for page in pages for word in text_of(page).split() if word.isalpha()})
