"""What a tag means to the text after it: fields, blocks, links, images, ranges of their own.

Knows which elements are open only by counts and marks: one link, one heading, the depth of tables.
"""

# Kernels: a call costs its arguments, a set a search.
# ruff: noqa: PLR0912, PLR1714

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Int, apart, int64, part
from reusewatch.detector.scanning import elements as el
from reusewatch.detector.scanning import output as o
from reusewatch.detector.scanning import state as s
from reusewatch.detector.scanning import syntax as sx
from reusewatch.detector.scanning import text as tx
from reusewatch.detector.scanning.addresses import (
    NO_PAGE,
    OTHER_SITE,
    RELATIVE,
    SAME_HOST,
    begin_base,
    destination,
    picture_hash,
)
from reusewatch.detector.scanning.output import Output
from reusewatch.detector.scanning.scratch_memory import Work
from reusewatch.detector.scanning.tables import Tables


@part(inline=True)
def note_segment(work: Work, out: Output, start: Int, end: Int, how: Int) -> None:
    if work.st[o.SEGMENT_END] > 0:
        bits = o.REFERENCES if (how & tx.REFERENCES) != 0 else 0
        if (how & tx.LINED) != 0:
            bits |= o.KEEP_SPACE
        o.add_segment(work, out, start, end, bits)


@part()
def read_range(
    buf: NDArray[np.uint8], start: Int, end: Int, how: Int, field: Int, look: Tables, work: Work,
    out: Output,
) -> None:  # fmt: skip
    """Read text in which no tag counts. A word may be open before it and after it."""
    tx.read_text(buf, start, end, how, field, look, work, out)
    note_segment(work, out, start, end, how)


@part(inline=True)
def _refield(now: NDArray[np.int64]) -> None:
    """A word under a link in a heading is the heading's."""
    now[s.FIELD] = s.HEADING if now[s.IN_HEADING] != 0 else now[s.ANCHOR]


@part()
def end_link(at: Int, work: Work, out: Output) -> None:
    """The open link's anchor text ends here."""
    st = work.st
    if st[o.OPEN_LINK] >= 0:
        o.end_link(work, out, at, _last_start(work, out))


@part()
def _last_start(work: Work, out: Output) -> Int:
    """Where the last word or picture of the text begins, be it open or written; −1 if there is none
    so far. A title is shown nowhere in the text."""
    word, t = work.word, work.st[o.TOKEN] - 1
    if word[tx.WHAT] != 0:
        return int64(word[tx.START])
    if t < 0 or (out.columns[o.TOKEN_WIDTH * t + 3] & o.FIELD_BITS) == s.TITLE:
        return int64(-1)
    return int64(out.columns[o.TOKEN_WIDTH * t]) + work.st[o.ORIGIN]


@part()
def _leave_anchor(at: Int, work: Work, out: Output) -> None:
    end_link(at, work, out)
    work.now[s.ANCHOR] = s.BODY


@part()
def _leave_cell(at: Int, work: Work, out: Output) -> None:
    """A link or a heading that was opened in a table's cell does not reach into the next."""
    now = work.now
    if now[s.TABLES] > 0:
        if now[s.ANCHOR_DEPTH] >= now[s.TABLES]:
            _leave_anchor(at, work, out)
        if now[s.HEADING_DEPTH] >= now[s.TABLES]:
            now[s.IN_HEADING] = 0


@part(inline=True)
def closed(at: Int, end: Int, kind: Int, work: Work, out: Output) -> None:
    """What an end tag means."""
    now = work.now
    if kind == el.ANCHOR:
        _leave_anchor(at, work, out)
    elif kind == el.HEADING:
        now[s.IN_HEADING] = 0
    elif kind == el.CELL:
        _leave_cell(at, work, out)
    elif kind == el.TABLE:
        _leave_cell(at, work, out)
        now[s.TABLES] = max(0, now[s.TABLES] - 1)
    elif kind == el.PRE:
        now[s.IN_PRE] = 0
    elif kind == el.BREAK:
        # `</br>` is a `<br>`.
        _line_break(at, end, work, out)
    _refield(now)


@part(inline=True)
def _line_break(at: Int, end: Int, work: Work, out: Output) -> None:
    """One `br` ends a word, a second one without a word between ends the block."""
    st = work.st
    if st[o.LINES] != 0:
        o.end_block(work, out, at, end)
        st[o.GAP_LEVEL] = o.PARAGRAPH
    elif st[o.GAP_LEVEL] < o.LINE:
        st[o.GAP_LEVEL] = o.LINE
    st[o.LINES] = 1


