"""All sketches of a batch of pages in one call.

A page's sketches are what is kept of it: whatever is detected later is computed from these
columns, never from the page again. Sketching a page takes time linear in its tokens and gives
the same result alone and in any batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.chunks import Chunks, text_of
from reusewatch.detector.sketching.damping import damped
from reusewatch.detector.sketching.grams import GRAM_K, SHORT, Grams, gram_sets
from reusewatch.detector.sketching.shingles import (
    PHRASE_K,
    min_values,
    phrases,
    shingle_values,
    supershingles,
)
from reusewatch.detector.sketching.simhash import simhashes_of_counts
from reusewatch.detector.sketching.tokens import TokenBatch
from reusewatch.detector.sketching.weighted_terms import LEAST_SHARE, Terms, weighted_terms
from reusewatch.detector.sketching.word_counts import word_counts

BATCH_TOKENS = 16_384


@dataclass(frozen=True, slots=True, eq=False)
class Sketches:
    """Columns with a row a page, and ragged ones.

    `words` counts the tokens of the visible text, in which chunks and grams tell positions;
    `places` are those tokens' indices among all tokens of the page, cut by `words`. A page
    without words has no identity, no phrases and no projection, and is like no other page.
    """

    words: NDArray[np.int64]
    places: NDArray[np.uint32]
    identity: NDArray[np.uint64]
    min_values5: NDArray[np.uint64]
    min_values8: NDArray[np.uint64]
    supershingles5: NDArray[np.uint64]
    supershingles8: NDArray[np.uint64]
    simhash: NDArray[np.uint64]
    chunks: Chunks
    grams: Grams
    terms: Terms
    # Every phrase of five words, circular: all grams of a page, and four more.
    circular: Ragged

    def __len__(self) -> int:
        return len(self.words)


def sketch(
    batch: TokenBatch,
    scheme: HashScheme,
    *,
    gram_k: int = GRAM_K,
    gram_sample: float = 1.0,
    least_share: float = LEAST_SHARE,
) -> Sketches:
    """Every sketch of every page of the batch.

    Cheapest at `BATCH_TOKENS` or so: a small batch pays for the calls, one whose columns
    outgrow the second-level cache for memory.
    """
    text = text_of(batch, scheme)
    counted = word_counts(batch.tokens, batch.fields, text.salts)
    # What nobody asks for any more goes at once, here and below: a batch at its most is half as
    # large.
    del batch
    votes = counted.seen
    if scheme.counts != "paper":
        votes = damped(counted.words, counted.seen, text.tokens.counts)
    simhash = simhashes_of_counts(counted.words, votes, scheme)
    terms = weighted_terms(counted, least_share=least_share)
    del counted, votes
    eight = shingle_values(text.tokens, scheme)
    circular = phrases(text.tokens, PHRASE_K, scheme, circular=True)
    five = min_values(circular, scheme)
    return Sketches(
        words=text.tokens.counts,
        places=text.places,
        identity=text.identities,
        min_values5=five,
        min_values8=eight,
        supershingles5=supershingles(five, scheme),
        supershingles8=supershingles(eight, scheme),
        simhash=simhash,
        chunks=text.chunks,
        grams=_grams(text.tokens, circular, text.identities, scheme, k=gram_k, sample=gram_sample),
        terms=terms,
        circular=circular,
    )


def _grams(
    tokens: Ragged,
    circular: Ragged,
    identity: NDArray[np.uint64],
    scheme: HashScheme,
    *,
    k: int,
    sample: float,
) -> Grams:
    short = SHORT if sample > 0 else 0
    if k == PHRASE_K:  # hashed already, but for the ones past the end of the circle
        return gram_sets(circular, identity, wrapped=k - 1, sample=sample, short=short)
    straight = phrases(tokens, k, scheme, circular=False)
    return gram_sets(straight, identity, sample=sample, short=short)
