"""What is shown of hostile pages: their words, text, links and the excerpts of their chunks."""

from __future__ import annotations

import pytest

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.scanning.readable import Readable
from reusewatch.detector.sketching.fingerprint import EXCERPT, Document, fingerprints
from tests.detector.helpers import scanned, words
from tests.detector.scanning.hostile_rows import ROWS, row

_LONG_NUMBERS = "".join(f"<p>caf&#{'0' * n}233; x&#{'1' * n}" for n in (0, 1, 6, 7, 8, 4299, 9999))


@pytest.mark.parametrize("name", ROWS)
def test_a_hostile_page_can_be_read(name: str) -> None:
    page = row(name, 20_000)
    readable = Readable(scanned(page))
    assert len(readable.words()) == len(scanned(page).hashes)
    assert len(readable.text) <= len(page)
    readable.links()
    for chunks in ("text", "raw"):
        made = fingerprints([Document(page), Document(b"<p>next")], HashScheme(), chunks=chunks)
        for chunk in range(len(made.chunk_starts)):
            which = int(chunk >= made.sketches.chunks.hashes.offsets[1])
            assert len(made.texts.of(which, chunk)) <= EXCERPT


def test_numbers_of_any_length_are_characters() -> None:
    assert words(_LONG_NUMBERS)[::2] == ["café"] * 7
    readable = Readable(scanned(_LONG_NUMBERS))
    assert readable.text.count("café") == 7
    (link,) = Readable(scanned(f"<a href='/&#{'0' * 9999}65;'>x</a>")).links()
    assert link.url == "/A"
    made = fingerprints([Document(_LONG_NUMBERS.encode())], HashScheme(), chunks="raw")
    assert made.texts.of(0, 6).startswith("café x")


def test_words_among_many_tags_are_read_in_linear_time() -> None:
    page = "<b>a</b> " * 60_000
    assert words(page) == ["a"] * 60_000


def test_an_excerpt_of_bytes_is_without_tags() -> None:
    body = b"<p>a <b title='" + b"x" * 300 + b"'>b</b> c < d<i" + b"<" * 200_000 + b"</p><p>e"
    made = fingerprints([Document(body)], HashScheme(), chunks="raw")
    shown = made.texts.of(0, 0)
    assert shown.startswith("a b c < d")
    assert "title" not in shown
