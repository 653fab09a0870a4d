"""One page in one pass: its tags, and what they mean to the text between them.

No tree is built: of open elements only counts are kept, so depth costs nothing. What starts a range
of another kind (a title, a text area, CDATA, a script) has that range's end found first. What is
read out of its place (a title behind text, meta content, the URL) waits until the page's end.
"""

# Kernels: a call costs its arguments, a set a search.
# ruff: noqa: PLR0911, PLR0912, PLR0915, PLR0917, PLR1714

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from detector.scanning import elements as el
from detector.scanning import fields
from detector.scanning import output as o
from detector.scanning import syntax as sx
from detector.scanning import text as tx
from detector.scanning.addresses import (
    NO_PAGE,
    OTHER_SITE,
    RELATIVE,
    SAME_HOST,
    begin_base,
    destination,
    picture_hash,
)
from detector.scanning.jit import Bool, Int, inlined, int64, part
from detector.scanning.output import Output
from detector.scanning.tables import Tables
from detector.scanning.work import Work

# Not plain integers: numba would compile the text loop anew for each that is passed to it.
TITLE, HEADING, ANCHOR_SAME, ANCHOR_OTHER, KEYWORDS, DESCRIPTION, URL, BODY = (
    int64(field)
    for field in (
        fields.TITLE, fields.HEADING, fields.ANCHOR_SAME, fields.ANCHOR_OTHER,
        fields.KEYWORDS, fields.DESCRIPTION, fields.URL, fields.BODY,
    )
)  # fmt: skip
_AS_IT_IS = int64(0)
_REFERENCES = int64(tx.REFERENCES)

# A page's facts, by place in its row.
(
    TOKENS, BLOCKS, LINKS, PICTURES, SEGMENTS, TEXT_TOKENS, TOKENS_LOST, BLOCKS_LOST, LINKS_LOST,
    BYTES_LOST, TITLE_START, TITLE_END, BASE_START, BASE_END, CANONICAL_START, CANONICAL_END,
) = range(16)  # fmt: skip
FACTS = 16

# What is open around the text, by place in its array.
(
    FIELD, IN_HEADING, HEADING_DEPTH, ANCHOR, ANCHOR_DEPTH, TABLES, TEMPLATES, FOREIGN,
    FOREIGN_OPEN, IN_PRE, LATE_START, LATE_END, KEYWORDS_START, KEYWORDS_END, DESCRIPTION_START,
    DESCRIPTION_END,
    BASE_WHERE, HIGH, PAGE_TOKEN,
) = range(19)  # fmt: skip


@part
def scan_page(
    buf: NDArray[np.uint8], look: Tables, work: Work, out: Output, scratch: NDArray[np.uint8]
) -> None:
    """Scan the page that `work.bound` names."""
    st, now = work.st, work.now
    lo, hi = work.bound[0], work.bound[1]
    first_picture = st[o.PICTURE]
    _start(work, lo)
    i = lo
    if hi - lo >= 3 and buf[lo] == 0xEF and buf[lo + 1] == 0xBB and buf[lo + 2] == 0xBF:
        i = lo + 3
    how = tx.TAGS | tx.REFERENCES if work.bound[6] != 0 else tx.LINED
    plain = i
    while i < hi:
        if now[TEMPLATES] > 0 and (how & tx.TAGS) != 0:
            while i < hi and buf[i] != 0x3C:
                i += 1
        else:
            i = tx.read_text(buf, i, hi, how, now[FIELD], look, work, out)
        if i >= hi:
            break
        after = _markup(buf, i, hi, how, plain, look, work, out, scratch)
        if after == i:
            # A `<` that starts nothing is text.
            tx.end_word(work, out)
            i += 1
            continue
        i = plain = after
        if now[HIGH] >= 0:
            # Nothing ends `plaintext`.
            how = tx.LINED
            now[HIGH] = -1
        elif (how & tx.TAGS) != 0:
            how = tx.TAGS | tx.REFERENCES | (tx.LINED if now[IN_PRE] != 0 else 0)
    tx.end_word(work, out)
    if now[TEMPLATES] == 0:
        _segment(work, out, plain, hi, how)
    o.end_block(work, out, hi, hi)
    o.end_link(work, out, hi)
    _waiting(buf, look, work, out, first_picture)


