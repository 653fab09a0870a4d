"""All sketches of a batch in one call."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.chunks import text_of
from reusewatch.detector.sketching.grams import gram_sets
from reusewatch.detector.sketching.sketches import Sketches, sketch
from reusewatch.detector.sketching.tokens import TokenBatch
from tests.detector.sketching import twins
from tests.detector.sketching.strategies import batch_of, schemes, token_pages

Page = list[tuple[int, int, int, int]]


def view(sketches: Sketches, page: int) -> list[Any]:
    """Everything the sketches say of one page."""
    words = np.concatenate([[0], np.cumsum(sketches.words)])
    flat: list[Any] = [
        sketches.words[page],
        sketches.places[words[page] : words[page + 1]].tolist(),
        sketches.identity[page],
        *(rows[page].tolist() for rows in (sketches.min_values5, sketches.min_values8)),
        *(rows[page].tolist() for rows in (sketches.supershingles5, sketches.supershingles8)),
        sketches.simhash[page].tolist(),
        sketches.terms.totals[page],
    ]
    for ragged, columns in (
        (sketches.chunks.hashes, [sketches.chunks.lengths, sketches.chunks.starts]),
        (sketches.grams.hashes, [sketches.grams.positions]),
        (sketches.terms.hashes, [sketches.terms.weights]),
    ):
        span = slice(ragged.offsets[page], ragged.offsets[page + 1])
        flat += [ragged[page].tolist(), *(column[span].tolist() for column in columns)]
    return flat


def views(pages: list[Page], scheme: HashScheme) -> list[list[Any]]:
    sketches = sketch(batch_of(pages), scheme)
    return [view(sketches, page) for page in range(len(pages))]


@given(token_pages())
def test_the_text_is_what_a_reader_sees(pages: list[Page]) -> None:
    text = text_of(batch_of(pages), HashScheme())
    at = 0
    for page in pages:
        seen = [i for i, token in enumerate(page) if token[1] not in twins.UNSEEN]
        span = slice(at, at + len(seen))
        assert text.places[span].tolist() == seen
        assert text.tokens.values[span].tolist() == [page[i][0] for i in seen]
        at += len(seen)
    assert len(text.places) == at


@given(token_pages(), schemes, st.sampled_from([3, 5]))
def test_twins(pages: list[Page], scheme: HashScheme, gram_k: int) -> None:
    sketches = sketch(batch_of(pages), scheme, gram_k=gram_k)
    for at, page in enumerate(pages):
        tokens = [token[0] for token in page if token[1] not in twins.UNSEEN]
        five = twins.min_values(twins.phrases(tokens, 5, scheme, circular=True), scheme)
        eight = twins.min_values(twins.phrases(tokens, 8, scheme, circular=False), scheme)
        assert sketches.words[at] == len(tokens)
        assert sketches.identity[at] == twins.identity(tokens, scheme)
        assert sketches.min_values5[at].tolist() == five
        assert sketches.min_values8[at].tolist() == eight
        assert sketches.supershingles5[at].tolist() == twins.supershingles(five, scheme)
        assert sketches.supershingles8[at].tolist() == twins.supershingles(eight, scheme)
        assert sketches.simhash[at].tolist() == twins.simhash(tokens, scheme)
        assert sketches.grams.hashes[at].tolist() == list(twins.grams(tokens, gram_k, scheme))


@given(token_pages(), st.integers(0, 5))
def test_a_page_has_the_same_sketches_in_any_batch(pages: list[Page], cut: int) -> None:
    scheme = HashScheme()
    whole = views(pages, scheme)
    assert whole == views(pages[:cut], scheme) + views(pages[cut:], scheme)
    assert whole[::-1] == views(pages[::-1], scheme)
    assert whole == [alone for page in pages for alone in views([page], scheme)]


@given(token_pages())
def test_inputs_are_left_alone(pages: list[Page]) -> None:
    batch, same = batch_of(pages), batch_of(pages)
    sketch(batch, HashScheme())
    assert batch.tokens.values.tolist() == same.tokens.values.tolist()
    assert batch.fields.tolist() == same.fields.tolist()


def test_threads_get_the_same() -> None:
    rng = np.random.default_rng(7)
    size = 40_000
    batch = TokenBatch(
        Ragged(rng.integers(0, 5000, size, np.uint64), np.arange(0, size + 1, 400)),
        rng.integers(0, 8, size, np.uint8),
        np.arange(size, dtype=np.uint32) // 30,
        np.full(size, 5, np.uint32),
    )
    alone = [view(sketch(batch, HashScheme()), page) for page in range(len(batch))]
    with ThreadPoolExecutor(4) as pool:
        for sketches in pool.map(lambda _: sketch(batch, HashScheme()), range(16)):
            assert [view(sketches, page) for page in range(len(batch))] == alone


def test_no_pages_and_pages_of_nothing() -> None:
    assert len(sketch(batch_of([]), HashScheme())) == 0
    sketches = sketch(batch_of([[], []]), HashScheme())
    assert sketches.words.tolist() == [0, 0]
    assert not sketches.supershingles5.any()
    assert not sketches.simhash.any()


@pytest.mark.parametrize("token", [0, 1 << 63, (1 << 64) - 1])
def test_one_token_a_million_times(token: int) -> None:
    size = 1_000_000
    zeros = np.zeros(size, np.uint32)
    tokens = Ragged(np.full(size, token, np.uint64), np.array([0, size]))
    sketches = sketch(TokenBatch(tokens, np.full(size, 7, np.uint8), zeros, zeros), HashScheme())
    assert sketches.grams.hashes.counts.tolist() == [1]
    assert sketches.terms.weights.tolist() == [1.0]


def test_a_million_distinct_tokens() -> None:
    size = 1_000_000
    zeros = np.zeros(size, np.uint32)
    tokens = Ragged(np.arange(size, dtype=np.uint64), np.array([0, size]))
    sketches = sketch(TokenBatch(tokens, np.full(size, 7, np.uint8), zeros, zeros), HashScheme())
    assert sketches.grams.hashes.counts.tolist() == [size - 4]
    assert sketches.terms.hashes.counts.tolist() == [1000]


def unmixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """What `mix` makes these values of."""
    for factor in (0xC4CEB9FE1A85EC53, 0xFF51AFD7ED558CCD):
        values = (values ^ values >> np.uint64(33)) * np.uint64(pow(factor, -1, 1 << 64))
    return values ^ values >> np.uint64(33)


def test_tokens_that_all_want_one_slot() -> None:
    """Built against a table that follows from the hashes alone; there it would take minutes."""
    size = 1_000_000
    zeros = np.zeros(size, np.uint32)
    hashes = unmixed(np.arange(size, dtype=np.uint64) << np.uint64(22))
    assert [twins.mix(token) for token in hashes[:3].tolist()] == [0, 1 << 22, 2 << 22]
    tokens = Ragged(hashes, np.array([0, size]))
    sketches = sketch(TokenBatch(tokens, np.full(size, 7, np.uint8), zeros, zeros), HashScheme())
    assert sketches.terms.hashes.counts.tolist() == [1000]
    assert gram_sets(tokens, sketches.identity).hashes.counts.tolist() == [size]


@pytest.mark.parametrize("name", ["fields", "blocks", "lengths"])
def test_columns_of_other_sizes_are_refused(name: str) -> None:
    columns = {column: np.zeros(3, np.uint32) for column in ("fields", "blocks", "lengths")}
    columns[name] = np.zeros(2, np.uint32)
    with pytest.raises(ValueError, match=name):
        TokenBatch(Ragged.of([[1, 2, 3]]), **columns)


def test_a_field_that_does_not_exist_is_refused() -> None:
    zeros = np.zeros(1, np.uint32)
    with pytest.raises(ValueError, match="no field 8"):
        TokenBatch(Ragged.of([[1]]), np.array([8], np.uint8), zeros, zeros)
