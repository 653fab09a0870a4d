"""The beginning of a page's text, cut for a whole batch at once: as word by word."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.hashing import PUBLIC_KEY
from reusewatch.detector.scanning.scan import Scan, Source, scan_batch
from reusewatch.detector.sketching.excerpts import EXCERPT, excerpt_of, excerpts_of, plain

_PIECES = st.sampled_from(
    ["a", "b c", "漢字", "x" * 290, "y" * 301, " ", " " * 310, "&amp;", "&#65;", "<b>w</b>", "<br>",
     "<p>", "é", ". ", "\0", "one two three four five six seven ", "in<wbr>one", "a<b x='", "<b\n>",
     "co<b/>py", "e" + "<i>e" * 80, "<img src='/a<b.png'>", "<svg><title>no</title></svg>", " < "]
)  # fmt: skip
_TAG = re.compile(rb"<[A-Za-z/!?][^<>]*(?:>|$)")
_WORDS = 80


def _by_words(utf8: bytes, words: Scan, first: int, stop: int) -> str:
    parts: list[bytes] = []
    last = size = 0
    some = slice(first, min(stop, first + _WORDS))
    for start, end in zip(words.starts[some].tolist(), words.ends[some].tolist(), strict=True):
        between = utf8[last:start] if parts and start - last <= EXCERPT else b" "
        word = utf8[start : min(end, start + EXCERPT)]
        parts += [b" " if b"<" in between else between, _TAG.sub(b"", word)]
        last = end
        size += len(between) + len(word)
        if size > EXCERPT:
            break
    return plain(b"".join(parts))[:EXCERPT]


@given(
    st.lists(st.lists(st.tuples(_PIECES, st.integers(1, 60)), max_size=8), min_size=1, max_size=4),
    st.integers(0, 5),
    st.integers(0, 200),
)
@settings(max_examples=150)
def test_cut_for_all_pages_at_once_or_word_by_word_it_is_the_same(
    pages: list[list[tuple[str, int]]], skipped: int, wanted: int
) -> None:
    # A title behind text comes first: its words stand behind those that follow.
    bodies = ["".join(piece * times for piece, times in parts) for parts in pages]
    utf8 = [f"{body}<title>t u</title>v".encode() for body in bodies]
    batch = scan_batch([Source(text) for text in utf8], key=PUBLIC_KEY)
    counts = [batch[page].text_tokens for page in range(len(batch))]
    first = np.array([min(skipped, count) for count in counts])
    stop = np.minimum(first + wanted, counts)
    slow = [
        _by_words(text, batch[page], int(first[page]), int(stop[page]))
        for page, text in enumerate(utf8)
    ]
    at = batch.token_at[:-1]
    assert excerpts_of(utf8, batch, at + first, at + stop) == slow
    alone = batch[0]
    assert excerpt_of(utf8[0], alone, int(first[0]), int(stop[0])) == slow[0]


def test_the_text_of_a_page_without_words_is_empty() -> None:
    batch = scan_batch([Source(b""), Source(b"<p>")], key=PUBLIC_KEY)
    nothing = np.zeros(2, np.int64)
    assert excerpts_of([b"", b"<p>"], batch, nothing, nothing) == ["", ""]
