"""One page in one pass: its tags, and what they mean to the text between them.

No tree is built: of open elements only counts are kept, so depth costs nothing. What starts a range
of another kind (a title, a text area, CDATA, a script) has that range's end found first. What is
read out of its place (a title behind text, meta content, the URL) waits until the page's end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from detector.scanning import elements as el
from detector.scanning import output as o
from detector.scanning import syntax as sx
from detector.scanning import text as tx
from detector.scanning.addresses import (
    NO_PAGE,
    OTHER_SITE,
    RELATIVE,
    SAME_HOST,
    base_of,
    destination,
    picture_term,
)
from detector.scanning.fields import (
    ANCHOR_OTHER,
    ANCHOR_SAME,
    BODY,
    DESCRIPTION,
    HEADING,
    KEYWORDS,
    TITLE,
    URL,
)
from detector.scanning.jit import part
from detector.scanning.output import Output
from detector.scanning.tables import Tables
from detector.scanning.words import hash_of

# A page's facts, by place in its row.
(
    TOKENS, TEXT_TOKENS, BLOCKS, LINKS, PICTURES, SEGMENTS, TOKENS_LOST, BLOCKS_LOST, LINKS_LOST,
    BYTES_LOST, TITLE_START, TITLE_END, BASE_START, BASE_END, CANONICAL_START, CANONICAL_END,
) = range(16)  # fmt: skip
FACTS = 16

# What is open around the text, by place in its array.
(
    FIELD, IN_HEADING, HEADING_DEPTH, ANCHOR, ANCHOR_DEPTH, TABLES, TEMPLATES, FOREIGN, FOREIGN_OPEN,
    IN_PRE, LATE_START, LATE_END, KEYWORDS_START, KEYWORDS_END, DESCRIPTION_START, DESCRIPTION_END,
    BASE_LENGTH, BASE_WHERE, HIGH, PAGE_TOKEN,
) = range(20)  # fmt: skip
STATES = 20


class Work(NamedTuple):
    """Memory that is used again for every page."""

    st: NDArray[np.int64]  # counters, see `output`
    now: NDArray[np.int64]  # what is open around the text
    found: NDArray[np.int64]  # the tag, see `syntax`
    word: NDArray[np.uint64]  # the open word, see `text`
    address: NDArray[np.uint8]
    term: NDArray[np.uint8]
    base: NDArray[np.uint8]


@part
def scan_page(
    buf: NDArray[np.uint8], bound: NDArray[np.int64], hosts: NDArray[np.uint8], look: Tables,
    secrets: NDArray[np.uint64], out: Output, work: Work, facts: NDArray[np.int64],
) -> None:  # fmt: skip
    """Scan one page. `bound`: body start, body end, URL end, host, site, end of site, is HTML."""
    st, now, word = work.st, work.now, work.word
    lo, hi = bound[0], bound[1]
    first_token, first_picture = st[o.TOKEN], st[o.PICTURE]
    _start(st, now, word, lo, hi)
    i = lo
    if hi - lo >= 3 and buf[lo] == 0xEF and buf[lo + 1] == 0xBB and buf[lo + 2] == 0xBF:
        i = lo + 3
    how = tx.TAGS | tx.REFERENCES if bound[6] != 0 else tx.LINED
    plain = i
    while i < hi:
        if now[TEMPLATES] > 0 and (how & tx.TAGS) != 0:
            while i < hi and buf[i] != 0x3C:
                i += 1
        else:
            i = tx.read_text(buf, i, hi, how, now[FIELD], look, secrets, out, st, word)
        if i >= hi:
            break
        after = _markup(buf, i, hi, how, hosts, bound, look, secrets, out, work, facts, plain)
        if after == i:
            # A `<` that starts nothing is text.
            tx.end_word(word, now[FIELD], secrets, out, st)
            i += 1
            continue
        i = plain = after
        if now[HIGH] >= 0:
            # Nothing ends `plaintext`.
            how = tx.LINED
            now[HIGH] = -1
        elif (how & tx.TAGS) != 0:
            how = tx.TAGS | tx.REFERENCES | (tx.LINED if now[IN_PRE] != 0 else 0)
    tx.end_word(word, now[FIELD], secrets, out, st)
    if now[TEMPLATES] == 0:
        _segment(out, st, plain, hi, how)
    o.end_block(out, st, hi, hi)
    o.end_link(out, st, hi)
    _waiting(buf, bound, look, secrets, out, work, facts, first_token, first_picture)


@part
def _start(
    st: NDArray[np.int64], now: NDArray[np.int64], word: NDArray[np.uint64], lo: int, hi: int
) -> None:
    st[o.OPEN] = 0
    st[o.GAP] = lo
    st[o.LINES] = 0
    st[o.NUMBERED] = 1
    st[o.OPEN_LINK] = -1
    st[o.ORIGIN] = lo
    st[o.GAP_LEVEL] = o.PARAGRAPH
    now[:] = 0
    now[FIELD] = BODY
    now[ANCHOR] = BODY
    now[LATE_START : DESCRIPTION_END + 1] = -1
    now[BASE_LENGTH] = -1
    now[BASE_WHERE] = RELATIVE
    now[HIGH] = -1
    now[PAGE_TOKEN] = st[o.TOKEN]
    word[:] = 0


@part
def _segment(out: Output, st: NDArray[np.int64], start: int, end: int, how: int) -> None:
    if out.segments.shape[0] > 0:
        bits = o.REFERENCES if (how & tx.REFERENCES) != 0 else 0
        if (how & tx.LINED) != 0:
            bits |= o.KEEP_SPACE
        o.add_segment(out, st, start, end, bits)


@part
def _markup(
    buf: NDArray[np.uint8], at: int, hi: int, how: int, hosts: NDArray[np.uint8],
    bound: NDArray[np.int64], look: Tables, secrets: NDArray[np.uint64], out: Output, work: Work,
    facts: NDArray[np.int64], plain: int,
) -> int:  # fmt: skip
    """Read what the `<` at `at` starts; its end, or `at` if it starts nothing."""
    st, now = work.st, work.now
    if at + 1 >= hi:
        return at
    c = np.int64(buf[at + 1])
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
            if c != 0x21 and c != 0x3F and c != 0x2F:  # noqa: PLR1714
                return at
            if visible:
                _segment(out, st, plain, at, how)
            if c == 0x21:
                if at + 3 < hi and buf[at + 2] == 0x2D and buf[at + 3] == 0x2D:
                    return sx.comment_end(buf, at + 4, hi)
                if now[FOREIGN] != 0 and sx.starts_cdata(buf, at, hi):
                    end = sx.cdata_end(buf, at + 9, hi)
                    if visible:
                        _range(buf, at + 9, end, 0, now[FIELD], look, secrets, out, work)
                    return min(end + 3, hi)
            return sx.bogus_comment_end(buf, at + 2, hi)
    end = sx.tag_end(buf, name, hi, look, work.found)
    if visible:
        _segment(out, st, plain, at, how)
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
        tx.end_word(work.word, now[FIELD], secrets, out, st)
        if (bits & el.BLOCK) != 0:
            o.end_block(out, st, at, end)
            st[o.GAP_LEVEL] = o.PARAGRAPH
        elif st[o.GAP_LEVEL] < o.SPACE:
            st[o.GAP_LEVEL] = o.SPACE
    if closing:
        _closed(at, end, kind, out, st, now)
        return end
    if (bits & el.BREAKOUT) != 0:
        now[FOREIGN] = 0
    if kind == el.PLAIN:
        return end
    return _opened(buf, at, end, hi, kind, hosts, bound, look, secrets, out, work, facts)


@part
def _range(
    buf: NDArray[np.uint8], start: int, end: int, how: int, field: int, look: Tables,
    secrets: NDArray[np.uint64], out: Output, work: Work,
) -> None:  # fmt: skip
    """Read text in which no tag counts. A word may be open before it and after it."""
    tx.read_text(buf, start, end, how, field, look, secrets, out, work.st, work.word)
    _segment(out, work.st, start, end, how)


@part
def _in_template(
    buf: NDArray[np.uint8], end: int, hi: int, kind: int, closing: bool, work: Work
) -> int:
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


@part
def _refield(now: NDArray[np.int64]) -> None:
    """A word under a link in a heading is the heading's."""
    now[FIELD] = HEADING if now[IN_HEADING] != 0 else now[ANCHOR]


