"""128-permutation MinHash of word 5-grams, from text, by other libraries.

Run by sketch_speed.py under the interpreter of a venv made from peers.txt; imports nothing of
this project. Prints one JSON object: the libraries' names and their seconds per document.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from functools import partial

PERMUTATIONS = 128
Texts = list[str]


def documents(count: int, words: int) -> Texts:
    """English-like texts: a vocabulary of 20 000 words, used by Zipf's law."""
    drawn = random.Random(2026)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    weights = [26 - i for i in range(26)]
    vocabulary = [
        "".join(drawn.choices(letters, weights, k=drawn.randint(2, 9))) for _ in range(20_000)
    ]
    ranks = [1 / (rank + 3) for rank in range(len(vocabulary))]
    return [" ".join(drawn.choices(vocabulary, ranks, k=words)) for _ in range(count)]


def fastest(run: Callable[[], object], count: int, repeats: int = 5) -> float:
    """Seconds for one of `count` documents, in the best of some rounds."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best / count


def grams(text: str) -> list[str]:
    """A document's word 5-grams."""
    words = text.split()
    return [" ".join(words[at : at + 5]) for at in range(len(words) - 4)]


def rensa_update(texts: Texts) -> None:
    """rensa, a document at a time."""
    from rensa import RMinHash

    for text in texts:
        sketch = RMinHash(num_perm=PERMUTATIONS, seed=42)
        sketch.update(grams(text))
        sketch.digest()


def rensa_bulk(texts: Texts) -> None:
    """rensa, all documents in one call."""
    from rensa import RMinHash

    RMinHash.digest_matrix_from_token_sets(
        [grams(text) for text in texts], num_perm=PERMUTATIONS, seed=42
    )


def rensa_cminhash(texts: Texts) -> None:
    """rensa's circulant variant."""
    from rensa import CMinHash

    for text in texts:
        sketch = CMinHash(num_perm=PERMUTATIONS, seed=42)
        sketch.update(grams(text))
        sketch.digest()


def gaoya_insert(texts: Texts) -> None:
    """gaoya: its signatures are had by inserting only."""
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(32, 0.8, 16, 8, None, "word", True, (5, 5))
    for at, text in enumerate(texts):
        index.insert_document(at, text)


def datasketch_batch(texts: Texts) -> None:
    """datasketch, updated by batches."""
    from datasketch import MinHash

    for text in texts:
        sketch = MinHash(num_perm=PERMUTATIONS)
        sketch.update_batch([gram.encode() for gram in grams(text)])


PEERS = {
    "rensa RMinHash.update": rensa_update,
    "rensa digest_matrix": rensa_bulk,
    "rensa CMinHash": rensa_cminhash,
    "gaoya insert": gaoya_insert,
    "datasketch update_batch": datasketch_batch,
}


def main() -> None:
    """Measure every peer on the documents that the arguments ask for."""
    count, words = int(sys.argv[1]), int(sys.argv[2])
    texts = documents(count, words)
    seconds = {name: fastest(partial(peer, texts), count) for name, peer in PEERS.items()}
    sys.stdout.write(json.dumps(seconds))


if __name__ == "__main__":
    main()
