"""Where a link or an image leads, as far as the text's fields need it (URL standard, parsing).

An address is relative, or names a host; the host is the page's, another of the page's site, or
foreign. No address is resolved here but that of an image below a foreign `base`.
"""

# Kernels: a call costs its arguments, a set a search.
# ruff: noqa: PLR1714

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Bool, Int, Tuple, int64, part, uint64
from reusewatch.detector.scanning import characters as ch
from reusewatch.detector.scanning.page_bytes import SIXTEEN, alphanumerics_at, eight_at
from reusewatch.detector.scanning.references import reference
from reusewatch.detector.scanning.scratch_memory import Work
from reusewatch.detector.scanning.syntax import is_letter
from reusewatch.detector.scanning.tables import Tables
from reusewatch.detector.scanning.utf8 import put_utf8
from reusewatch.detector.scanning.words import finish, push_bytes

# Where an address leads.
RELATIVE, SAME_HOST, SAME_SITE, OTHER_SITE, NO_PAGE = range(5)
# A host name has at most 253 characters; what is before it is short or a user's name.
HOST_WITHIN = int64(1024)
BASE_WITHIN = int64(4096)
# What an address's text may need beside twice its bytes: a reference of five bytes can stand for
# six, a scheme and a slash may be added.
ADDRESS_ROOM = 32
# As the page's bytes are read, the first the lowest.
_HTTPS, _HTTP = (uint64(int.from_bytes(begin, "little")) for begin in (b"https://", b"http://"))
_SEVEN = uint64((1 << 56) - 1)


@part()
def plainly_relative(buf: NDArray[np.uint8], at: Int, end: Int) -> Bool:
    """Whether the raw value is surely relative: most are, and need not be decoded."""
    if at >= end:
        return True
    if buf[at] == ch.SLASH:
        return at + 1 >= end or (buf[at + 1] < ch.ASCII_END and is_letter(buf[at + 1]))
    if not is_letter(buf[at]):
        # Nothing else begins a scheme, or what names a host; references and blanks may hide it.
        return buf[at] != ch.BACKSLASH and buf[at] != ch.AMPERSAND and buf[at] > ch.SPACE
    i = at
    while i < end:
        length = alphanumerics_at(buf, uint64(i))
        i += length
        if length == SIXTEEN:
            continue
        c = buf[i]
        if i < end and c != ch.DASH and c != ch.UNDERSCORE:
            return c == ch.HASH or c == ch.QUESTION or c == ch.SLASH or c == ch.DOT
        i += 1
    return True


@part()
def plain_host(buf: NDArray[np.uint8], at: Int, end: Int) -> Tuple:
    """The span of the host that the raw value surely names; an empty one where that is not sure."""
    eight = eight_at(buf, uint64(at))
    if eight == _HTTPS:
        start = at + 8
    elif eight & _SEVEN == _HTTP:
        start = at + 7
    else:
        return at, at
    i = start
    while i < end and (
        ch.LOWER_A <= buf[i] <= ch.LOWER_Z
        or ch.DIGIT_0 <= buf[i] <= ch.DIGIT_9
        or (buf[i] == ch.DASH or buf[i] == ch.DOT)
    ):
        i += 1
    if (i < end and buf[i] != ch.SLASH) or i >= at + HOST_WITHIN or buf[i - 1] == ch.DOT:
        return at, at
    return start, i


@part()
def decoded(
    buf: NDArray[np.uint8], at: Int, end: Int, most: Int, look: Tables, to: NDArray[np.uint8]
) -> Int:
    """The value as an address: references decoded, tabs and line ends out, trimmed. Its length.

    `most` bounds the bytes read; `to` has twice that and some.
    """
    end = min(end, at + most)
    n = 0
    i = at
    while i < end:
        c = int64(buf[i])
        if c == ch.AMPERSAND:
            stop, one, two = reference(buf, i, end, True, look)
            if stop > i:
                n = put_utf8(to, n, one)
                if two:
                    n = put_utf8(to, n, two)
                i = stop
                continue
        i += 1
        if c == ch.TAB or c == ch.LINE_FEED or c == ch.RETURN or (c <= ch.SPACE and n == 0):
            continue
        to[n] = c
        n += 1
    while n > 0 and to[n - 1] <= ch.SPACE:
        n -= 1
    return n