@part(inline=True)
def opened(
    buf: NDArray[np.uint8], at: Int, end: Int, hi: Int, kind: Int, look: Tables, work: Work,
    out: Output, scratch: NDArray[np.uint8],
) -> Int:  # fmt: skip
    """What a start tag means; where text goes on."""
    st, now, found = work.st, work.now, work.found
    name, name_end = found[sx.NAME], found[sx.NAME_END]
    if kind == el.ANCHOR:
        _leave_anchor(at, work, out)
        where = _link(buf, end, look, work, out, scratch)
        if where != NO_PAGE:
            now[s.ANCHOR] = s.ANCHOR_OTHER if where == OTHER_SITE else s.ANCHOR_SAME
            now[s.ANCHOR_DEPTH] = now[s.TABLES]
        _refield(now)
    elif kind == el.AREA:
        open_link = st[o.OPEN_LINK]
        _link(buf, end, look, work, out, scratch)
        if st[o.OPEN_LINK] != open_link:
            # An area has no text, and the link around its map goes on.
            o.end_link(work, out, end, -1)
            st[o.OPEN_LINK] = open_link
    elif kind == el.IMAGE:
        _picture(buf, look, work, out, scratch)
    elif kind == el.BREAK:
        _line_break(at, end, work, out)
    elif kind == el.HEADING:
        now[s.IN_HEADING] = 1
        now[s.HEADING_DEPTH] = now[s.TABLES]
        _refield(now)
    elif kind == el.TABLE:
        now[s.TABLES] += 1
    elif kind == el.CELL:
        _leave_cell(at, work, out)
        _refield(now)
    elif kind == el.PRE:
        now[s.IN_PRE] = 1
    elif kind == el.SCRIPT:
        return sx.script_end(buf, end, hi, name)
    elif kind == el.RAW_HIDDEN:
        return sx.raw_end(buf, end, hi, name, name_end)
    elif kind == el.TITLE:
        return _title(buf, end, hi, look, work, out)
    elif kind == el.TEXTAREA or kind == el.XMP:
        # In SVG and MathML nothing is raw.
        if now[s.FOREIGN] == 0:
            stop = sx.raw_end(buf, end, hi, name, name_end)
            how = tx.LINED | (tx.REFERENCES if kind == el.TEXTAREA else 0)
            read_range(buf, end, stop, how, now[s.FIELD], look, work, out)
            return stop
    elif kind == el.PLAINTEXT:
        if now[s.FOREIGN] == 0:
            now[s.PLAIN_FROM] = end
    else:
        _metadata(buf, kind, look, work, scratch)
    return end


@part()
def _link(
    buf: NDArray[np.uint8], end: Int, look: Tables, work: Work, out: Output,
    scratch: NDArray[np.uint8],
) -> Int:  # fmt: skip
    """Write the link of an `a` or `area`; where it leads, NO_PAGE if it is none."""
    found = work.found
    start, stop = found[sx.HREF], found[sx.HREF + 1]
    if start < 0:
        return NO_PAGE
    where = destination(buf, start, stop, work, look, scratch)
    if where == RELATIVE:
        where = work.now[s.BASE_WHERE]
    if where != NO_PAGE:
        bits = o.SAME_SITE
        if where == OTHER_SITE:
            bits = 0 if sx.vouches_for_nothing(buf, found[sx.REL], found[sx.REL + 1]) else o.LEADS
        o.add_link(work, out, start, stop, end, bits)
    return where


@part()
def _title(buf: NDArray[np.uint8], end: Int, hi: Int, look: Tables, work: Work, out: Output) -> Int:
    """The first title is the page's; a browser shows no other."""
    apart()
    st, now, facts = work.st, work.now, work.facts
    stop = sx.raw_end(buf, end, hi, work.found[sx.NAME], work.found[sx.NAME_END])
    if facts[s.TITLE_START] < 0:
        facts[s.TITLE_START] = end - st[o.ORIGIN]
        facts[s.TITLE_END] = stop - st[o.ORIGIN]
        if st[o.TOKEN] == 0:
            st[o.GAP_LEVEL] = o.PARAGRAPH | o.OF_TITLE
            read_range(buf, end, stop, s.REFERENCES, s.TITLE, look, work, out)
            tx.end_word(work, out)
            st[o.GAP_LEVEL] = o.PARAGRAPH
        else:
            now[s.LATE_START] = end
            now[s.LATE_END] = stop
    return stop


@part()
def _picture(
    buf: NDArray[np.uint8], look: Tables, work: Work, out: Output, scratch: NDArray[np.uint8]
) -> None:
    apart()
    st, now, found = work.st, work.now, work.found
    if found[sx.SRC] < 0:
        return
    room = len(scratch) // 2
    below_base = now[s.BASE_WHERE] != RELATIVE and now[s.BASE_WHERE] != SAME_HOST
    exists, value, size = picture_hash(
        buf, found[sx.SRC], found[sx.SRC + 1], work, look,
        scratch[:room], scratch[room:], below_base,
    )  # fmt: skip
    if exists:
        token = st[o.TOKEN]
        facts = o.facts_of(now[s.FIELD], size)
        o.emit(work, out, value, found[sx.SRC], found[sx.SRC + 1], facts)
        if st[o.TOKEN] > token:
            o.add_picture(work, out, token)


@part()
def _metadata(
    buf: NDArray[np.uint8], kind: Int, look: Tables, work: Work, scratch: NDArray[np.uint8]
) -> None:
    """`base`, `link`, `meta`: of each kind the first counts."""
    apart()
    now, found, facts, origin = work.now, work.found, work.facts, work.st[o.ORIGIN]
    if kind == el.BASE:
        if found[sx.HREF] >= 0 and facts[s.BASE_START] < 0:
            facts[s.BASE_START] = found[sx.HREF] - origin
            facts[s.BASE_END] = found[sx.HREF + 1] - origin
            room = len(scratch) // 2
            now[s.BASE_WHERE] = begin_base(
                buf, found[sx.HREF], found[sx.HREF + 1], work, look, scratch[:room], scratch[room:]
            )
    elif kind == el.LINK:
        if (
            found[sx.HREF] >= 0
            and facts[s.CANONICAL_START] < 0
            and sx.has_canonical(buf, found[sx.REL], found[sx.REL + 1])
        ):
            facts[s.CANONICAL_START] = found[sx.HREF] - origin
            facts[s.CANONICAL_END] = found[sx.HREF + 1] - origin
    elif kind == el.META and found[sx.CONTENT] >= 0:
        name, name_end = found[sx.NAME_VALUE], found[sx.NAME_VALUE + 1]
        place = -1
        if sx.is_keywords(buf, name, name_end):
            place = s.KEYWORDS_START
        elif sx.is_description(buf, name, name_end):
            place = s.DESCRIPTION_START
        if place >= 0 and now[place] < 0:
            now[place] = found[sx.CONTENT]
            now[place + 1] = found[sx.CONTENT + 1]
