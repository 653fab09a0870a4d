"""Where tags, comments and raw text end (HTML standard, 13.2.5 Tokenization).

Every function reads forward from where it is called and returns where it stopped, so that a page
is read once however it is broken. Nothing here knows what a tag means.
"""

# Kernels: a call costs its arguments, a set a search.
# ruff: noqa: PLR0912, PLR1714, SIM110

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Bool, Int, Tuple, int64, part, uint64
from reusewatch.detector.scanning import characters as ch
from reusewatch.detector.scanning.elements import ATTRIBUTES
from reusewatch.detector.scanning.page_bytes import (
    SIXTEEN,
    alphanumerics_at,
    byte_at,
    eight_lowered_at,
    lowered_at,
    name_bytes_at,
    place_of,
)
from reusewatch.detector.scanning.tables import SPREAD, TAG_SLOTS, Tables

# What `tag_end` finds, by place in its `found` array: spans are start and end, -1 where absent.
BITS, SELF_CLOSING, NAME, NAME_END = 0, 1, 2, 3
HREF, SRC, REL, NAME_VALUE, CONTENT = 4, 6, 8, 10, 12
FOUND_SIZE = 14
# Of any tag: which of the attributes it has that say how it is shown, and their values.
LOOKS, STYLE, HIDDEN = 14, 15, 17
STYLED, IS_HIDDEN = 1, 2
_SPREAD = uint64(SPREAD)
_SLOTS_MASK = TAG_SLOTS - 1
_EIGHT = 8
_CANONICAL = np.frombuffer(b"canonical", dtype=np.uint8)
_NOFOLLOW = np.frombuffer(b"nofollow", dtype=np.uint8)
_UGC = np.frombuffer(b"ugc", dtype=np.uint8)
_SPONSORED = np.frombuffer(b"sponsored", dtype=np.uint8)
_KEYWORDS = np.frombuffer(b"keywords", dtype=np.uint8)
_DESCRIPTION = np.frombuffer(b"description", dtype=np.uint8)
# Names of attributes as numbers, the first byte the lowest.
_HREF, _SRC, _REL, _NAME, _CONTENT, _STYLE, _HIDDEN = (
    uint64(int.from_bytes(name, "little"))
    for name in (b"href", b"src", b"rel", b"name", b"content", b"style", b"hidden")
)


@part(inline=True)
def is_space(c: Int) -> Bool:
    """ASCII white space of the HTML standard."""
    return c == ch.SPACE or c == ch.LINE_FEED or c == ch.TAB or c == ch.RETURN or c == ch.FORM_FEED


@part(inline=True)
def is_letter(c: Int) -> Bool:
    """An ASCII letter, which is what may start a tag's name."""
    return ch.LOWER_A <= (c | ch.LOWER) <= ch.LOWER_Z


@part(inline=True)
def starts_markup(buf: NDArray[np.uint8], at: Int, hi: Int) -> Bool:
    """Whether the `<` at `at` may start something; else it is a character."""
    if at + 1 >= hi:
        return False
    c = byte_at(buf, at + 1)
    return is_letter(c) or c == ch.SLASH or c == ch.BANG or c == ch.QUESTION


@part(inline=True)
def _name(buf: NDArray[np.uint8], at: Int, hi: Int) -> Tuple:
    """Where the name of a tag ends, and its first and second eight bytes as numbers."""
    # `<p>` is mostly foreseen: who goes on need not wait for the name's length.
    if at + 1 < hi and byte_at(buf, at + 1) == ch.GREATER:
        return at + 1, lowered_at(buf, at, 1), uint64(0)
    # The usual name is of letters and digits, and read at once.
    length = alphanumerics_at(buf, uint64(at))
    if length < SIXTEEN and at + length < hi:
        c = byte_at(buf, at + length)
        if c == ch.GREATER or c == ch.SLASH or is_space(c):
            if length < _EIGHT:
                return at + length, lowered_at(buf, at, length), uint64(0)
            rest = lowered_at(buf, at + _EIGHT, length - _EIGHT)
            return at + length, eight_lowered_at(buf, at), rest
    i = at
    first = uint64(0)
    second = uint64(0)
    while i < hi:
        c = byte_at(buf, i)
        if c == ch.GREATER or c == ch.SLASH or is_space(c):
            break
        if ch.UPPER_A <= c <= ch.UPPER_Z:
            c |= ch.LOWER
        elif c == 0:
            # `script` and a NUL is no script; the padding of packed names is zeros.
            c = 0xFF
        length = i - at
        if length < _EIGHT:
            first |= uint64(c) << uint64(8 * length)
        elif length < SIXTEEN:
            second |= uint64(c) << uint64(8 * (length - 8))
        i += 1
    return i, first, second