@part()
def host_span(text: NDArray[np.uint8], n: Int, secure: Bool) -> Tuple:
    """(where, start, end): NO_PAGE; OTHER_SITE with the host's span in the text; RELATIVE, to an
    http or https page (`secure`), with where its path starts, twice."""
    i = 0
    own = True
    if n > 0 and is_letter(text[0]):
        while i < n and (
            is_letter(text[i])
            or ch.DIGIT_0 <= text[i] <= ch.DIGIT_9
            or (text[i] == ch.PLUS or text[i] == ch.DASH or text[i] == ch.DOT)
        ):
            i += 1
        if i < n and text[i] == ch.COLON:
            if not _is_web(text, i):
                return NO_PAGE, 0, 0
            own = (i == 5) == secure
            i += 1
        else:
            i = 0
    after_scheme = i
    while i < n and (text[i] == ch.SLASH or text[i] == ch.BACKSLASH):
        i += 1
    # To an http page `http:page` and `http:/path` are relative, `https:host` is not.
    if own and i - after_scheme < 2:
        return RELATIVE, after_scheme, after_scheme
    start = i
    while i < n and not (
        text[i] == ch.SLASH
        or text[i] == ch.BACKSLASH
        or text[i] == ch.QUESTION
        or text[i] == ch.HASH
    ):
        if text[i] == ch.AT:
            start = i + 1
        i += 1
    end = i
    # A port, unless the colon is one of an IPv6 address.
    k = end - 1
    while k >= start and ch.DIGIT_0 <= text[k] <= ch.DIGIT_9:
        k -= 1
    if k >= start and text[k] == ch.COLON:
        end = k
    if end > start and text[end - 1] == ch.DOT:
        end -= 1
    return OTHER_SITE, start, end


@part()
def _is_web(text: NDArray[np.uint8], length: Int) -> Bool:
    if length < 4 or length > 5:
        return False
    word = uint64(0)
    for i in range(length):
        word = word << uint64(8) | uint64(text[i] | ch.LOWER)
    return word == ch.HTTP or word == ch.HTTPS


@part()
def compare_host(
    text: NDArray[np.uint8], start: Int, end: Int, buf: NDArray[np.uint8], work: Work
) -> Int:
    """SAME_HOST, SAME_SITE or OTHER_SITE."""
    host, site, site_end = work.bound[3], work.bound[4], work.bound[5]
    length = end - start
    host_length = site - host
    site_length = site_end - site
    if length == host_length and host_length > 0 and _same(text, start, buf, host, length):
        return SAME_HOST
    if site_length == 0 or length < site_length:
        return OTHER_SITE
    tail = end - site_length
    if not _same(text, tail, buf, site, site_length):
        return OTHER_SITE
    # `notexample.org` is not of the site `example.org`.
    if tail == start or text[tail - 1] == ch.DOT:
        return SAME_SITE
    return OTHER_SITE


@part()
def _same(
    text: NDArray[np.uint8], start: Int, buf: NDArray[np.uint8], at: Int, length: Int
) -> Bool:
    for k in range(length):
        c = text[start + k]
        if ch.UPPER_A <= c <= ch.UPPER_Z:
            c |= ch.LOWER
        if c != buf[at + k]:
            return False
    return True


@part()
def destination(
    buf: NDArray[np.uint8], at: Int, end: Int, work: Work, look: Tables, text: NDArray[np.uint8],
) -> Int:  # fmt: skip
    """Where the address in an attribute's value leads."""
    if plainly_relative(buf, at, end):
        return RELATIVE
    start, stop = plain_host(buf, at, end)
    if start < stop:
        return compare_host(buf, start, stop, buf, work)
    n = decoded(buf, at, end, HOST_WITHIN, look, text)
    where, start, stop = host_span(text, n, _is_secure(buf, work))
    if where == OTHER_SITE:
        return compare_host(text, start, stop, buf, work)
    return where


@part()
def begin_base(
    buf: NDArray[np.uint8], at: Int, end: Int, work: Work, look: Tables, base: NDArray[np.uint8],
    term: NDArray[np.uint8],
) -> Int:  # fmt: skip
    """Where a `base` leads: RELATIVE if it names no host.

    The terms of images below a base on another host start with it: their hashes are begun here,
    once, so that many images below a long base cost no more than their own bytes.
    """
    n = decoded(buf, at, end, BASE_WITHIN, look, base)
    where, start, stop = host_span(base, n, _is_secure(buf, work))
    if where != OTHER_SITE:
        return RELATIVE
    where = compare_host(base, start, stop, buf, work)
    for from_root in range(2):
        length = _put_base(buf, work, base, n, from_root == 1, term)
        h, w, used, size = push_bytes(
            work.secrets[0], uint64(0), uint64(0), term, length, work.secrets[1]
        )
        work.below[4 * from_root] = h
        work.below[4 * from_root + 1] = w
        work.below[4 * from_root + 2] = used
        work.below[4 * from_root + 3] = uint64(size)
    return where