@part
def _leave_anchor(at: int, out: Output, st: NDArray[np.int64], now: NDArray[np.int64]) -> None:
    o.end_link(out, st, at)
    now[ANCHOR] = BODY


@part
def _leave_cell(at: int, out: Output, st: NDArray[np.int64], now: NDArray[np.int64]) -> None:
    """A link or a heading that was opened in a table's cell does not reach into the next."""
    if now[TABLES] > 0:
        if now[ANCHOR_DEPTH] >= now[TABLES]:
            _leave_anchor(at, out, st, now)
        if now[HEADING_DEPTH] >= now[TABLES]:
            now[IN_HEADING] = 0


@part
def _closed(
    at: int, end: int, kind: int, out: Output, st: NDArray[np.int64], now: NDArray[np.int64]
) -> None:
    """What an end tag means."""
    if kind == el.ANCHOR:
        _leave_anchor(at, out, st, now)
    elif kind == el.HEADING:
        now[IN_HEADING] = 0
    elif kind == el.CELL:
        _leave_cell(at, out, st, now)
    elif kind == el.TABLE:
        _leave_cell(at, out, st, now)
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
        _line_break(at, end, out, st)
    _refield(now)


@part
def _line_break(at: int, end: int, out: Output, st: NDArray[np.int64]) -> None:
    """One `br` ends a word, a second one without a word between ends the block."""
    if st[o.LINES] != 0:
        o.end_block(out, st, at, end)
        st[o.GAP_LEVEL] = o.PARAGRAPH
    elif st[o.GAP_LEVEL] < o.LINE:
        st[o.GAP_LEVEL] = o.LINE
    st[o.LINES] = 1