@part(inline=True)
def tag_end(
    buf: NDArray[np.uint8], at: Int, hi: Int, look: Tables, found: NDArray[np.int64]
) -> Int:
    """The end of the tag whose name starts at `at`, or -1 if the page ends within it.

    Fills `found`; attributes only where the element's matter.
    """
    i, first, second = _name(buf, at, hi)
    found[NAME] = at
    found[NAME_END] = i
    bits = 0
    if i - at <= 16:
        slot = int64(((first ^ second) * _SPREAD) >> uint64(54))
        while look.tag_first[slot] != 0:
            if look.tag_first[slot] == first and look.tag_second[slot] == second:
                bits = int64(look.tag_bits[slot])
                break
            slot = (slot + 1) & _SLOTS_MASK
    found[BITS] = bits
    found[SELF_CLOSING] = 0
    found[LOOKS] = 0
    # The usual tag has no attributes.
    if i < hi and byte_at(buf, i) == ch.GREATER:
        if (bits & ATTRIBUTES) != 0:
            for k in range(HREF, FOUND_SIZE):
                found[k] = -1
        return i + 1
    return _attributes(buf, i, hi, (bits & ATTRIBUTES) != 0, found)


@part(inline=True)
def _attributes(
    buf: NDArray[np.uint8], at: Int, hi: Int, wanted: Bool, found: NDArray[np.int64]
) -> Int:
    if wanted:
        for k in range(HREF, FOUND_SIZE):
            found[k] = -1
    i = at
    while True:
        before = i
        while i < hi and (byte_at(buf, i) == ch.SLASH or is_space(byte_at(buf, i))):
            i += 1
        if i >= hi:
            return -1
        if byte_at(buf, i) == ch.GREATER:
            # The slash of `a=b/>` is the value's.
            found[SELF_CLOSING] = int64(i > before and byte_at(buf, i - 1) == ch.SLASH)
            return i + 1
        name = i
        # An equals sign here is the name's first character.
        i += 1
        length = SIXTEEN
        while length == SIXTEEN and i < hi:
            length = name_bytes_at(buf, uint64(i))
            i += length
        i = name_end = min(i, hi)
        while i < hi and is_space(byte_at(buf, i)):
            i += 1
        value = value_end = i
        if i < hi and byte_at(buf, i) == ch.EQUALS:
            i += 1
            while i < hi and is_space(byte_at(buf, i)):
                i += 1
            if i >= hi:
                return -1
            quote = byte_at(buf, i)
            value = i
            if quote == ch.QUOTE or quote == ch.APOSTROPHE:
                value = i + 1
                i = place_of(buf, value, hi, quote)
                if i >= hi:
                    return -1
                value_end = i
                i += 1
            else:
                while i < hi and byte_at(buf, i) != ch.GREATER and not is_space(byte_at(buf, i)):
                    i += 1
                value_end = i
        if name_end - name < _EIGHT:
            _note(lowered_at(buf, name, name_end - name), value, value_end, wanted, found)


@part(inline=True)
def _note(
    name: Int, value: Int, value_end: Int, wanted: Bool, found: NDArray[np.int64]
) -> None:  # fmt: skip
    """Keep an attribute that is looked for; of two of one name the first counts."""
    if name == _STYLE:
        if (found[LOOKS] & STYLED) == 0:
            found[LOOKS] |= STYLED
            found[STYLE], found[STYLE + 1] = value, value_end
    elif name == _HIDDEN:
        if (found[LOOKS] & IS_HIDDEN) == 0:
            found[LOOKS] |= IS_HIDDEN
            found[HIDDEN], found[HIDDEN + 1] = value, value_end
    elif wanted:
        which = _kept_at(name)
        if which >= 0 and found[which] < 0:
            found[which], found[which + 1] = value, value_end


@part(inline=True)
def _kept_at(name: Int) -> Int:
    """Where the value of a wanted attribute is kept."""
    if name == _HREF:
        return HREF
    if name == _SRC:
        return SRC
    if name == _REL:
        return REL
    if name == _NAME:
        return NAME_VALUE
    if name == _CONTENT:
        return CONTENT
    return -1


@part()
def comment_end(buf: NDArray[np.uint8], at: Int, hi: Int) -> Int:
    """The end of a comment whose `<!--` ends at `at`."""
    if at < hi and byte_at(buf, at) == ch.GREATER:
        return at + 1
    if at + 1 < hi and byte_at(buf, at) == ch.DASH and byte_at(buf, at + 1) == ch.GREATER:
        return at + 2
    i = at
    dashes = 0
    while i < hi:
        c = byte_at(buf, i)
        if c == ch.DASH:
            dashes += 1
        elif dashes >= 2 and c == ch.GREATER:
            return i + 1
        elif dashes >= 2 and c == ch.BANG and i + 1 < hi and byte_at(buf, i + 1) == ch.GREATER:
            return i + 2
        else:
            dashes = 0
        i += 1
    return hi


@part()
def bogus_comment_end(buf: NDArray[np.uint8], at: Int, hi: Int) -> Int:
    """The end of what `<?`, `</` and a character, `<!` and no comment started."""
    return min(place_of(buf, at, hi, ch.GREATER) + 1, hi)


@part()
def starts_cdata(buf: NDArray[np.uint8], at: Int, hi: Int) -> Bool:
    """Whether `<![CDATA[` stands at `at`."""
    if at + 9 > hi:
        return False
    word = uint64(0)
    for i in range(at + 1, at + 9):
        word = word << uint64(8) | uint64(byte_at(buf, i))
    return word == ch.CDATA


