"""Heads of answers: what is asked of one is what a look at all of it would say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reusewatch.crawler.archives.headers import (
    ASKED,
    BLANK_LINE,
    asked_of,
    blank_line,
    fields_of,
)

_PIECES = st.sampled_from(
    [b"\n", b"\r\n", b"\r", b":", b": ", b" ", b"\t", b"x", b"\xc3\xa9", b"\xff", b"\0", b"\x1c"]
    + [name.encode() for name in ASKED]
    + [name.upper().encode() for name in ASKED]
    + ["transfer-encodıng".encode(), b"chunked", b"gzip", b"Content-Types"]
)
_HEADS = st.lists(_PIECES, max_size=14).map(b"".join)


@given(_HEADS)
def test_what_is_asked_of_a_head_is_what_all_of_it_says(head: bytes) -> None:
    everything, asked = fields_of(head), asked_of(head)
    assert [asked.get(name) for name in ASKED] == [everything.get(name) for name in ASKED]


def test_a_second_encoding_is_one_more_and_a_second_type_is_none() -> None:
    head = b"Content-Type: a\nContent-Encoding: br\ncontent-encoding: gzip\ncontent-type: b"
    assert asked_of(head)["content-encoding"] == "br, gzip"
    assert asked_of(head)["content-type"] == "a"


@given(_HEADS, st.integers(0, 8), st.integers(0, 60))
def test_a_head_ends_where_the_first_empty_line_is(data: bytes, begin: int, end: int) -> None:
    found = BLANK_LINE.search(data, begin, end)
    assert blank_line(data, begin, end) == (found and found.span())
