"""What a page's bytes look like, and labels: as the library says that a crawl host goes without."""

from __future__ import annotations

import codecs
from encodings.aliases import aliases

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from resiliparse.parse.encoding import detect_encoding, map_encoding_to_html5

from reusewatch.streams.charset_labels import LABELS
from reusewatch.streams.charsets import by_label, charset_of, detected, is_utf8
from reusewatch.streams.records import Page
from tests.strategies import pages

# The standard has them, the library has not.
_OURS = {"x-mac-cyrillic", "x-mac-ukrainian"}
_BEGIN = 1 << 16
_RUSSIAN = "Все счастливые семьи похожи друг на друга, каждая несчастливая семья " * 4


def plainly_by_label(label: str) -> str:
    """The library's answer, by the name that Python has for it."""
    found = map_encoding_to_html5(label.strip().lower(), fallback_utf8=False)
    name = (found or "").lower().replace("_", "-").replace("cp125", "windows-125")
    try:
        codecs.lookup(name)
    except LookupError:
        return ""
    return name


def plainly_detected(body: bytes) -> str:
    """UTF-8 where Python decodes it and it is not full of NULs; else what the library says."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body[:_BEGIN], len(body) <= _BEGIN)
        otherwise = "utf-8"
    except UnicodeDecodeError:
        otherwise = "windows-1252"
    if otherwise == "utf-8" and body[:_BEGIN].count(0) <= len(body[:_BEGIN]) // 8:
        return "utf-8"
    return plainly_by_label(detect_encoding(body[:_BEGIN])) or otherwise


@pytest.mark.parametrize("label", sorted({*LABELS, *aliases, *aliases.values()} - _OURS))
def test_a_label_means_what_it_means_to_the_library(label: str) -> None:
    assert by_label(f" {label.upper()}\n") == plainly_by_label(label)


def test_every_name_is_one_that_python_knows() -> None:
    assert all(codecs.lookup(name) for name in LABELS.values())


@given(st.text(max_size=30))
def test_what_is_no_label_is_none(label: str) -> None:
    assert by_label(label) == plainly_by_label(label) or label.strip().lower() in _OURS


@given(st.binary(max_size=300) | st.text(max_size=100).map(lambda text: text.encode("utf-16-le")))
def test_detection_is_that_of_the_library(body: bytes) -> None:
    assert detected(body) == plainly_detected(body)
    assert not is_utf8(body) or detected(body) == "utf-8"


@pytest.mark.parametrize("size", [_BEGIN - 1, _BEGIN, _BEGIN + 1])
def test_a_character_that_the_limit_cuts_is_whole(size: int) -> None:
    body = b"a" * (size - 1) + "ä".encode()
    assert is_utf8(body)
    assert not is_utf8(body[:-1]) or size > _BEGIN
    assert detected(body) == "utf-8"


def test_windows_1251_is_told() -> None:
    assert detected(_RUSSIAN.encode("cp1251")) == "windows-1251"


@given(pages)
def test_what_the_source_has_said_counts(page: Page) -> None:
    said = msgspec.structs.replace(page, body=_RUSSIAN.encode("cp1251"), charset="koi8-r")
    assert charset_of(said) == "koi8-r"
    assert charset_of(msgspec.structs.replace(said, charset=None)) == "windows-1251"
