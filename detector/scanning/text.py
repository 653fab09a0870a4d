"""Text to tokens: the HTML tokenizer's data, RCDATA and raw text states, up to the next tag.

A token is a maximal run of alphanumeric code points; marks count where a script needs them, else
they are as if they were not there; format characters
(soft hyphen, joiners, zero-width space) and NUL are as invisible here as on a screen. Characters
of scripts without spaces are a token each. The word that is open when a tag comes stays open: only
the tag says whether it ends.
"""

# Kernels: a call costs its arguments, a set a search.
# ruff: noqa: PLR0912, PLR0915, PLR1714

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Int, Tuple, int64, part, uint64
from reusewatch.detector.scanning import characters as ch
from reusewatch.detector.scanning.dodges import (
    DRESSED,
    LATIN,
    OTHER,
    OTHER_WORDS,
    RAISED,
    STRANGE,
    note,
)
from reusewatch.detector.scanning.mixing import fold_product
from reusewatch.detector.scanning.output import (
    ALONE,
    LINES,
    NUMBERED,
    OWN,
    Output,
    emit,
    end_block,
    facts_of,
)
from reusewatch.detector.scanning.page_bytes import (
    BLOCK,
    SIXTEEN,
    alphanumerics_at,
    alphanumerics_in,
    ascii_text_in,
    byte_at,
    eight_lowered_at,
    lowest,
    no_line_ends_in,
)
from reusewatch.detector.scanning.references import reference, starts_reference
from reusewatch.detector.scanning.scratch_memory import Work
from reusewatch.detector.scanning.syntax import starts_markup
from reusewatch.detector.scanning.tables import (
    CLASS_SHIFT,
    IGNORED,
    KIND,
    MARK,
    MARKED,
    PLAIN,
    SINGLE,
    WORD,
    Tables,
)
from reusewatch.detector.scanning.utf8 import code_point, short_code_point
from reusewatch.detector.scanning.words import finish, properties_of, push_character

# How text is read, as bits.
TAGS = 1  # `<` stops it
REFERENCES = 2  # `&` may start a reference
LINED = 4  # blank lines end blocks
ATTRIBUTE = 8  # the rules of attribute values for references

# The open word, by place in its array.
WHAT, START, END, HASH, BYTES, USED, FACTS, SIZE = range(8)
_NONE, _WORD, _SINGLE = range(3)

_BYTE = uint64(8)
_FULL = uint64(64)
_ZERO = uint64(0)
_EIGHT, _BITS = 8, uint64(3)
_ONE, _SEVEN, _SIXTEEN = uint64(1), uint64(7), uint64(SIXTEEN)

# With a word's facts: whether marks on its last letter count, and what its letters say (`dodges`).
_SEEN_SHIFT = 32
_MARKED_SHIFT = 29
_MARKED = MARKED << _MARKED_SHIFT
_CLASSED = 1 << CLASS_SHIFT
# Latin letters alone, and digits, are in no doubt; nor is a word of another alphabet.
_DOUBTED = (0x1FE & ~LATIN) << _SEEN_SHIFT
_OTHER = OTHER << _SEEN_SHIFT
_NOT_OTHER = (LATIN | DRESSED | STRANGE | RAISED) << _SEEN_SHIFT


@part(inline=True)
def end_word(work: Work, out: Output) -> None:
    """Something that a reader sees as a gap: the open word, if any, is a token."""
    word = work.word
    if word[WHAT] != _NONE:
        value = finish(word[HASH], word[BYTES], work.secrets)
        _emit(
            work, out, value, int64(word[START]), int64(word[END]), int64(word[FACTS]),
            int64(word[SIZE]),
        )  # fmt: skip
        word[WHAT] = _NONE


@part(inline=True)
def _emit(work: Work, out: Output, value: Int, start: Int, end: Int, own: Int, size: Int) -> None:
    emit(work, out, value, start, end, facts_of(own & OWN, size))
    if (own & _DOUBTED) != 0 and work.st[NUMBERED] != 0:
        # The usual word of such a text costs no call: `note` would count it so, too.
        if (own & _OTHER) != 0 and (own & _NOT_OTHER) == 0:
            work.dodges[OTHER_WORDS] += 1
        else:
            note(work, own >> _SEEN_SHIFT, size)


