"""What a byte of text costs that has a word in every third one, or every second: Han, where each
character is a word, and words of one letter.

Whole fingerprints, all sketches counted, beside real pages: these have markup between their words,
and words of several letters. Seeded; the best of several rounds, taken in turn.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.sketching.fingerprint import Document, fingerprints

_SCHEME = HashScheme()
_SAMPLE = 1 / 8
_BATCH = 64
_PARAGRAPH = 120
_SEED = 2026


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU nanoseconds."""

    per_byte: float
    per_word: float


def _page(rng: random.Random, size: int, words: Sequence[str], between: str) -> bytes:
    """A page of so many bytes; words are about as frequent as in a language."""
    count = size // len((words[0] + between).encode())
    drawn = [words[int(len(words) * rng.random() ** 2.5)] for _ in range(count)]
    text = "".join(
        f"<p>{between.join(drawn[at : at + _PARAGRAPH])}</p>\n"
        for at in range(0, count, _PARAGRAPH)
    )
    return f"<!DOCTYPE html><html><head><title>x</title></head><body>{text}</body></html>".encode()


def dense(size: int, count: int) -> dict[str, list[bytes]]:
    """So many pages of this size of each kind."""
    rng = random.Random(_SEED)
    han = [chr(0x4E00 + number) for number in range(3500)]
    letters = [chr(ord("a") + number) for number in range(26)]
    return {
        "Han": [_page(rng, size, han, "") for _ in range(count)],
        "words of one letter": [_page(rng, size, letters, " ") for _ in range(count)],
    }


def costs(real: Sequence[bytes], rounds: int) -> dict[str, Cost]:
    """Of the real pages, and of dense ones that are as large on average."""
    kinds = {"real": list(real), **dense(sum(map(len, real)) // len(real), len(real))}
    best: dict[str, Cost] = {}
    for _ in range(rounds):
        for kind, pages in kinds.items():
            seconds, words = 0.0, 0
            for at in range(0, len(pages), _BATCH):
                documents = [Document(page) for page in pages[at : at + _BATCH]]
                before = time.process_time()
                made = fingerprints(documents, _SCHEME, gram_sample=_SAMPLE)
                seconds += time.process_time() - before
                words += int(made.sketches.words.sum())
            taken = Cost(seconds / sum(map(len, pages)) * 1e9, seconds / max(1, words) * 1e9)
            known = best.get(kind, taken)
            best[kind] = taken if taken.per_byte < known.per_byte else known
    return best
