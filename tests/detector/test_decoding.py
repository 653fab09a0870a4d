"""Charsets to UTF-8 and offsets back to the body."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detector.decoding import codec_of, decode
from detector.scan import scan

_CODECS = [
    "windows-1252", "windows-1251", "iso-8859-2", "koi8-r", "shift_jis", "euc-jp", "iso-2022-jp",
    "gb18030", "big5", "euc-kr", "utf-16le", "utf-16be", "utf-16", "utf-32le", "tis-620", "hz",
]  # fmt: skip


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("utf-8", "utf-8"), ("UTF8", "utf-8"), (" Utf-8 ", "utf-8"), ("latin1", "cp1252"),
        ("iso-8859-1", "cp1252"), ("ISO-8859-1", "cp1252"), ("us-ascii", "cp1252"),
        ("windows-1251", "cp1251"), ("gb2312", "gb18030"), ("Shift_JIS", "cp932"),
        ("utf-16", "utf-16-le"),
        ("iso-8859-15", "iso8859-15"), ("euc-jp", "euc_jp"), ("", "cp1252"), ("nonsense", "cp1252"),
        ("hex", "cp1252"), ("utf-7", "cp1252"), ("unicode_escape", "cp1252"), ("idna", "cp1252"),
        ("a\0b", "cp1252"), ("x" * 5000, "cp1252"), ("é", "cp1252"),
    ],
)  # fmt: skip
def test_labels(label: str, codec: str) -> None:
    assert codec_of(label) == codec


@given(st.binary())
def test_utf8_is_not_copied_and_offsets_stay(body: bytes) -> None:
    found = decode(body, "utf-8")
    assert found.utf8 is body
    assert found.body_offset(len(body)) == len(body)


@pytest.mark.parametrize("charset", _CODECS)
@given(body=st.binary(max_size=200))
def test_any_body_in_any_charset(charset: str, body: bytes) -> None:
    found = decode(body, charset)
    found.utf8.decode("utf-8")
    offsets = [found.body_offset(offset) for offset in range(len(found.utf8) + 1)]
    assert offsets == sorted(offsets)
    assert offsets[-1] == len(body)


# A part of an HZ body says nothing without what came before it.
@pytest.mark.parametrize("charset", _CODECS[:-1])
@pytest.mark.parametrize("before", [0, 5, 4093, 9001])
def test_an_offset_leads_to_the_word_in_the_body(charset: str, before: int) -> None:
    codec = codec_of(charset)
    word = {"tis-620": "ไทย", "iso-8859-2": "žluť", "windows-1252": "été", "big5": "漢字",
    "euc-kr": "한국", "shift_jis": "漢字", "euc-jp": "漢字",
            "iso-2022-jp": "漢字"}.get(charset, "где")  # fmt: skip
    text = "x" + "x" * before + " " + word + " tail"
    body = text.encode(codec)
    found = decode(body, charset)
    assert found.utf8.decode() == text
    result = scan(found.utf8, key=1, html=False)
    start = found.body_offset(int(result.starts[1]))
    end = found.body_offset(int(result.ends[-2]))
    assert body[start:end].decode(codec) == word


def test_byte_order_marks_end_no_word_and_start_none() -> None:
    for body, charset in ((b"\xef\xbb\xbfab", "utf-8"), ("\ufeffab".encode("utf-16-le"), "utf-16")):
        result = scan(decode(body, charset).utf8, key=1)
        assert len(result.hashes) == 1
        assert result.hashes.tolist() == scan(b"ab", key=1).hashes.tolist()
