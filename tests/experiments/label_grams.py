"""Labeled content below the paragraph: which answers that are made of labeled pages are found, by
the gram and by the paragraph, and which innocent ones are reported.

Labeled is one manual. An answer is fifteen sentences in one paragraph, some of them from one
labeled page, in any order, the others from another manual; in what is taken over, one word in so
many is another one. Innocent are answers from the other manual alone, and its pages as they are.
All is by the share of the grams that the pack keeps.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from reusewatch.detector.labels.building import LabelBuilder
from reusewatch.detector.labels.contains import contained
from reusewatch.detector.labels.dataset import LabeledDataset
from reusewatch.detector.labels.format import PackLabel
from reusewatch.detector.labels.labeled_page import LabeledPage
from reusewatch.detector.labels.pack import open_pack
from reusewatch.detector.labels.page_chunks import content_of
from reusewatch.detector.labels.stood import places
from reusewatch.detector.mean_and_deviation import PAPER_PAGES
from reusewatch.detector.sketching.fingerprint import Document, fingerprints
from reusewatch.streams.labels.gram_marks import GramMatching
from reusewatch.streams.stages.labeled import LABELED_GRAMS
from tests import corpora
from tests.experiments.corpus import SCHEME
from tests.experiments.datasets import stop_chunks
from tests.experiments.report import Experiment, Row

SENTENCES = 15
SHARES = (1.0, 0.5, 0.25, 0.125)
_COPIED = (2, 3, 6, 12)
_CHANGED = (0, 10, 7)
_ANSWERS, _LABELED = 100, 400
_BATCH = 64
_MARKUP = re.compile(rb"(?s)<(script|style).*?</\1>|<[^>]*>")
_END = re.compile(r"(?<=[.!?]) (?=[A-Z])")


def sentences(page: bytes) -> list[str]:
    """The sentences of a page that have 12 to 45 words."""
    text = " ".join(unescape(_MARKUP.sub(b" ", page).decode("utf-8", "replace")).split())
    return [found for found in _END.split(text) if 12 <= len(found.split()) <= 45]


@dataclass(frozen=True, slots=True, eq=False)
class Pack:
    """A labeled manual, with so many of its grams."""

    dataset: LabeledDataset
    share: float
    bytes_per_page: float

    def found(self, pages: Sequence[Document]) -> Iterator[tuple[bool, bool]]:
        """Of each page whether it is reported for its grams, and for its paragraphs."""
        stops = stop_chunks()
        matching = GramMatching(
            self.dataset,
            stops,
            lambda number, url: self.dataset.labels_of(number),
            lambda names: {},
        )
        for start in range(0, len(pages), _BATCH):
            made = fingerprints(pages[start : start + _BATCH], SCHEME)
            marks = matching.marks(made, [""] * len(made))
            chunks = made.sketches.chunks
            sets = self.dataset.match("chunks", chunks.hashes.values)
            short = (chunks.lengths <= 100) & (sets < 0)
            ratios = contained(chunks.hashes, sets, short).ratios
            for at, ratio in enumerate(ratios.tolist()):
                mark = marks.get(at)
                share = mark["labeled"] / mark["total"] if mark else 0.0
                yield share >= LABELED_GRAMS, ratio >= PAPER_PAGES


def pack_of(pages: Sequence[Document], share: float) -> Pack:
    """A pack of these pages."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pack"
        with closing(LabelBuilder(Path(folder), SCHEME, stops=stop_chunks(), places=True)) as made:
            label = made.label(PackLabel(name="known"))
            for start in range(0, len(pages), _BATCH):
                batch = pages[start : start + _BATCH]
                found = content_of(batch, SCHEME, gram_share=share)
                numbers = np.array(
                    [made.page(label, LabeledPage(str(start + n))) for n in range(len(batch))], "u4"
                )
                stood = places(numbers, found.chunks.hashes.offsets, *found.chunk_spans)
                made.add_chunks(label, found.chunks, stood)
                stood = places(numbers, found.grams.offsets, *found.gram_spans)
                made.add_grams(label, found.grams.values, stood, share=share)
            made.build(path)
        dataset = LabeledDataset(SCHEME, open_pack(path, SCHEME))
        return Pack(dataset, share, path.stat().st_size / len(pages))


def changed(sentence: str, every: int, words: Sequence[str], rng: random.Random) -> str:
    """A sentence in which one word in so many is another one; 0: as it is."""
    found = sentence.split()
    for at in range(rng.randrange(every), len(found), every) if every else ():
        found[at] = rng.choice(words)
    return " ".join(found)


@lru_cache(maxsize=1)
def _manuals(quick: bool) -> tuple[list[bytes], list[bytes]]:
    if not quick:
        return (
            [*corpora.pages(corpora.PYTHON_311).values()],
            [*corpora.pages(corpora.POSTGRES_15).values()],
        )

    def page(word: str, number: int) -> bytes:
        texts = (
            " ".join(f"{word}{number}x{at}x{n}" for n in range(14)).capitalize() for at in range(30)
        )
        return f"<p>{'. '.join(texts)}.</p>".encode()

    return [[page(word, number) for number in range(20)] for word in ("one", "other")]  # type: ignore[return-value]


def _answers(
    known: Sequence[list[str]], own: Sequence[str], copied: int, every: int, rng: random.Random
) -> list[Document]:
    words = " ".join(own).split()
    found = []
    for page in known:
        taken = [changed(one, every, words, rng) for one in rng.sample(page, copied)]
        mixed = taken + rng.sample(own, SENTENCES - copied)
        rng.shuffle(mixed)
        found.append(Document(" ".join(mixed).encode(), html=False))
    return found


def run(output: Path, quick: bool) -> list[Row]:
    """A table; found and reported are shares of the answers, or pages."""
    rng = random.Random(2026)
    known, other = _manuals(quick)
    rng.shuffle(known)
    labeled = known[:_LABELED]
    texts = [found for found in map(sentences, labeled) if len(found) >= SENTENCES][:_ANSWERS]
    own = [one for page in other for one in sentences(page)]
    tried = {
        (copied, every): _answers(texts, own, copied, every, rng)
        for copied in _COPIED
        for every in _CHANGED
    }
    innocent = {
        "innocent answers": _answers([[]] * len(texts), own, 0, 0, rng),
        "innocent pages": [Document(page) for page in other],
    }
    rows: list[Row] = []
    for share in SHARES[:1] + SHARES[-1:] if quick else SHARES:
        pack = pack_of([Document(page) for page in labeled], share)
        facts = {"grams": share, "bytes a page": round(pack.bytes_per_page)}
        for (copied, every), answers in tried.items():
            what = f"{copied} of {SENTENCES} sentences"
            retold = f"one word in {every}" if every else "none"
            rows.append(_row(what, retold, [*pack.found(answers)]) | facts)
        for name, pages in innocent.items():
            rows.append(_row(name, "", [*pack.found(pages)]) | facts)
    return rows


def _row(what: str, retold: str, found: Sequence[tuple[bool, bool]]) -> Row:
    return {
        "pages": what, "changed": retold, "number": len(found),
        "by grams": sum(one for one, _ in found) / len(found),
        "by paragraphs": sum(two for _, two in found) / len(found),
    }  # fmt: skip


EXPERIMENT = Experiment("label_grams", run)