@part
def _opened(
    buf: NDArray[np.uint8], at: int, end: int, hi: int, kind: int, hosts: NDArray[np.uint8],
    bound: NDArray[np.int64], look: Tables, secrets: NDArray[np.uint64], out: Output, work: Work,
    facts: NDArray[np.int64],
) -> int:  # fmt: skip
    """What a start tag means; where text goes on."""
    st, now, found = work.st, work.now, work.found
    name, name_end = found[sx.NAME], found[sx.NAME_END]
    # In SVG and MathML nothing is raw, and `<script/>` is a whole element.
    raw = now[FOREIGN] == 0 or found[sx.SELF_CLOSING] == 0
    if kind == el.ANCHOR:
        _leave_anchor(at, out, st, now)
        if found[sx.HREF] >= 0:
            where = destination(buf, found[sx.HREF], found[sx.HREF + 1], hosts, bound, look, work.address)
            if where == RELATIVE:
                where = now[BASE_WHERE]
            if where != NO_PAGE:
                same = where != OTHER_SITE
                now[ANCHOR] = ANCHOR_SAME if same else ANCHOR_OTHER
                now[ANCHOR_DEPTH] = now[TABLES]
                o.add_link(out, st, found[sx.HREF], found[sx.HREF + 1], end, same)
        _refield(now)
    elif kind == el.AREA:
        if found[sx.HREF] >= 0:
            where = destination(buf, found[sx.HREF], found[sx.HREF + 1], hosts, bound, look, work.address)
            if where == RELATIVE:
                where = now[BASE_WHERE]
            if where != NO_PAGE:
                open_link = st[o.OPEN_LINK]
                o.add_link(out, st, found[sx.HREF], found[sx.HREF + 1], end, where != OTHER_SITE)
                st[o.OPEN_LINK] = open_link
    elif kind == el.IMAGE:
        _picture(buf, hosts, bound, look, secrets, out, work)
    elif kind == el.BREAK:
        _line_break(at, end, out, st)
    elif kind == el.HEADING:
        now[IN_HEADING] = 1
        now[HEADING_DEPTH] = now[TABLES]
        _refield(now)
    elif kind == el.TABLE:
        now[TABLES] += 1
    elif kind == el.CELL:
        _leave_cell(at, out, st, now)
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
            return _title(buf, end, hi, look, secrets, out, work, facts)
    elif kind == el.TEXTAREA or kind == el.XMP:  # noqa: PLR1714
        if now[FOREIGN] == 0:
            stop = sx.raw_end(buf, end, hi, name, name_end)
            how = tx.LINED | (tx.REFERENCES if kind == el.TEXTAREA else 0)
            _range(buf, end, stop, how, now[FIELD], look, secrets, out, work)
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
        _metadata(buf, kind, hosts, bound, look, work, facts)
    return end


