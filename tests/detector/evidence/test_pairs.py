"""What is told of two pages, in bytes of their bodies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.evidence.pages import LONGEST, words_of_pages
from reusewatch.detector.evidence.pairs import Pair, compare
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.sketching.fingerprint import Document

SCHEME = HashScheme()
TEXT = "The quick brown fox jumps over a lazy dog while naïve Übermenschen watch 天気 from afar"
OWN = "Entirely different words stand here which nobody else has written down before"
ENCODINGS = ["utf-8", "utf-16-le", "gb18030", "shift_jis"]


def pair(here: bytes | str, there: bytes | str, **more: str) -> Pair:
    bodies = [page.encode() if isinstance(page, str) else page for page in (here, there)]
    return compare(*words_of_pages([Document(body, **more) for body in bodies], SCHEME), SCHEME)


def test_a_run_has_its_place_on_both_sides() -> None:
    here, there = f"<h1>{OWN}</h1><p>{TEXT}", f"<div><b>{TEXT[:9]}</b>{TEXT[9:]}</div>"
    found = pair(here, there)
    (row,) = found.copied(5)
    assert here.encode()[row.start : row.end].decode() == TEXT
    assert there.encode()[row.donor_start : row.donor_end].decode() == there[8:-6]
    assert row.text == TEXT
    assert found.share_there == 1
    assert 0 < found.share_here < 1
    assert found.only_here[:3] == ("entirely", "different", "words")
    assert found.only_there == ()


@pytest.mark.parametrize("charset", ENCODINGS)
def test_bytes_are_those_of_the_body_in_any_charset(charset: str) -> None:
    text = "Words that 天気 every charset has, 日本語 and one more of them at the end"
    here = f"<p>さくら</p><p>{text}</p>".encode(charset)
    there = f"<p>{text}</p>".encode(charset)
    (row,) = pair(here, there, charset=charset).copied(1)
    assert here[row.start : row.end].decode(charset) == text
    assert there[row.donor_start : row.donor_end].decode(charset) == text


def test_a_title_behind_the_text_makes_no_backward_span() -> None:
    title = "One two three four"
    page = f"<p>{TEXT}</p><title>{title}</title>"
    (row,) = pair(page, page).copied(1)
    assert page.encode()[row.start : row.end].decode() == TEXT
    (row,) = pair(f"<title>{title}</title><p>{TEXT}</p>", page).copied(1)
    assert page.encode()[row.donor_start : row.donor_end].decode() == TEXT


_word = st.text("ab&<é", min_size=1, max_size=3) | st.sampled_from(["a", "b", "c", "d"])


@given(*[st.lists(_word, max_size=30)] * 2)
def test_any_pages_have_spans_within_their_bodies(here: list[str], there: list[str]) -> None:
    bodies = " ".join(here), " ".join(there)
    found = pair(*bodies)
    for row in found.copied(99):
        assert 0 <= row.start < row.end <= len(bodies[0].encode())
        assert 0 <= row.donor_start < row.donor_end <= len(bodies[1].encode())
    assert 0 <= found.share_here <= 1


def test_words_are_told_as_a_reader_sees_them() -> None:
    long = "x" * 1000
    found = pair(f"<p>W<b>or</b>d caf&eacute; {long} <img src='/a/Logo.png'>", "<p>else")
    assert found.only_here[:2] == ("word", "café")
    assert (len(found.only_here[2]), found.only_here[2][-1]) == (LONGEST, "…")
    assert found.only_here[3] == "Logo.png"
    assert found.only_there == ("else",)


def test_pages_without_words_have_nothing_in_common() -> None:
    found = pair("", "<p></p>")
    assert (found.copied(5), found.share_here, found.share_there) == ([], 0, 0)