@part()
def cdata_end(buf: NDArray[np.uint8], at: Int, hi: Int) -> Int:
    """Where the `]]>` of a CDATA section starts."""
    i = at
    brackets = 0
    while i < hi:
        c = byte_at(buf, i)
        if c == ch.BRACKET:
            brackets += 1
        elif c == ch.GREATER and brackets >= 2:
            return i - 2
        else:
            brackets = 0
        i += 1
    return hi


@part()
def raw_end(buf: NDArray[np.uint8], at: Int, hi: Int, name: Int, name_end: Int) -> Int:
    """Where the `</name` that ends raw text starts: the name is the start tag's, in the page."""
    length = name_end - name
    i = place_of(buf, at, hi, ch.LESS)
    while i < hi and not _closes(buf, i, hi, name, length):
        i = place_of(buf, i + 1, hi, ch.LESS)
    return i


@part()
def _closes(buf: NDArray[np.uint8], at: Int, hi: Int, name: Int, length: Int) -> Bool:
    """Whether `</`, the name and what may follow a name stand at `at`."""
    end = at + 2 + length
    if end >= hi or byte_at(buf, at + 1) != ch.SLASH:
        return False
    for k in range(length):
        if (byte_at(buf, at + 2 + k) | ch.LOWER) != (byte_at(buf, name + k) | ch.LOWER):
            return False
    c = byte_at(buf, end)
    return c == ch.GREATER or c == ch.SLASH or is_space(c)


@part()
def script_end(buf: NDArray[np.uint8], at: Int, hi: Int, name: Int) -> Int:
    """Where the `</script` that ends a script starts (13.2.5.15 to 13.2.5.31).

    After `<!--` a `<script` opens a second level, in which `</script` closes only that level.
    """
    depth = 0
    dashes = 0
    i = at
    while i < hi:
        c = byte_at(buf, i)
        if c == ch.DASH:
            dashes += 1
            i += 1
            continue
        if c == ch.GREATER:
            if depth > 0 and dashes >= 2:
                depth = 0
        elif c == ch.LESS:
            if depth < 2 and _closes(buf, i, hi, name, 6):
                return i
            if depth == 0:
                if (
                    i + 3 < hi
                    and byte_at(buf, i + 1) == ch.BANG
                    and byte_at(buf, i + 2) == ch.DASH
                    and byte_at(buf, i + 3) == ch.DASH
                ):
                    depth = 1
                    dashes = 2
                    i += 4
                    continue
            elif depth == 1:
                # `<script` differs from `</script` by a slash.
                if i + 7 < hi and _is_script(buf, i + 1, name) and _ends_name(byte_at(buf, i + 7)):
                    depth = 2
                    dashes = 0
                    i += 8
                    continue
            elif _closes(buf, i, hi, name, 6):
                depth = 1
                dashes = 0
                i += 9
                continue
        dashes = 0
        i += 1
    return hi


@part()
def _is_script(buf: NDArray[np.uint8], at: Int, name: Int) -> Bool:
    for k in range(6):
        if (byte_at(buf, at + k) | ch.LOWER) != (byte_at(buf, name + k) | ch.LOWER):
            return False
    return True


@part()
def _ends_name(c: Int) -> Bool:
    return c == ch.GREATER or c == ch.SLASH or is_space(c)


@part()
def has_canonical(buf: NDArray[np.uint8], at: Int, end: Int) -> Bool:
    """Whether the value of a `rel` has the keyword `canonical`."""
    return _has_keyword(buf, at, end, _CANONICAL)


@part()
def vouches_for_nothing(buf: NDArray[np.uint8], at: Int, end: Int) -> Bool:
    """Whether the value of a `rel`, if there is one, says that a link was put there by others."""
    return at >= 0 and (
        _has_keyword(buf, at, end, _NOFOLLOW)
        or _has_keyword(buf, at, end, _UGC)
        or _has_keyword(buf, at, end, _SPONSORED)
    )


@part()
def _has_keyword(buf: NDArray[np.uint8], at: Int, end: Int, word: NDArray[np.uint8]) -> Bool:
    i = at
    while i < end:
        while i < end and is_space(byte_at(buf, i)):
            i += 1
        start = i
        while i < end and not is_space(byte_at(buf, i)):
            i += 1
        if is_word(buf, start, i, word):
            return True
    return False


@part()
def is_keywords(buf: NDArray[np.uint8], at: Int, end: Int) -> Bool:
    """Whether the value of a `name` is `keywords`."""
    return is_word(buf, at, end, _KEYWORDS)


@part()
def is_description(buf: NDArray[np.uint8], at: Int, end: Int) -> Bool:
    """Whether the value of a `name` is `description`."""
    return is_word(buf, at, end, _DESCRIPTION)


@part()
def is_word(buf: NDArray[np.uint8], at: Int, end: Int, word: NDArray[np.uint8]) -> Bool:
    """Whether a word in small letters stands there, in either case."""
    if end - at != len(word):
        return False
    for k in range(len(word)):
        if (byte_at(buf, at + k) | ch.LOWER) != word[k]:
            return False
    return True