@part
def _start(work: Work, lo: Int) -> None:
    st, now, facts = work.st, work.now, work.facts
    for k in range(len(facts)):
        facts[k] = -1
    st[o.OPEN] = 0
    st[o.GAP] = lo
    st[o.LINES] = 0
    st[o.NUMBERED] = 1
    st[o.OPEN_LINK] = -1
    st[o.ORIGIN] = lo
    st[o.GAP_LEVEL] = o.PARAGRAPH
    for k in range(len(now)):
        now[k] = 0
    now[FIELD] = BODY
    now[ANCHOR] = BODY
    for k in range(LATE_START, DESCRIPTION_END + 1):
        now[k] = -1
    now[BASE_WHERE] = RELATIVE
    now[HIGH] = -1
    now[PAGE_TOKEN] = st[o.TOKEN]
    work.word[tx.KIND] = 0


@inlined
def _segment(work: Work, out: Output, start: Int, end: Int, how: Int) -> None:
    if work.st[o.SEGMENT_END] > 0:
        bits = o.REFERENCES if (how & tx.REFERENCES) != 0 else 0
        if (how & tx.LINED) != 0:
            bits |= o.KEEP_SPACE
        o.add_segment(work, out, start, end, bits)


@inlined
def _markup(
    buf: NDArray[np.uint8], at: Int, hi: Int, how: Int, plain: Int, look: Tables, work: Work,
    out: Output, scratch: NDArray[np.uint8],
) -> Int:  # fmt: skip
    """Read what the `<` at `at` starts; its end, or `at` if it starts nothing."""
    st, now = work.st, work.now
    if at + 1 >= hi:
        return at
    c = int64(buf[at + 1])
    visible = now[TEMPLATES] == 0
    name = at + 1
    closing = False
    if not sx.is_letter(c):
        if c == 0x2F:
            if at + 2 >= hi:
                return at
            closing = sx.is_letter(buf[at + 2])
            name = at + 2
        if not closing:
            if c != 0x21 and c != 0x3F and c != 0x2F:
                return at
            if visible:
                _segment(work, out, plain, at, how)
            if c == 0x21:
                if at + 3 < hi and buf[at + 2] == 0x2D and buf[at + 3] == 0x2D:
                    return sx.comment_end(buf, at + 4, hi)
                if now[FOREIGN] != 0 and sx.starts_cdata(buf, at, hi):
                    end = sx.cdata_end(buf, at + 9, hi)
                    if visible:
                        _range(buf, at + 9, end, _AS_IT_IS, now[FIELD], look, work, out)
                    return min(end + 3, hi)
            return sx.bogus_comment_end(buf, at + 2, hi)
    end = sx.tag_end(buf, name, hi, look, work.found)
    if visible:
        _segment(work, out, plain, at, how)
    if end < 0:
        # The page ends within the tag, which is then no tag and no text.
        return hi
    bits = work.found[sx.BITS]
    if bits == 0:
        return end
    kind = bits >> el.KIND_SHIFT
    if not visible:
        return _in_template(buf, end, hi, kind, closing, work)
    if (bits & (el.WORD | el.BLOCK)) != 0:
        tx.end_word(work, out)
        if (bits & el.BLOCK) != 0:
            o.end_block(work, out, at, end)
            st[o.GAP_LEVEL] = o.PARAGRAPH
        elif st[o.GAP_LEVEL] < o.SPACE:
            st[o.GAP_LEVEL] = o.SPACE
    if closing:
        _closed(at, end, kind, work, out)
        return end
    if (bits & el.BREAKOUT) != 0:
        now[FOREIGN] = 0
    if kind == el.PLAIN:
        return end
    return _opened(buf, at, end, hi, kind, look, work, out, scratch)


