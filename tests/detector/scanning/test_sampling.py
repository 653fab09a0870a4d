"""Behind the limit of tokens: blocks from all over the rest of the page, no more than is due."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.scanning.output import RUN
from reusewatch.detector.scanning.scan import Scan, ScanLimits, scan
from reusewatch.detector.sketching.fingerprint import Document, fingerprints

COPY = "".join(f"<p>{' '.join(f'copied{n}x{word}' for word in range(30))}.</p>" for n in range(20))


def kept(whole: Scan, size: int, limits: ScanLimits) -> list[int]:
    """Which tokens of an unlimited scan are kept, by the definition and in plain words."""
    limit, text = limits.tokens, whole.text_tokens
    if len(whole.hashes) <= limit:
        return list(range(len(whole.hashes)))
    begin, found = int(whole.starts[limit]), list(range(limit))
    block, run, taking = -2, 0, False
    for at in range(limit, text):
        taken = len(found) - limit
        if taken == limits.sampled:
            break
        if whole.blocks[at] != block or run > min(RUN, limits.sampled // 16):
            passed = int(whole.starts[at]) - begin
            taking = passed <= 0 or taken * (size - begin) <= limits.sampled * passed
            block, run = int(whole.blocks[at]), 0
        run += 1
        if taking:
            found.append(at)
    room = limits.sampled - (len(found) - limit)
    return found + list(range(max(text, limit), len(whole.hashes)))[:room]


words = st.integers(1, 12).map(lambda n: " ".join(f"w{n}x{i}" for i in range(n)))
parts = st.lists(
    st.tuples(st.sampled_from(["<p>", "<div>", " ", "<b>", "<br>", "<br><br>", "漢", "<!-- c -->"]),
              words).map("".join),
    max_size=30,
).map("".join)  # fmt: skip


@given(parts, st.integers(1, 40), st.integers(0, 30), st.booleans())
@settings(max_examples=400)
def test_what_is_kept_is_what_the_definition_keeps(
    page: str, tokens: int, sample: int, meta: bool
) -> None:
    data = ("<meta name=keywords content='k1 k2 k3'>" * meta + page).encode()
    limits = ScanLimits(tokens=tokens, sample=sample)
    whole, cut = scan(data, key=1, url="http://h.test/u"), None
    cut = scan(data, key=1, url="http://h.test/u", limits=limits)
    if len(whole.hashes) > tokens >= whole.text_tokens:
        return  # only what stands in no block is over
    places = kept(whole, len(data), limits)
    for name in ("hashes", "starts", "ends", "fields", "lengths"):
        assert getattr(cut, name).tolist() == getattr(whole, name)[places].tolist()
    assert cut.lost.tokens == len(whole.hashes) - len(places)
    assert cut.sampled == max(0, len(places) - tokens) <= sample
    assert cut.truncated == (len(whole.hashes) > tokens)
    # Blocks are numbered anew, and no two of them become one.
    of = [int(whole.blocks[at]) for at in places]
    numbers = {block: n for n, block in enumerate(dict.fromkeys(b for b in of if b >= 0))}
    assert cut.blocks.tolist() == [numbers.get(block, -1) for block in of]
    assert len(cut.block_starts) == len(numbers)


@pytest.mark.parametrize(("before", "seen"), [(20_000, 20), (20_100, 20), (30_000, 5)])
def test_words_before_a_copy_do_not_hide_it(before: int, seen: int) -> None:
    hidden = "<p>" + " ".join(f"h{n % 977}" for n in range(before)) + "</p>"
    made = fingerprints(
        [Document((hidden + COPY).encode()), Document(COPY.encode())], HashScheme(),
        limits=ScanLimits(tokens=20_000), gram_sample=1,
    )  # fmt: skip
    hashes = made.sketches.chunks.hashes
    chunks, alone = (set(hashes[page].tolist()) for page in (0, 1))
    assert len(alone & chunks) >= seen
    assert [facts.truncated for facts in made.facts] == [True, False]
    of_copy = [n for n, value in enumerate(hashes[0].tolist()) if value in alone]
    body = (hidden + COPY).encode()
    for n in of_copy:
        span = body[int(made.chunk_starts[n]) : int(made.chunk_ends[n])]
        assert span.startswith(b"copied")
        assert len(span.split()) == 30


def test_what_is_kept_of_a_long_tail_is_spread_over_all_of_it() -> None:
    block = "<p>" + " ".join(f"t{n}" for n in range(40)) + "</p>"
    page = ("<p>" + "first " * 1_000 + "</p>" + block * 5_000).encode()
    few = scan(page, key=1, limits=ScanLimits(tokens=1_000, sample=10_000))
    assert 9_900 <= few.sampled <= 10_000
    at = few.starts[1_000:].astype(np.int64)
    share = np.histogram(at, bins=10, range=(6_000, len(page)))[0] / few.sampled
    assert share.min() > 0.09
    assert share.max() < 0.11
    # Whole blocks, but for the last when the room is used up.
    counts = np.bincount(few.blocks[1_000 : few.text_tokens])[1:]
    assert set(counts[:-1].tolist()) == {40}


def test_one_block_without_an_end_is_sampled_in_runs() -> None:
    page = ("<p>" + "a1 " * 200_000).encode()
    found = scan(page, key=1, limits=ScanLimits(tokens=10_000, sample=20_000))
    assert found.sampled == 20_000
    assert found.starts[-1] > 0.8 * len(page)
    assert len(found.block_starts) == 1


def test_a_limit_of_a_sample_is_a_number_of_tokens() -> None:
    with pytest.raises(ValueError, match="0 tokens or more"):
        ScanLimits(sample=-1)
    assert ScanLimits().sampled == 100_000
