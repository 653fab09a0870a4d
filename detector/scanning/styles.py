"""What a `style` or `hidden` attribute says of how an element is shown (CSS Syntax, CSS Display).

Only `display` and `visibility` are looked for. Where a browser might read a declaration otherwise
(escapes, values that are not known, `all`), the element is taken to be shown: text that a reader
sees must not be lost, while hidden text that is read does no more harm than before. Of style sheets
and scripts nothing is known.
"""

# Kernels: a call costs its arguments, a set a search.
# ruff: noqa: PLR1714

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Bool, Int, apart, part
from reusewatch.detector.scanning import characters as ch
from reusewatch.detector.scanning import syntax as sx
from reusewatch.detector.scanning.addresses import decoded
from reusewatch.detector.scanning.tables import Tables

# How an element is shown.
AS_EVER, GONE, INVISIBLE, INLINE, BLOCK, OTHERWISE, VISIBLE = range(7)


def _text(word: str) -> NDArray[np.uint8]:
    return np.frombuffer(word.encode(), dtype=np.uint8)


_DISPLAY, _VISIBILITY, _ALL = _text("display"), _text("visibility"), _text("all")
_NONE, _HIDDEN, _COLLAPSE = _text("none"), _text("hidden"), _text("collapse")
_VISIBLE, _IMPORTANT, _UNTIL_FOUND = _text("visible"), _text("important"), _text("until-found")
_INLINES = _text("inline inline-block inline-flex inline-grid inline-table contents ")
_BLOCKS = _text("block flex grid table list-item flow-root table-row table-cell ")


@part()
def shown_as(
    buf: NDArray[np.uint8], found: NDArray[np.int64], look: Tables, scratch: NDArray[np.uint8]
) -> Int:
    """How the element of the tag that was read is shown."""
    apart()
    display = visibility = AS_EVER
    if (found[sx.LOOKS] & sx.STYLED) != 0:
        size = decoded(
            buf, found[sx.STYLE], found[sx.STYLE + 1], found[sx.STYLE + 1] - found[sx.STYLE],
            look, scratch,
        )  # fmt: skip
        display, visibility = _declared(scratch, size)
    if display == AS_EVER and (found[sx.LOOKS] & sx.IS_HIDDEN) != 0:
        # What a search in the page opens is there to be read, as a closed `details` is.
        at, end = found[sx.HIDDEN], found[sx.HIDDEN + 1]
        if not sx.is_word(buf, at, end, _UNTIL_FOUND):
            return GONE
    if display == GONE or visibility == AS_EVER:
        return display
    return visibility


@part()
def _declared(text: NDArray[np.uint8], size: Int) -> Int:
    """(display, visibility) of the declarations of a style."""
    display = visibility = AS_EVER
    display_fixed = visibility_fixed = False
    i = 0
    while i < size:
        i = _past_space(text, i, size)
        name = i
        name_end = _word_end(text, name, size)
        i = _past_space(text, name_end, size)
        end = _declaration_end(text, i, size)
        if end < 0:
            return AS_EVER, AS_EVER
        if i >= size or text[i] != ch.COLON:
            i = end + 1
            continue
        value = _past_space(text, i + 1, end)
        word_end = _word_end(text, value, end)
        rest = _past_space(text, word_end, end)
        important = rest < end and text[rest] == ch.BANG and sx.is_word(
            text, _past_space(text, rest + 1, end), _trimmed(text, rest + 1, end), _IMPORTANT
        )  # fmt: skip
        known = rest >= end or important
        if sx.is_word(text, name, name_end, _DISPLAY):
            if important or not display_fixed:
                display = _display(text, value, word_end) if known else AS_EVER
                display_fixed = important
        elif sx.is_word(text, name, name_end, _VISIBILITY):
            if important or not visibility_fixed:
                visibility = VISIBLE
                if known and (
                    sx.is_word(text, value, word_end, _HIDDEN)
                    or sx.is_word(text, value, word_end, _COLLAPSE)
                ):
                    visibility = INVISIBLE
                visibility_fixed = important
        elif sx.is_word(text, name, name_end, _ALL):
            return AS_EVER, AS_EVER
        i = end + 1
    return display, visibility


@part()
def _display(text: NDArray[np.uint8], at: Int, end: Int) -> Int:
    if sx.is_word(text, at, end, _NONE):
        return GONE
    if _among(text, at, end, _INLINES):
        return INLINE
    return BLOCK if _among(text, at, end, _BLOCKS) else OTHERWISE


@part()
def _among(text: NDArray[np.uint8], at: Int, end: Int, words: NDArray[np.uint8]) -> Bool:
    """Whether a word is one of those, each with a space behind."""
    start = 0
    for stop in range(len(words)):
        if words[stop] == ch.SPACE:
            if stop - start == end - at:
                k = 0
                while k < end - at and (text[at + k] | ch.LOWER) == words[start + k]:
                    k += 1
                if k == end - at:
                    return True
            start = stop + 1
    return False


@part()
def _word_end(text: NDArray[np.uint8], at: Int, end: Int) -> Int:
    while at < end and (sx.is_letter(text[at]) or text[at] == ch.DASH):
        at += 1
    return at


@part()
def _past_space(text: NDArray[np.uint8], at: Int, end: Int) -> Int:
    """Past white space and comments."""
    i = at
    while i < end:
        if sx.is_space(text[i]):
            i += 1
        elif text[i] == ch.SLASH and i + 1 < end and text[i + 1] == ch.STAR:
            i = _comment_end(text, i, end)
        else:
            break
    return i


@part()
def _comment_end(text: NDArray[np.uint8], at: Int, end: Int) -> Int:
    i = at + 2
    while i + 1 < end:
        if text[i] == ch.STAR and text[i + 1] == ch.SLASH:
            return i + 2
        i += 1
    return end


@part()
def _trimmed(text: NDArray[np.uint8], at: Int, end: Int) -> Int:
    while end > at and sx.is_space(text[end - 1]):
        end -= 1
    return end


@part()
def _declaration_end(text: NDArray[np.uint8], at: Int, end: Int) -> Int:
    """Where the `;` of a value stands, outside of strings and brackets; -1 where it has escapes."""
    i, depth, quote = at, 0, 0
    while i < end:
        c = text[i]
        if c == ch.BACKSLASH:
            return -1
        if quote != 0:
            quote = 0 if c == quote else quote
        elif c == ch.QUOTE or c == ch.APOSTROPHE:
            quote = int(c)
        elif c == ch.SLASH and i + 1 < end and text[i + 1] == ch.STAR:
            i = _comment_end(text, i, end)
            continue
        elif c == ch.PARENTHESIS or c == ch.OPENING or c == ch.BRACE:
            depth += 1
        elif c == ch.PARENTHESIS + 1 or c == ch.BRACKET or c == ch.BRACE + 2:
            depth -= depth > 0
        elif c == ch.SEMICOLON and depth == 0:
            return i
        i += 1
    return end
