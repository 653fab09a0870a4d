"""Mark, header, meta: in this order, by the labels that browsers know; the rest is left open."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.crawler.pages.charsets import charset_of

_META = b'<meta charset="koi8-r">'
_RUSSIAN = "Все счастливые семьи похожи друг на друга, каждая несчастливая семья " * 4


@pytest.mark.parametrize(
    ("body", "content_type", "wanted"),
    [
        (codecs.BOM_UTF8 + _META, "text/html; charset=latin1", ("utf-8", "bom")),
        (codecs.BOM_UTF16_LE + b"<\0", "text/html", ("utf-16-le", "bom")),
        (codecs.BOM_UTF16_BE + b"\0<", "text/html", ("utf-16-be", "bom")),
        (_META, "text/html; charset=ISO-8859-1", ("windows-1252", "header")),
        (_META, 'text/html; charset="Shift_JIS"', ("shift-jis", "header")),
        (_META, "text/html; charset=nonsense", ("koi8-r", "meta")),
        (_META, "text/html", ("koi8-r", "meta")),
        (b'<meta http-equiv=x content="text/html; charset=gb2312">', "", ("gbk", "meta")),
        (b'<meta charset="utf-16">', "", ("utf-8", "meta")),
        (b'<?xml version="1.0" encoding="iso-8859-2"?><html>', "", ("iso8859-2", "meta")),
        (b"<!-- " + _META + b" -->", "text/html", ("utf-8", "detected")),
        (b" " * 2000 + _META, "text/html", ("utf-8", "detected")),
        ("<p>ä".encode(), "text/html", ("utf-8", "detected")),
        (b"<p>", "", ("utf-8", "detected")),
        (b"", "", ("utf-8", "detected")),
        (_RUSSIAN.encode("cp1251"), "", (None, None)),
        ("In UTF-16".encode("utf-16-le"), "", (None, None)),
    ],
)
def test_the_order_is_that_of_browsers(body: bytes, content_type: str, wanted: object) -> None:
    assert charset_of(body, content_type) == wanted


@given(st.binary(max_size=300), st.text(max_size=40))
def test_the_name_is_always_one_that_python_knows(body: bytes, label: str) -> None:
    name, _ = charset_of(body, f"text/html; charset={label}")
    assert name is None or codecs.lookup(name)
