"""One page in one pass: its tags, and what they mean to the text between them.

No tree is built: of open elements only counts are kept, so depth costs nothing. What starts a range
of another kind (a title, a text area, CDATA, a script) has that range's end found first. What is
read out of its place (a title behind text, meta content, the URL) waits until the page's end.
"""

# Kernels: a call costs its arguments, a set a search.
# ruff: noqa: PLR0911, PLR0912, PLR0915, PLR1714

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Bool, Int, apart, int64, part
from reusewatch.detector.scanning import characters as ch
from reusewatch.detector.scanning import dodges, hiding, styles
from reusewatch.detector.scanning import elements as el
from reusewatch.detector.scanning import output as o
from reusewatch.detector.scanning import state as s
from reusewatch.detector.scanning import syntax as sx
from reusewatch.detector.scanning import text as tx
from reusewatch.detector.scanning.addresses import RELATIVE
from reusewatch.detector.scanning.nesting import nest
from reusewatch.detector.scanning.output import Output
from reusewatch.detector.scanning.page_bytes import place_of
from reusewatch.detector.scanning.scratch_memory import Work
from reusewatch.detector.scanning.tables import Tables
from reusewatch.detector.scanning.tags import closed, end_link, note_segment, opened, read_range

_MARK_1, _MARK_2, _MARK_3 = ch.BYTE_ORDER_MARK


@part(inline=True)
def scan_page(
    buf: NDArray[np.uint8], look: Tables, work: Work, out: Output, scratch: NDArray[np.uint8]
) -> None:
    """Scan the page that `work.bound` names."""
    now = work.now
    lo, hi = work.bound[0], work.bound[1]
    _start(work, lo)
    i = lo
    if hi - lo >= 3 and buf[lo] == _MARK_1 and buf[lo + 1] == _MARK_2 and buf[lo + 2] == _MARK_3:
        i = lo + 3
    how = tx.TAGS | tx.REFERENCES if work.bound[6] != 0 else tx.LINED
    plain = i
    while i < hi:
        if now[s.UNSEEN] > 0 and (how & tx.TAGS) != 0:
            if now[s.HIDES] != 0:
                i = hiding.past_hidden_text(buf, i, hi, look, work)
            i = place_of(buf, i, hi, ch.LESS)
        else:
            i = tx.read_text(buf, i, hi, how, now[s.FIELD], look, work, out)
        if i >= hi:
            break
        after = _markup(buf, i, hi, how, plain, look, work, out, scratch)
        if after == i:
            # A `<` that starts nothing is text.
            tx.end_word(work, out)
            i += 1
            continue
        i = plain = after
        if now[s.PLAIN_FROM] >= 0:
            # Nothing ends `plaintext`.
            how = tx.LINED
            now[s.PLAIN_FROM] = -1
        elif (how & tx.TAGS) != 0:
            how = tx.TAGS | tx.REFERENCES | (tx.LINED if now[s.IN_PRE] != 0 else 0)
    tx.end_word(work, out)
    if now[s.UNSEEN] == 0:
        note_segment(work, out, plain, hi, how)
    o.end_block(work, out, hi, hi)
    end_link(hi, work, out)
    _waiting(buf, look, work, out)


@part()
def _start(work: Work, lo: Int) -> None:
    st, now, facts = work.st, work.now, work.facts
    for k in range(len(facts)):
        facts[k] = -1
    st[o.OPEN] = 0
    st[o.GAP] = lo
    st[o.LINES] = 0
    st[o.SAMPLE_FROM] = st[o.SAMPLE_GAP] = -1
    st[o.NUMBERED] = 1
    st[o.OPEN_LINK] = -1
    st[o.ORIGIN] = lo
    st[o.GAP_LEVEL] = o.PARAGRAPH
    for k in range(len(now)):
        now[k] = 0
    now[s.FIELD] = s.BODY
    now[s.ANCHOR] = s.BODY
    for k in range(s.LATE_START, s.DESCRIPTION_END + 1):
        now[k] = -1
    now[s.BASE_WHERE] = RELATIVE
    now[s.PLAIN_FROM] = -1
    work.word[tx.WHAT] = 0
    for k in range(dodges.SHOWN):
        work.dodges[k] = 0