@part
def _range(
    buf: NDArray[np.uint8], start: Int, end: Int, how: Int, field: Int, look: Tables, work: Work,
    out: Output,
) -> None:  # fmt: skip
    """Read text in which no tag counts. A word may be open before it and after it."""
    tx.read_text(buf, start, end, how, field, look, work, out)
    _segment(work, out, start, end, how)


@part
def _in_template(
    buf: NDArray[np.uint8], end: Int, hi: Int, kind: Int, closing: Bool, work: Work
) -> Int:
    """A tag that no reader sees: only its template's end matters, and what may hide that."""
    if kind == el.TEMPLATE:
        work.now[TEMPLATES] += -1 if closing else 1
    elif not closing:
        if kind == el.SCRIPT:
            return sx.script_end(buf, end, hi, work.found[sx.NAME])
        if kind in (el.TITLE, el.TEXTAREA, el.RAW_HIDDEN, el.XMP):
            return sx.raw_end(buf, end, hi, work.found[sx.NAME], work.found[sx.NAME_END])
        if kind == el.PLAINTEXT:
            return hi
    return end


@inlined
def _refield(now: NDArray[np.int64]) -> None:
    """A word under a link in a heading is the heading's."""
    now[FIELD] = HEADING if now[IN_HEADING] != 0 else now[ANCHOR]


@part
def _leave_anchor(at: Int, work: Work, out: Output) -> None:
    o.end_link(work, out, at)
    work.now[ANCHOR] = BODY


@part
def _leave_cell(at: Int, work: Work, out: Output) -> None:
    """A link or a heading that was opened in a table's cell does not reach into the next."""
    now = work.now
    if now[TABLES] > 0:
        if now[ANCHOR_DEPTH] >= now[TABLES]:
            _leave_anchor(at, work, out)
        if now[HEADING_DEPTH] >= now[TABLES]:
            now[IN_HEADING] = 0


@inlined
def _closed(at: Int, end: Int, kind: Int, work: Work, out: Output) -> None:
    """What an end tag means."""
    now = work.now
    if kind == el.ANCHOR:
        _leave_anchor(at, work, out)
    elif kind == el.HEADING:
        now[IN_HEADING] = 0
    elif kind == el.CELL:
        _leave_cell(at, work, out)
    elif kind == el.TABLE:
        _leave_cell(at, work, out)
        now[TABLES] = max(0, now[TABLES] - 1)
    elif kind == el.PRE:
        now[IN_PRE] = 0
    elif kind == el.FOREIGN:
        now[FOREIGN_OPEN] = max(0, now[FOREIGN_OPEN] - 1)
        now[FOREIGN] = now[FOREIGN_OPEN]
    elif kind == el.INTEGRATION:
        now[FOREIGN] = now[FOREIGN_OPEN]
    elif kind == el.BREAK:
        # `</br>` is a `<br>`.
        _line_break(at, end, work, out)
    _refield(now)


@part
def _line_break(at: Int, end: Int, work: Work, out: Output) -> None:
    """One `br` ends a word, a second one without a word between ends the block."""
    st = work.st
    if st[o.LINES] != 0:
        o.end_block(work, out, at, end)
        st[o.GAP_LEVEL] = o.PARAGRAPH
    elif st[o.GAP_LEVEL] < o.LINE:
        st[o.GAP_LEVEL] = o.LINE
    st[o.LINES] = 1


