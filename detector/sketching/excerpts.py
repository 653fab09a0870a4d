"""The beginning of a page's text, as people are shown it: cut word by word by the scan's offsets.

What stands between two words counts (points, quotes) unless markup is in it, or it is long. All
pages of a batch are cut at once, from the few bytes of each that are needed. Never parses anything
again: what is a word, and what a reader sees of a page, the scan has said.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    BYTES,
    OFFSETS,
    OUT_BYTES,
    OUT_OFFSETS,
    kernel,
    part,
    tuple_of,
    types,
)
from reusewatch.detector.ragged import page_offsets
from reusewatch.detector.scanning import characters as ch
from reusewatch.detector.scanning.scan import Batch, Scan
from reusewatch.detector.scanning.unescaping import unescaped

EXCERPT = 300
# Words looked at: enough to fill it, whatever stands between them.
_WORDS = 80
# Bytes of all that is cut of a page: what fills it, and one more word and what is before that.
_ROOM = 3 * EXCERPT + 1
_PLACES = types.Array(types.int32, 1, "C", readonly=True)
_COLUMNS = tuple_of(_PLACES, _PLACES, OFFSETS)
_BLANK = b" "[0]


def excerpt_of(utf8: bytes, words: Batch | Scan, first: int, stop: int) -> str:
    """The beginning of the text from word to word."""
    return excerpts_of([utf8], words, np.array([first]), np.array([stop]))[0]


def excerpts_of(
    utf8: Sequence[bytes], words: Batch | Scan, first: NDArray[np.int64], stop: NDArray[np.int64]
) -> list[str]:
    """The same of a word and a stop in each of these texts."""
    columns = (words.starts, words.ends, first)
    stop, low, high = np.minimum(stop, first + _WORDS), np.zeros_like(first), np.zeros_like(first)
    _looked_at(columns, (stop, low, high))
    pieces = [
        text[start:end] for text, start, end in zip(utf8, low.tolist(), high.tolist(), strict=True)
    ]
    at = page_offsets(map(len, pieces))
    cut, ends = np.empty(_ROOM * len(pieces), np.uint8), np.zeros(len(pieces) + 1, np.int64)
    _cut(np.frombuffer(b"".join(pieces), np.uint8), columns, stop, at[:-1] - low, (cut, ends))
    made = cut[: ends[-1]].tobytes()
    return [plain(made[start:end])[:EXCERPT] for start, end in pairwise(ends.tolist())]


def plain(text: bytes) -> str:
    """Text without markup as people read it, in one line."""
    decoded = text.decode("utf-8", "replace")
    if "&" in decoded:
        decoded = unescaped(decoded)
    return " ".join(decoded.replace("\0", "").split())


@part(types.int64(types.int64, types.int64), inline=True)
def _between(last: Any, start: Any) -> Any:
    """How many bytes between two words count; −1: they are as good as a blank."""
    return -1 if last < 0 or start - last > EXCERPT else max(start - last, 0)


@kernel(types.void(_COLUMNS, tuple_of(OUT_OFFSETS, OUT_OFFSETS, OUT_OFFSETS)), allocates=False)
def _looked_at(columns: Any, out: Any) -> None:
    """Behind which word each excerpt is full, and the bytes in which its words are."""
    starts, ends, first = columns
    stop, low, high = out
    for page in range(first.size):
        size, last, word = 0, -1, first[page]
        while word < stop[page] and size <= EXCERPT:
            start, end = types.int64(starts[word]), types.int64(ends[word])
            low[page] = start if last < 0 else min(low[page], start)
            high[page] = max(high[page], end)
            size += abs(_between(last, start)) + min(end - start, EXCERPT)
            last = end
            word += 1
        stop[page] = word


@part(types.int64(BYTES, types.int64, types.int64, OUT_BYTES, types.int64))
def _put_word(text: Any, at: Any, end: Any, to: Any, n: Any) -> Any:
    """Append a word without the tags in it, and where it was cut, without the beginning of one."""
    while at < end:
        c = text[at]
        if c == ch.LESS and at + 1 < end and _starts_tag(text[at + 1]):
            behind = at + 2
            while behind < end and text[behind] != ch.LESS and text[behind] != ch.GREATER:
                behind += 1
            if behind >= end or text[behind] == ch.GREATER:
                at = behind + 1
                continue
        to[n] = c
        n += 1
        at += 1
    return n


@part(types.boolean(types.uint8))
def _starts_tag(c: Any) -> Any:
    letter = ch.LOWER_A <= (c | ch.LOWER) <= ch.LOWER_Z
    return letter or c in (ch.SLASH, ch.BANG, ch.QUESTION)


@kernel(
    types.void(BYTES, _COLUMNS, OFFSETS, OFFSETS, tuple_of(OUT_BYTES, OUT_OFFSETS)),
    allocates=False,
)
def _cut(text: Any, columns: Any, stop: Any, moved: Any, out: Any) -> None:
    """Words, and what is between them. A page's byte stands in `text` moved by so many."""
    starts, ends, first = columns
    to, offsets = out
    n = 0
    for page in range(first.size):
        last = -1
        for word in range(first[page], stop[page]):
            start, end = types.int64(starts[word]), types.int64(ends[word])
            size, before = _between(last, start), n
            for k in range(size):
                c = text[start - size + k + moved[page]]
                if c == ch.LESS:
                    size = -1
                    break
                to[n] = c
                n += 1
            if size < 0:
                n = before
                to[n] = _BLANK
                n += 1
            at = start + moved[page]
            n = _put_word(text, at, at + min(end - start, EXCERPT), to, n)
            last = end
        offsets[page + 1] = n