@part(inline=True)
def _markup(
    buf: NDArray[np.uint8], at: Int, hi: Int, how: Int, plain: Int, look: Tables, work: Work,
    out: Output, scratch: NDArray[np.uint8],
) -> Int:  # fmt: skip
    """Read what the `<` at `at` starts; its end, or `at` if it starts nothing."""
    st, now = work.st, work.now
    if at + 1 >= hi:
        return at
    c = int64(buf[at + 1])
    visible = now[s.UNSEEN] == 0
    name = at + 1
    closing = False
    if not sx.is_letter(c):
        if c == ch.SLASH:
            if at + 2 >= hi:
                return at
            closing = sx.is_letter(buf[at + 2])
            name = at + 2
        if not closing:
            if c != ch.BANG and c != ch.QUESTION and c != ch.SLASH:
                return at
            if visible:
                note_segment(work, out, plain, at, how)
            if c == ch.BANG:
                if at + 3 < hi and buf[at + 2] == ch.DASH and buf[at + 3] == ch.DASH:
                    return sx.comment_end(buf, at + 4, hi)
                if now[s.FOREIGN] != 0 and sx.starts_cdata(buf, at, hi):
                    end = sx.cdata_end(buf, at + 9, hi)
                    if visible:
                        read_range(buf, at + 9, end, s.AS_IT_IS, now[s.FIELD], look, work, out)
                    return min(end + 3, hi)
            return sx.bogus_comment_end(buf, at + 2, hi)
    end = sx.tag_end(buf, name, hi, look, work.found)
    if visible:
        note_segment(work, out, plain, at, how)
    if end < 0:
        # The page ends within the tag, which is then no tag and no text.
        return hi
    bits = work.found[sx.BITS]
    if now[s.HIDES] != 0:
        if hiding.still_hidden(buf, bits, closing, look, work, scratch):
            if now[s.HIDES] == 0:
                return _shown_again(at, end, work, out)
            return _past_raw(buf, end, hi, bits, closing, look, work)
        _shown_again(at, at, work, out)
        visible = True
    if now[s.PATH] == 0 and (now[s.RESTYLED] | work.found[sx.LOOKS]) != 0:
        looks = styles.AS_EVER
        if work.found[sx.LOOKS] != 0 and not closing:
            looks = styles.shown_as(buf, work.found, look, scratch)
        if (looks == styles.GONE or looks == styles.INVISIBLE) and _may_hide(bits, work):
            return _hidden(buf, at, end, hi, bits, looks, look, work, out)
        if now[s.RESTYLED] != 0 or looks == styles.INLINE or looks == styles.BLOCK:
            bits = hiding.restyled(buf, bits, closing, looks, work)
    if bits == 0:
        return end
    kind = bits >> el.KIND_SHIFT & 255
    if now[s.PATH] != 0 or (bits & el.ENTERS) != 0:
        foreign = now[s.FOREIGN] != 0
        nest(bits, closing, work.found[sx.SELF_CLOSING] != 0, now)
        if now[s.UNSEEN] != 0:
            # In SVG and MathML nothing is raw.
            return end if foreign or closing else _past_hidden(buf, end, hi, kind, look, work)
        if (foreign or not visible) and bits >> el.CODE_SHIFT & 255 >= el.UNSEEN:
            return end
    if (bits & (el.WORD | el.BLOCK)) != 0:
        tx.end_word(work, out)
        if (bits & el.BLOCK) != 0:
            o.end_block(work, out, at, end)
            st[o.GAP_LEVEL] = o.PARAGRAPH
        elif st[o.GAP_LEVEL] < o.SPACE:
            st[o.GAP_LEVEL] = o.SPACE
    if closing:
        closed(at, end, kind, work, out)
        return end
    if kind == el.PLAIN:
        return end
    return opened(buf, at, end, hi, kind, look, work, out, scratch)


@part()
def _may_hide(bits: Int, work: Work) -> Bool:
    """What is never shown in the page cannot be hidden there."""
    kind = bits >> el.KIND_SHIFT & 255
    metadata = kind in (el.BASE, el.LINK, el.META, el.TITLE)
    return not metadata and work.dodges[dodges.SHOWN] == 0


@part()
def _hidden(
    buf: NDArray[np.uint8], at: Int, end: Int, hi: Int, bits: Int, how: Int, look: Tables,
    work: Work, out: Output,
) -> Int:  # fmt: skip
    """A start tag that hides its element; where text goes on."""
    apart()
    kind = bits >> el.KIND_SHIFT & 255
    if how == styles.INVISIBLE:
        # It takes its room: a gap, and a paragraph's.
        _gap(at, end, bits, work, out)
    if (bits & el.VOID) != 0:
        return end
    raw = _past_hidden(buf, end, hi, kind, look, work)
    if raw == end and not (
        (bits >> el.CODE_SHIFT & 255) in (el.SVG, el.MATH) and work.found[sx.SELF_CLOSING] != 0
    ):
        hiding.hide(bits, how, work)
    return raw