@part
def _opened(
    buf: NDArray[np.uint8], at: Int, end: Int, hi: Int, kind: Int, look: Tables, work: Work,
    out: Output, scratch: NDArray[np.uint8],
) -> Int:  # fmt: skip
    """What a start tag means; where text goes on."""
    st, now, found = work.st, work.now, work.found
    name, name_end = found[sx.NAME], found[sx.NAME_END]
    # In SVG and MathML nothing is raw, and `<script/>` is a whole element.
    raw = now[FOREIGN] == 0 or found[sx.SELF_CLOSING] == 0
    if kind == el.ANCHOR:
        _leave_anchor(at, work, out)
        where = _link(buf, end, look, work, out, scratch)
        if where != NO_PAGE:
            now[ANCHOR] = ANCHOR_OTHER if where == OTHER_SITE else ANCHOR_SAME
            now[ANCHOR_DEPTH] = now[TABLES]
        _refield(now)
    elif kind == el.AREA:
        open_link = st[o.OPEN_LINK]
        _link(buf, end, look, work, out, scratch)
        # An area has no text, and the link around its map goes on.
        st[o.OPEN_LINK] = open_link
    elif kind == el.IMAGE:
        _picture(buf, look, work, out, scratch)
    elif kind == el.BREAK:
        _line_break(at, end, work, out)
    elif kind == el.HEADING:
        now[IN_HEADING] = 1
        now[HEADING_DEPTH] = now[TABLES]
        _refield(now)
    elif kind == el.TABLE:
        now[TABLES] += 1
    elif kind == el.CELL:
        _leave_cell(at, work, out)
        _refield(now)
    elif kind == el.PRE:
        now[IN_PRE] = 1
    elif kind == el.SCRIPT:
        if raw:
            return sx.script_end(buf, end, hi, name)
    elif kind == el.RAW_HIDDEN:
        if raw:
            return sx.raw_end(buf, end, hi, name, name_end)
    elif kind == el.TITLE:
        if now[FOREIGN] == 0:
            return _title(buf, end, hi, look, work, out)
    elif kind == el.TEXTAREA or kind == el.XMP:
        if now[FOREIGN] == 0:
            stop = sx.raw_end(buf, end, hi, name, name_end)
            how = tx.LINED | (tx.REFERENCES if kind == el.TEXTAREA else 0)
            _range(buf, end, stop, how, now[FIELD], look, work, out)
            return stop
    elif kind == el.PLAINTEXT:
        if now[FOREIGN] == 0:
            now[HIGH] = end
    elif kind == el.TEMPLATE:
        if now[FOREIGN] == 0:
            now[TEMPLATES] = 1
    elif kind == el.FOREIGN:
        if found[sx.SELF_CLOSING] == 0:
            now[FOREIGN_OPEN] += 1
            now[FOREIGN] = 1
    elif kind == el.INTEGRATION:
        if found[sx.SELF_CLOSING] == 0:
            now[FOREIGN] = 0
    else:
        _metadata(buf, kind, look, work, scratch)
    return end


@part
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
        where = work.now[BASE_WHERE]
    if where != NO_PAGE:
        o.add_link(work, out, start, stop, end, where != OTHER_SITE)
    return where


@part
def _title(buf: NDArray[np.uint8], end: Int, hi: Int, look: Tables, work: Work, out: Output) -> Int:
    """The first title is the page's; a browser shows no other."""
    st, now, facts = work.st, work.now, work.facts
    stop = sx.raw_end(buf, end, hi, work.found[sx.NAME], work.found[sx.NAME_END])
    if facts[TITLE_START] < 0:
        facts[TITLE_START] = end - st[o.ORIGIN]
        facts[TITLE_END] = stop - st[o.ORIGIN]
        if st[o.TOKEN] == now[PAGE_TOKEN]:
            st[o.GAP_LEVEL] = o.PARAGRAPH | o.OF_TITLE
            _range(buf, end, stop, _REFERENCES, TITLE, look, work, out)
            tx.end_word(work, out)
            st[o.GAP_LEVEL] = o.PARAGRAPH
        else:
            now[LATE_START] = end
            now[LATE_END] = stop
    return stop


