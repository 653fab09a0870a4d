"""Match and add of planted near-copies, by other libraries' LSH of MinHashes.

Run by lsh_speed.py under the interpreter of a venv made from peers.txt; imports nothing of this
project. Prints one JSON object: what each library was found to do. Their signatures are made
before the clock runs; what counts is to query and to insert, a page at a time, as in a crawl.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

WORDS, VOCABULARY = 300, 20_000
CHANGED = (1, 2, 4, 8, 16, 32)
EVERY = 10
PERMUTATIONS, THRESHOLD, BANDS, SHINGLE = 128, 0.8, 16, 5
BATCH = 500
Words = np.ndarray[Any, np.dtype[np.int64]]


class Planted(NamedTuple):
    """A page's words as numbers; of a near-copy, whose, and how many words were changed."""

    words: Words
    source: int = -1
    changed: int = 0


def original(place: int) -> Words:
    """The n-th page that copies none: words by Zipf's law. Nothing is remembered."""
    draw = np.random.default_rng((2006, place))
    return (VOCABULARY ** draw.random(WORDS)).astype(np.int64)


def number_of(place: int) -> int:
    """Where the n-th original stands among all pages.

    >>> [number_of(place) for place in (0, 1, 9, 10, 18, 19)]
    [0, 1, 9, 11, 19, 21]
    """
    return place + (place - 1) // (EVERY - 1) if place else 0


def planted(count: int) -> Iterator[Planted]:
    """Pages of which a tenth copies an earlier one, but for words in one place."""
    draw, originals = np.random.default_rng(2006), 0
    for number in range(count):
        if number % EVERY or not number:
            yield Planted(original(originals))
            originals += 1
            continue
        place = int(draw.integers(originals))
        changed = CHANGED[number // EVERY % len(CHANGED)]
        words, at = original(place), int(draw.integers(WORDS - changed))
        words[at : at + changed] = draw.integers(VOCABULARY, 2 * VOCABULARY, changed)
        yield Planted(words, number_of(place), changed)


class Tally:
    """What was found of what was planted."""

    def __init__(self) -> None:
        self._planted = dict.fromkeys(CHANGED, 0)
        self._found = dict.fromkeys(CHANGED, 0)
        self.others = 0

    def count(self, page: Planted, answers: Sequence[int]) -> None:
        """One page's answers."""
        hit = page.source in answers
        if page.changed:
            self._planted[page.changed] += 1
            self._found[page.changed] += hit
        self.others += len(answers) - hit

    def recall(self) -> dict[str, float]:
        """The share that was found, by the number of words changed."""
        planted = self._planted.items()
        return {str(kind): self._found[kind] / count for kind, count in planted if count}


def resident() -> int:
    """Bytes of this process in memory."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def batches(count: int) -> Iterator[tuple[int, list[Planted]]]:
    """The planted pages, some at a time, with the number of the first."""
    pages = planted(count)
    for begin in range(0, count, BATCH):
        yield begin, list(islice(pages, BATCH))


def shingles(page: Planted) -> list[str]:
    """A page's word 5-grams."""
    words = list(map(str, page.words.tolist()))
    return [" ".join(words[at : at + SHINGLE]) for at in range(len(words) - SHINGLE + 1)]


def datasketch() -> tuple[Any, Callable[[list[Planted]], list[Any]]]:
    """MinHashLSH, at its own choice of bands."""
    from datasketch import MinHash, MinHashLSH

    def signatures(pages: list[Planted]) -> list[Any]:
        texts = [[gram.encode() for gram in shingles(page)] for page in pages]
        return list(MinHash.bulk(texts, num_perm=PERMUTATIONS))

    return MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS), signatures


def rensa() -> tuple[Any, Callable[[list[Planted]], list[Any]]]:
    """RMinHashLSH, with the bands of its documentation."""
    from rensa import RMinHash, RMinHashLSH

    def signatures(pages: list[Planted]) -> list[Any]:
        made = []
        for page in pages:
            made.append(RMinHash(num_perm=PERMUTATIONS, seed=42))
            made[-1].update(shingles(page))
        return made

    return RMinHashLSH(THRESHOLD, PERMUTATIONS, BANDS), signatures


PEERS = {"datasketch MinHashLSH": datasketch, "rensa RMinHashLSH": rensa}


def measure(peer: Callable[[], Any], count: int) -> dict[str, Any]:
    """Query, then insert, each page."""
    index, signatures = peer()
    tally, seconds, before = Tally(), 0.0, resident()
    for begin, pages in batches(count):
        made, answers = signatures(pages), []
        start = time.process_time()
        for number, signature in enumerate(made, begin):
            answers.append(index.query(signature))
            index.insert(number, signature)
        seconds += time.process_time() - start
        for page, found in zip(pages, answers, strict=True):
            tally.count(page, found)
    del made
    return {
        "pages": count,
        "seconds_per_page": seconds / count,
        "bytes_per_page": (resident() - before) / count,
        "recall": tally.recall(),
        "others": tally.others,
    }


def main() -> None:
    """Measure the peer that the arguments name."""
    name, count = sys.argv[1], int(sys.argv[2])
    measure(PEERS[name], BATCH)  # what it loads lazily is not the index's
    sys.stdout.write(json.dumps(measure(PEERS[name], count)))


if __name__ == "__main__":
    main()
