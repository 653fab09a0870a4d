"""Charsets to UTF-8 and offsets back to the body."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.scanning.decoding import Decoded, codec_of, decode
from reusewatch.detector.scanning.scan import scan

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
    assert found.body_offsets(np.arange(3)).tolist() == [0, 1, 2]


def _offsets(found: Decoded) -> list[int]:
    """Where each character begins in the body, and where the last one ends."""
    sizes = [len(character.encode()) for character in found.utf8.decode()]
    return found.body_offsets(np.cumsum([0, *sizes])).tolist()


@pytest.mark.parametrize("charset", _CODECS)
@given(body=st.binary(max_size=200))
def test_any_body_in_any_charset(charset: str, body: bytes) -> None:
    found = decode(body, charset)
    text, offsets = found.utf8.decode(), _offsets(found)
    assert offsets == sorted(offsets)
    assert offsets[-1] == len(body)
    codec = found.charset
    if codec == "utf-8" or codec in ("hz", "iso2022_jp"):  # among broken bytes they are near
        return
    for number, character in enumerate(text):
        here = body[offsets[number] : offsets[number + 1]].decode(codec, "replace")
        assert here == character or codec == "big5hkscs", number  # has pairs for one sequence


@pytest.mark.parametrize("charset", _CODECS)
@given(text=st.text("aé~漢字где\n한ツ {}", max_size=60), broken=st.sampled_from([b"", b"\xff"]))
def test_a_character_is_where_the_text_before_it_ends(
    charset: str, text: str, broken: bytes
) -> None:
    codec = codec_of(charset)
    body = text.encode(codec, "ignore") + broken + text.encode(codec, "ignore")
    found = decode(body, charset)
    if found.charset == "utf-8":
        return
    read, offsets = found.utf8.decode(), _offsets(found)
    for number in range(len(read) if not broken or codec not in ("hz", "iso2022_jp") else 0):
        assert body[: offsets[number]].decode(codec, "replace") == read[:number]


@pytest.mark.parametrize("charset", ["iso-2022-jp", "hz"])
def test_words_between_escape_sequences_are_found(charset: str) -> None:
    codec = codec_of(charset)
    words = ["中国", "lamp", "日本", "~x" if charset == "hz" else "x"] * 40
    body = "".join(words).encode(codec)
    found = decode(body, charset)
    at = np.cumsum([0, *(len(word.encode()) for word in words)])
    offsets = found.body_offsets(at).tolist()
    for number, offset in enumerate(offsets):
        assert body[:offset].decode(codec) == "".join(words[:number])
    assert offsets[-1] >= len(body) - 3  # the last escape sequence has no character


@pytest.mark.parametrize("charset", ["gb18030", "iso-2022-jp", "euc-jp"])
def test_a_page_of_garbage_ends_where_its_body_ends(charset: str) -> None:
    body = b"<p>\xff\x1b$B\x81" * 50_000
    found = decode(body, charset)
    at = np.array([0, len(found.utf8) // 2, len(found.utf8)])
    offsets = found.body_offsets(at).tolist()
    assert offsets == sorted(offsets)
    assert (offsets[0], offsets[-1]) == (0, len(body))


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
    spans = np.array([result.starts[1], result.ends[-2]], np.int64)
    start, end = found.body_offsets(spans).tolist()
    assert body[start:end].decode(codec) == word


def test_byte_order_marks_end_no_word_and_start_none() -> None:
    for body, charset in ((b"\xef\xbb\xbfab", "utf-8"), ("\ufeffab".encode("utf-16-le"), "utf-16")):
        result = scan(decode(body, charset).utf8, key=1)
        assert len(result.hashes) == 1
        assert result.hashes.tolist() == scan(b"ab", key=1).hashes.tolist()


@pytest.mark.parametrize("charset", ["iso-2022-jp", "hz", "euc-kr", "shift_jis", "utf-16"])
def test_offsets_take_memory_of_a_few_times_the_page(charset: str) -> None:
    """A crawled page chooses its charset, and its size."""
    page = decode(b"\xff" * 2_000_000, charset)
    places = np.arange(0, len(page.utf8), 1000)
    tracemalloc.start()
    page.body_offsets(places)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 14 * len(page.body)