@part
def _picture(
    buf: NDArray[np.uint8], look: Tables, work: Work, out: Output, scratch: NDArray[np.uint8]
) -> None:
    st, now, found = work.st, work.now, work.found
    if found[sx.SRC] < 0:
        return
    room = len(scratch) // 2
    below_base = now[BASE_WHERE] != RELATIVE and now[BASE_WHERE] != SAME_HOST
    exists, value = picture_hash(
        buf, found[sx.SRC], found[sx.SRC + 1], work, look,
        scratch[:room], scratch[room:], below_base,
    )  # fmt: skip
    if exists:
        token = st[o.TOKEN]
        o.emit(work, out, value, found[sx.SRC], found[sx.SRC + 1], now[FIELD])
        if st[o.TOKEN] > token:
            o.add_picture(work, out, token - now[PAGE_TOKEN])


@part
def _metadata(
    buf: NDArray[np.uint8], kind: Int, look: Tables, work: Work, scratch: NDArray[np.uint8]
) -> None:
    """`base`, `link`, `meta`: of each kind the first counts."""
    now, found, facts, origin = work.now, work.found, work.facts, work.st[o.ORIGIN]
    if kind == el.BASE:
        if found[sx.HREF] >= 0 and facts[BASE_START] < 0:
            facts[BASE_START] = found[sx.HREF] - origin
            facts[BASE_END] = found[sx.HREF + 1] - origin
            room = len(scratch) // 2
            now[BASE_WHERE] = begin_base(
                buf, found[sx.HREF], found[sx.HREF + 1], work, look, scratch[:room], scratch[room:]
            )
    elif kind == el.LINK:
        if (
            found[sx.HREF] >= 0
            and facts[CANONICAL_START] < 0
            and sx.has_canonical(buf, found[sx.REL], found[sx.REL + 1])
        ):
            facts[CANONICAL_START] = found[sx.HREF] - origin
            facts[CANONICAL_END] = found[sx.HREF + 1] - origin
    elif kind == el.META and found[sx.CONTENT] >= 0:
        name, name_end = found[sx.NAME_VALUE], found[sx.NAME_VALUE + 1]
        place = -1
        if sx.is_keywords(buf, name, name_end):
            place = KEYWORDS_START
        elif sx.is_description(buf, name, name_end):
            place = DESCRIPTION_START
        if place >= 0 and now[place] < 0:
            now[place] = found[sx.CONTENT]
            now[place + 1] = found[sx.CONTENT + 1]


@part
def _waiting(
    buf: NDArray[np.uint8], look: Tables, work: Work, out: Output, first_picture: Int
) -> None:
    """What is read out of its place: a late title; meta content and URL, which are in no block."""
    st, now, bound = work.st, work.now, work.bound
    first_token = now[PAGE_TOKEN]
    if now[LATE_START] >= 0:
        body = st[o.TOKEN]
        st[o.GAP] = now[LATE_START]
        st[o.GAP_LEVEL] = o.PARAGRAPH | o.OF_TITLE
        _range(buf, now[LATE_START], now[LATE_END], _REFERENCES, TITLE, look, work, out)
        tx.end_word(work, out)
        o.end_block(work, out, now[LATE_END], now[LATE_END])
        o.title_first(work, out, first_token, body, first_picture)
    work.facts[TEXT_TOKENS] = st[o.TOKEN] - first_token
    st[o.NUMBERED] = 0
    how = tx.REFERENCES | tx.ATTRIBUTE
    if now[KEYWORDS_START] >= 0:
        tx.read_text(buf, now[KEYWORDS_START], now[KEYWORDS_END], how, KEYWORDS, look, work, out)
        tx.end_word(work, out)
    if now[DESCRIPTION_START] >= 0:
        tx.read_text(
            buf, now[DESCRIPTION_START], now[DESCRIPTION_END], how, DESCRIPTION, look, work,
            out,
        )  # fmt: skip
        tx.end_word(work, out)
    # Spans of the URL's words are within the URL.
    st[o.ORIGIN] = bound[1]
    tx.read_text(buf, bound[1], bound[2], _AS_IT_IS, URL, look, work, out)
    tx.end_word(work, out)