@part
def _title(
    buf: NDArray[np.uint8], end: int, hi: int, look: Tables, secrets: NDArray[np.uint64],
    out: Output, work: Work, facts: NDArray[np.int64],
) -> int:  # fmt: skip
    """The first title is the page's; a browser shows no other."""
    st, now = work.st, work.now
    stop = sx.raw_end(buf, end, hi, work.found[sx.NAME], work.found[sx.NAME_END])
    if facts[TITLE_START] < 0:
        facts[TITLE_START] = end - st[o.ORIGIN]
        facts[TITLE_END] = stop - st[o.ORIGIN]
        if st[o.TOKEN] == now[PAGE_TOKEN]:
            st[o.GAP_LEVEL] = o.PARAGRAPH | o.OF_TITLE
            _range(buf, end, stop, tx.REFERENCES, TITLE, look, secrets, out, work)
            tx.end_word(work.word, TITLE, secrets, out, st)
            st[o.GAP_LEVEL] = o.PARAGRAPH
        else:
            now[LATE_START] = end
            now[LATE_END] = stop
    return stop


@part
def _picture(
    buf: NDArray[np.uint8], hosts: NDArray[np.uint8], bound: NDArray[np.int64], look: Tables,
    secrets: NDArray[np.uint64], out: Output, work: Work,
) -> None:  # fmt: skip
    st, now, found = work.st, work.now, work.found
    if found[sx.SRC] < 0:
        return
    base_length = now[BASE_LENGTH] if now[BASE_WHERE] not in (RELATIVE, SAME_HOST) else -1
    length = picture_term(
        buf, found[sx.SRC], found[sx.SRC + 1], hosts, bound, look,
        work.address, work.term, work.base, base_length,
    )  # fmt: skip
    if length > 0 and st[o.PICTURE] < out.pictures.shape[0]:
        token = st[o.TOKEN]
        value = hash_of(work.term, 0, length, secrets)
        o.emit(out, st, value, found[sx.SRC], found[sx.SRC + 1], now[FIELD])
        if st[o.TOKEN] > token:
            out.pictures[st[o.PICTURE]] = token - now[PAGE_TOKEN]
            st[o.PICTURE] += 1


@part
def _metadata(
    buf: NDArray[np.uint8], kind: int, hosts: NDArray[np.uint8], bound: NDArray[np.int64],
    look: Tables, work: Work, facts: NDArray[np.int64],
) -> None:  # fmt: skip
    """`base`, `link`, `meta`: of each kind the first counts."""
    now, found, origin = work.now, work.found, work.st[o.ORIGIN]
    if kind == el.BASE:
        if found[sx.HREF] >= 0 and facts[BASE_START] < 0:
            facts[BASE_START] = found[sx.HREF] - origin
            facts[BASE_END] = found[sx.HREF + 1] - origin
            now[BASE_LENGTH], now[BASE_WHERE] = base_of(
                buf, found[sx.HREF], found[sx.HREF + 1], hosts, bound, look, work.base
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
    buf: NDArray[np.uint8], bound: NDArray[np.int64], look: Tables, secrets: NDArray[np.uint64],
    out: Output, work: Work, facts: NDArray[np.int64], first_token: int, first_picture: int,
) -> None:  # fmt: skip
    """What is read out of its place: a late title; meta content and URL, which are in no block."""
    st, now, word = work.st, work.now, work.word
    if now[LATE_START] >= 0:
        body = st[o.TOKEN]
        st[o.GAP] = now[LATE_START]
        st[o.GAP_LEVEL] = o.PARAGRAPH | o.OF_TITLE
        _range(buf, now[LATE_START], now[LATE_END], tx.REFERENCES, TITLE, look, secrets, out, work)
        tx.end_word(word, TITLE, secrets, out, st)
        o.end_block(out, st, now[LATE_END], now[LATE_END])
        o.title_first(out, st, first_token, body, first_picture)
    facts[TEXT_TOKENS] = st[o.TOKEN] - first_token
    st[o.NUMBERED] = 0
    how = tx.REFERENCES | tx.ATTRIBUTE
    if now[KEYWORDS_START] >= 0:
        tx.read_text(
            buf, now[KEYWORDS_START], now[KEYWORDS_END], how, KEYWORDS, look, secrets, out, st, word
        )
        tx.end_word(word, KEYWORDS, secrets, out, st)
    if now[DESCRIPTION_START] >= 0:
        tx.read_text(
            buf, now[DESCRIPTION_START], now[DESCRIPTION_END], how, DESCRIPTION, look, secrets, out,
            st, word,
        )  # fmt: skip
        tx.end_word(word, DESCRIPTION, secrets, out, st)
    # Spans of the URL's words are within the URL.
    st[o.ORIGIN] = bound[1]
    tx.read_text(buf, bound[1], bound[2], 0, URL, look, secrets, out, st, word)
    tx.end_word(word, URL, secrets, out, st)