@part(inline=True)
def read_text(
    buf: NDArray[np.uint8], at: Int, limit: Int, how: Int, field: Int, look: Tables, work: Work,
    out: Output,
) -> Int:  # fmt: skip
    """Read from `at` to the next `<`, if tags count, or to the limit; where it stopped."""
    word, secrets = work.word, work.secrets
    seed, first = secrets[0], secrets[1]
    kind, start, end = int64(word[WHAT]), int64(word[START]), int64(word[END])
    # A word is of the field that it starts in.
    own, size = int64(word[FACTS]), int64(word[SIZE])
    h, w, used = word[HASH], word[BYTES], word[USED]
    i = at
    while i < limit:
        c = byte_at(buf, i)
        folded = look.ascii[c]
        if folded > PLAIN:
            if kind != _WORD:
                if kind == _SINGLE:
                    _emit(work, out, finish(h, w, secrets), start, end, own, size)
                kind = _WORD
                # Bit 6 of a letter: the word has one of Latin. A run that starts with a digit is
                # none.
                start, own, size = i, field | (int64(folded) & LATIN) << _SEEN_SHIFT, 0
                h, w, used = seed, _ZERO, _ZERO
            else:
                own = (own | (int64(folded) & LATIN) << _SEEN_SHIFT) & ~_MARKED
            size -= i
            length = SIXTEEN
            if used == _ZERO:
                # One letter alone is mostly foreseen: who goes on need not wait for its length.
                length = 1
                if look.ascii[byte_at(buf, i + 1)] > PLAIN:
                    length = min(alphanumerics_at(buf, uint64(i)), limit - i)
            if length < SIXTEEN:
                h, w, used = _short(buf, i, uint64(length), h, first)
                end = i = i + length
                size += i
                continue
            while True:
                w |= uint64(folded) << used
                used += _BYTE
                if used == _FULL:
                    h = fold_product(h ^ w, first)
                    w = used = _ZERO
                i += 1
                if i >= limit:
                    break
                folded = look.ascii[byte_at(buf, i)]
                if folded <= PLAIN:
                    break
            end = i
            size += i
            continue
        if folded == PLAIN:
            if kind != _NONE:
                _emit(work, out, finish(h, w, secrets), start, end, own, size)
                kind = _NONE
            i += 1
            if (how & LINED) != 0:
                _line(buf, i - 1, limit, c, work, out)
            else:
                while i < limit and look.ascii[byte_at(buf, i)] == PLAIN:
                    i += 1
            # Behind a blank there is mostly more than one word; behind a `#` a block for one would
            # cost more than the word.
            blank = byte_at(buf, i - 1) <= ch.SPACE
            if blank and i < limit and look.ascii[byte_at(buf, i)] > PLAIN:
                i = _words(buf, i, limit, how, field, work, out)
            continue
        stop, code, second = i + 1, c, 0
        if c >= ch.ASCII_END:
            code, stop = short_code_point(buf, i, limit)
            if stop == i:
                code, stop = code_point(buf, i, limit)
        elif c == ch.LESS and (how & TAGS) != 0 and starts_markup(buf, i, limit):
            break
        elif (
            c == ch.AMPERSAND and (how & REFERENCES) != 0 and starts_reference(buf, i, limit, look)
        ):
            stop, code, second = reference(buf, i, limit, (how & ATTRIBUTE) != 0, look)
            if stop == i:
                stop, code = i + 1, c
        elif c == 0:
            i += 1
            continue
        while True:
            properties = properties_of(code, look)
            what = properties & KIND
            if what == MARK and kind != _NONE:
                if properties >= _CLASSED:
                    own |= 1 << ((properties >> CLASS_SHIFT) + _SEEN_SHIFT)
                if (own & _MARKED) != 0:
                    h, w, used, size = push_character(h, w, used, size, code, look, first)
                end = stop
            elif what != IGNORED:
                if kind != _NONE and (what != WORD or kind != _WORD):
                    _emit(work, out, finish(h, w, secrets), start, end, own, size)
                    kind = _NONE
                if what in (WORD, SINGLE):
                    if kind == _NONE:
                        kind = _WORD
                        start, own, size = i, field, 0
                        if what == SINGLE:
                            kind = _SINGLE
                            own |= ALONE
                        h, w, used = seed, _ZERO, _ZERO
                    own = (own & ~_MARKED) | (properties & MARKED) << _MARKED_SHIFT
                    if properties >= _CLASSED:
                        own |= 1 << ((properties >> CLASS_SHIFT) + _SEEN_SHIFT)
                    h, w, used, size = push_character(h, w, used, size, code, look, first)
                    end = stop
            if second == 0:
                break
            code, second = second, 0
        i = stop
    word[WHAT], word[START], word[END] = uint64(kind), uint64(start), uint64(end)
    word[FACTS], word[SIZE] = uint64(own), uint64(size)
    word[HASH], word[BYTES], word[USED] = h, w, used
    return i