@part()
def _past_raw(
    buf: NDArray[np.uint8], end: Int, hi: Int, bits: Int, closing: Bool, look: Tables, work: Work
) -> Int:
    """After a tag within a hidden element."""
    apart()
    kind = bits >> el.KIND_SHIFT & 255
    code = work.now[s.HIDES_BITS] >> el.CODE_SHIFT & 255
    # In SVG and MathML nothing is raw.
    if closing or kind == el.PLAIN or el.SVG <= code <= el.MATH:
        return end
    return _past_hidden(buf, end, hi, kind, look, work)


@part()
def _shown_again(at: Int, end: Int, work: Work, out: Output) -> Int:
    """A hidden element ended; where text goes on."""
    apart()
    if work.now[s.HID] == styles.INVISIBLE:
        _gap(at, end, work.now[s.HIDES_BITS], work, out)
    return end


@part()
def _gap(at: Int, end: Int, bits: Int, work: Work, out: Output) -> None:
    apart()
    tx.end_word(work, out)
    if (bits & el.BLOCK) != 0:
        o.end_block(work, out, at, end)
        work.st[o.GAP_LEVEL] = o.PARAGRAPH
    elif work.st[o.GAP_LEVEL] < o.SPACE:
        work.st[o.GAP_LEVEL] = o.SPACE


@part()
def _past_hidden(
    buf: NDArray[np.uint8], end: Int, hi: Int, kind: Int, look: Tables, work: Work
) -> Int:
    """After a start tag that no reader sees: what is raw may hide the end of what hides it."""
    apart()
    found = work.found
    if kind == el.SCRIPT:
        stop = sx.script_end(buf, end, hi, found[sx.NAME])
    elif kind in (el.TITLE, el.TEXTAREA, el.RAW_HIDDEN, el.XMP):
        stop = sx.raw_end(buf, end, hi, found[sx.NAME], found[sx.NAME_END])
    else:
        return hi if kind == el.PLAINTEXT else end
    if stop < hi:
        # Its end tag ends nothing else: an SVG `style` may be open around an HTML one.
        stop = sx.tag_end(buf, stop + 2, hi, look, found)
    return hi if stop < 0 else stop


@part()
def _waiting(buf: NDArray[np.uint8], look: Tables, work: Work, out: Output) -> None:
    """What is read out of its place: a late title; meta content and URL, which are in no block."""
    apart()
    st, now, bound = work.st, work.now, work.bound
    if now[s.LATE_START] >= 0:
        body = st[o.TOKEN]
        st[o.GAP] = now[s.LATE_START]
        st[o.GAP_LEVEL] = o.PARAGRAPH | o.OF_TITLE
        read_range(buf, now[s.LATE_START], now[s.LATE_END], s.REFERENCES, s.TITLE, look, work, out)
        tx.end_word(work, out)
        o.end_block(work, out, now[s.LATE_END], now[s.LATE_END])
        o.title_first(work, out, body)
    work.facts[s.TEXT_TOKENS] = st[o.TOKEN]
    work.facts[s.FOLDED] = work.dodges[dodges.FOLDED]
    work.facts[s.HIDDEN] = work.dodges[dodges.HIDDEN]
    st[o.NUMBERED] = 0
    how = tx.REFERENCES | tx.ATTRIBUTE
    if now[s.KEYWORDS_START] >= 0:
        tx.read_text(
            buf, now[s.KEYWORDS_START], now[s.KEYWORDS_END], how, s.KEYWORDS, look, work, out
        )
        tx.end_word(work, out)
    if now[s.DESCRIPTION_START] >= 0:
        tx.read_text(
            buf, now[s.DESCRIPTION_START], now[s.DESCRIPTION_END], how, s.DESCRIPTION, look, work,
            out,
        )  # fmt: skip
        tx.end_word(work, out)
    # Spans of the URL's words are within the URL.
    st[o.ORIGIN] = bound[1]
    tx.read_text(buf, bound[1], bound[2], s.AS_IT_IS, s.URL, look, work, out)
    tx.end_word(work, out)
