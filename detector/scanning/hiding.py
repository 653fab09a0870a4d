"""Elements whose own attributes hide them, or make a block a part of a line or the other way.

Of an element that is not shown no text is read, up to its end tag or to what ends it without one:
elements that are opened in it are counted, those of its name and the rest, so that any depth costs
the same. Markup that is broken ends it early rather than late: no word that a reader sees is lost.
A page that hides more than it shows is read with what it hides, since a script will show it; see
`kernel`.

A block within a hidden element of a line, within a paragraph, ends both in a tree and is seen; here
it is taken for hidden.

Elements that are shown otherwise than their name says are a stack of a few; deeper ones are what
their name says.
"""

# Kernels: a call costs its arguments, a set a search.
# ruff: noqa: PLR0911, PLR0912, PLR1714, SIM102

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Bool, Int, apart, int64, part, uint64
from reusewatch.detector.scanning import characters as ch
from reusewatch.detector.scanning import dodges, styles
from reusewatch.detector.scanning import elements as el
from reusewatch.detector.scanning import output as o
from reusewatch.detector.scanning import state as s
from reusewatch.detector.scanning import syntax as sx
from reusewatch.detector.scanning import text as tx
from reusewatch.detector.scanning.page_bytes import byte_at
from reusewatch.detector.scanning.scratch_memory import Work
from reusewatch.detector.scanning.tables import PLAIN, SPREAD, Tables

_SPREAD = uint64(SPREAD)
# From here on a byte starts a character of a script without spaces, most likely.
_WIDE = 0xE3
RESTYLED_DEPTH = 16


@part()
def hide(bits: Int, how: Int, work: Work) -> None:
    """The element that was read is not shown, nor what stands in it."""
    now, found = work.now, work.found
    now[s.HIDES] = how
    now[s.UNSEEN] += 1
    now[s.HIDES_NAME], now[s.HIDES_NAME_END] = found[sx.NAME], found[sx.NAME_END]
    now[s.HIDES_BITS] = bits
    now[s.HIDES_SAME] = now[s.HIDES_BLOCKS] = now[s.HIDES_INNER] = 0
    # A menu that opens later is in a block of its own; what is hidden in a line is hidden from us.
    now[s.HIDES_IN_LINE] = int64(
        (bits & el.BLOCK) == 0 and (work.st[o.OPEN] != 0 or work.word[tx.WHAT] != 0)
    )


@part()
def _show(now: NDArray[np.int64]) -> Bool:
    now[s.HID], now[s.HIDES] = now[s.HIDES], 0
    now[s.UNSEEN] -= 1
    return False


@part()
def still_hidden(
    buf: NDArray[np.uint8], bits: Int, closing: Bool, look: Tables, work: Work,
    scratch: NDArray[np.uint8],
) -> Bool:  # fmt: skip
    """Whether a tag within a hidden element is hidden with it; if not, the element has ended."""
    apart()
    now, found = work.now, work.found
    same = _is_name(buf, now[s.HIDES_NAME], now[s.HIDES_NAME_END], found)
    group, own = bits >> el.GROUP_SHIFT, now[s.HIDES_BITS] >> el.GROUP_SHIFT
    place = s.HIDES_BLOCKS if (bits & el.CONTAINER) != 0 else s.HIDES_INNER
    if closing:
        if same:
            if now[s.HIDES_SAME] > 0:
                now[s.HIDES_SAME] -= 1
            else:
                # The end tag is the hidden element's own, and means nothing else.
                _show(now)
            return True
        if group != 0 and group != el.SAME:
            # A row's end ends a cell; a paragraph's end tag alone ends nothing.
            if now[s.HIDES_BLOCKS] == 0 and el.CELL_GROUP <= own < group <= el.ROW_GROUP:
                return _show(now)
            return True
        if now[place] == 0:
            return _show(now)
        now[place] -= 1
        return True
    if (bits & el.VOID) != 0:
        return True
    if _ends(bits, group, own, same, now):
        return _show(now)
    if (bits & el.BREAKOUT) != 0 and el.SVG <= (
        now[s.HIDES_BITS] >> el.CODE_SHIFT & 255
    ) <= el.MATH:
        return _show(now)
    if now[s.HIDES] == styles.INVISIBLE and found[sx.LOOKS] != 0:
        if styles.shown_as(buf, found, look, scratch) == styles.VISIBLE:
            return _show(now)
    if same:
        now[s.HIDES_SAME] += 1
    elif group == 0 or group == el.SAME:
        now[place] += 1
    return True


@part()
def _ends(bits: Int, group: Int, own: Int, same: Bool, now: NDArray[np.int64]) -> Bool:
    """Whether a start tag ends the hidden element, whose end tag may be left out."""
    if own == 0:
        return False
    if own == el.PARAGRAPH:
        return (bits & el.BLOCK) != 0
    if own == el.SAME:
        return same
    if now[s.HIDES_BLOCKS] != 0:
        return False
    if el.CELL_GROUP <= own <= el.ROW_GROUP:
        return own <= group <= el.ROW_GROUP
    if own == el.OPTION:
        return group == el.OPTION or group == el.OPTION_GROUP
    return group == own


@part()
def _is_name(buf: NDArray[np.uint8], at: Int, end: Int, found: NDArray[np.int64]) -> Bool:
    start = found[sx.NAME]
    if found[sx.NAME_END] - start != end - at:
        return False
    for k in range(end - at):
        if (byte_at(buf, at + k) | ch.LOWER) != (byte_at(buf, start + k) | ch.LOWER):
            return False
    return True


@part()
def past_hidden_text(buf: NDArray[np.uint8], at: Int, hi: Int, look: Tables, work: Work) -> Int:
    """The next `<`; the words before it are counted, about."""
    apart()
    i, words, inside = at, 0, False
    while i < hi:
        c = byte_at(buf, i)
        if c == ch.LESS:
            break
        if c >= ch.FIRST_OF_TWO:
            words += c >= _WIDE or not inside
            inside = True
        elif c < ch.ASCII_END:
            letter = look.ascii[c] > PLAIN
            words += letter and not inside
            inside = letter
        i += 1
    work.dodges[dodges.UNREAD] += words
    if work.now[s.HIDES_IN_LINE] != 0:
        work.dodges[dodges.HIDDEN] += words
    return i


@part()
def restyled(buf: NDArray[np.uint8], bits: Int, closing: Bool, how: Int, work: Work) -> Int:
    """The bits of an element as it is shown, and of its end tag."""
    apart()
    now, open_ones = work.now, work.restyled
    name = _name_of(buf, work.found)
    depth = now[s.RESTYLED]
    if closing:
        k = depth - 1
        while k >= 0 and open_ones[k] >> 3 != name:
            k -= 1
        if k >= 0:
            how = open_ones[k] & 7
            # The first of the stack is shown otherwise: without it there is none.
            now[s.RESTYLED] = k
    elif (bits & el.VOID) == 0:
        if depth == RESTYLED_DEPTH:
            return bits
        open_ones[depth] = name << 3 | how
        now[s.RESTYLED] = depth + 1
    if how == styles.INLINE:
        return bits & ~(el.WORD | el.BLOCK)
    return bits | el.BLOCK if how == styles.BLOCK else bits


@part()
def _name_of(buf: NDArray[np.uint8], found: NDArray[np.int64]) -> Int:
    value = uint64(0)
    for i in range(found[sx.NAME], found[sx.NAME_END]):
        value = (value ^ uint64(byte_at(buf, i) | ch.LOWER)) * _SPREAD
    return int64(value >> uint64(8))