@part()
def picture_hash(
    buf: NDArray[np.uint8], at: Int, end: Int, work: Work, look: Tables, text: NDArray[np.uint8],
    term: NDArray[np.uint8], below_base: Bool,
) -> Tuple:  # fmt: skip
    """(whether an IMG has a term, its hash, its characters) (Henzinger 2006, section 2).

    On the page's own host the file's name; on another the whole address, its scheme and host in
    lower case. `below_base`: relative addresses are below a `base` on another host.
    """
    h, w, used, before = work.secrets[0], uint64(0), uint64(0), 0
    n = decoded(buf, at, end, end - at, look, text)
    if n == 0:  # no image, below any base (HTML standard, "update the image data")
        return False, h, 0
    where, start, stop = host_span(text, n, _is_secure(buf, work))
    if where == RELATIVE and below_base:
        from_root = 4 if start < n and _is_slash(text[start]) else 0
        h, w, used = work.below[from_root], work.below[from_root + 1], work.below[from_root + 2]
        before = int64(work.below[from_root + 3])
        length = _put(text, start, n, term, 0)
    elif where == NO_PAGE:
        length = _put(text, 0, n, term, 0)
    elif where == RELATIVE or compare_host(text, start, stop, buf, work) == SAME_HOST:
        length = _file_name(text, stop, n, term)
        if length == 0:
            return False, h, 0
    else:
        length = _put_lower(text, stop, term, _put_scheme(buf, work, text, term))
        length = _put(text, stop, n, term, length)
    h, w, used, size = push_bytes(h, w, used, term, length, work.secrets[1])
    return True, finish(h, w, work.secrets), before + size


@part()
def _put(text: NDArray[np.uint8], start: Int, end: Int, term: NDArray[np.uint8], n: Int) -> Int:
    for i in range(end - start):
        term[n + i] = text[start + i]
    return n + end - start


@part()
def _is_slash(c: Int) -> Bool:
    return c == ch.SLASH or c == ch.BACKSLASH


@part()
def _file_name(text: NDArray[np.uint8], at: Int, n: Int, term: NDArray[np.uint8]) -> Int:
    """What stands after the path's last slash."""
    start = i = at
    while i < n and text[i] != ch.QUESTION and text[i] != ch.HASH:
        if _is_slash(text[i]):
            start = i + 1
        i += 1
    return _put(text, start, i, term, 0)


@part()
def _is_secure(buf: NDArray[np.uint8], work: Work) -> Bool:
    """Whether the page's own scheme is https."""
    at = work.bound[1]
    return work.bound[2] - at > 5 and (buf[at + 4] | ch.LOWER) == ch.LOWER_S


@part()
def _put_scheme(
    buf: NDArray[np.uint8], work: Work, text: NDArray[np.uint8],
    term: NDArray[np.uint8],
) -> Int:  # fmt: skip
    """The page's own scheme, if the address starts with its slashes; the length."""
    if not _is_slash(text[0]):
        return 0
    term[0], term[1] = ch.LOWER_H, ch.LOWER_T
    term[2], term[3] = ch.LOWER_T, ch.LOWER_P
    n = 4
    if _is_secure(buf, work):
        term[4] = ch.LOWER_S
        n = 5
    term[n] = ch.COLON
    return n + 1


@part()
def _put_lower(text: NDArray[np.uint8], end: Int, term: NDArray[np.uint8], n: Int) -> Int:
    for i in range(end):
        c = text[i]
        term[n + i] = c | ch.LOWER if ch.UPPER_A <= c <= ch.UPPER_Z else c
    return n + end


@part()
def _put_base(
    buf: NDArray[np.uint8], work: Work, base: NDArray[np.uint8], base_length: Int,
    from_root: Bool, term: NDArray[np.uint8],
) -> Int:  # fmt: skip
    """The base up to its host, or up to its path's last slash; the length."""
    _, _, stop = host_span(base, base_length, _is_secure(buf, work))
    i = stop
    # A port.
    while (
        i < base_length and not _is_slash(base[i]) and base[i] != ch.QUESTION and base[i] != ch.HASH
    ):
        i += 1
    end = i
    while not from_root and i < base_length and base[i] != ch.QUESTION and base[i] != ch.HASH:
        i += 1
        if _is_slash(base[i - 1]):
            end = i
    length = _put_lower(base, stop, term, _put_scheme(buf, work, base, term))
    length = _put(base, stop, end, term, length)
    if not from_root and not _is_slash(term[length - 1]):
        term[length] = ch.SLASH
        length += 1
    return length