@part(inline=True)
def _short(buf: NDArray[np.uint8], at: Int, length: Int, h: Int, first: Int) -> Tuple:
    """Read up to fifteen letters and digits: the usual word is read as one of eight and more, too,
    since nobody can foresee which it is, and a wrong guess costs more than both."""
    low = eight_lowered_at(buf, at)
    is_long = _ZERO - (length >> _BITS)
    h ^= (fold_product(h ^ low, first) ^ h) & is_long
    low ^= (eight_lowered_at(buf, at + _EIGHT) ^ low) & is_long
    used = (length & _SEVEN) << _BITS
    return h, low & ((_ONE << used) - _ONE), used


@part(inline=True)
def _words(
    buf: NDArray[np.uint8], at: Int, limit: Int, how: Int, field: Int, work: Work, out: Output
) -> Int:  # fmt: skip
    """Read the words that begin and end in the block at `at`, of which all are found at once, up to
    a long one or to what is no plain text; where it stopped."""
    seed, first = work.secrets[0], work.secrets[1]
    words, text = alphanumerics_in(buf, uint64(at)), ascii_text_in(buf, uint64(at))
    if limit - at < BLOCK:
        text &= (_ONE << uint64(limit - at)) - _ONE
    if (how & LINED) != 0:
        text &= no_line_ends_in(buf, uint64(at))
    # Up to the first byte that is none. What a word ends with has to be text, too: a mark or a
    # reference may go on with the word.
    text &= ~(text + _ONE)
    starts, ends = words & ~(words << _ONE) & text, ~words & words << _ONE & text
    while ends != _ZERO:
        begin, end = lowest(starts), lowest(ends)
        start, length = at + int64(begin), end - begin
        if length >= _SIXTEEN:
            return start
        h, w, _ = _short(buf, start, length, seed, first)
        facts = facts_of(field, int64(length))
        emit(work, out, finish(h, w, work.secrets), start, at + int64(end), facts)
        starts &= starts - _ONE
        ends &= ends - _ONE
    return at + int64(min(lowest(starts), lowest(~text)))


@part()
def _line(buf: NDArray[np.uint8], at: Int, limit: Int, c: Int, work: Work, out: Output) -> None:
    """Two line ends without a word between them end a block; a word sets LINES back (`emit`).

    So a lone `.` or ` * ` is as blank as nothing: paragraphs of licences are kept apart by such.
    """
    if c == ch.RETURN and at + 1 < limit and byte_at(buf, at + 1) == ch.LINE_FEED:
        return
    if c == ch.LINE_FEED or c == ch.RETURN or c == ch.FORM_FEED:
        # A form feed is as good as a blank line.
        if work.st[LINES] != 0 or c == ch.FORM_FEED:
            end_block(work, out, at, at + 1)
        work.st[LINES] = 1
