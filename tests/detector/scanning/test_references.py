"""Character references, against the standard's table and its rules (HTML standard, 13.2.5.72)."""

from __future__ import annotations

import html
import html.entities
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reusewatch.detector.scanning.readable import Readable, attribute_text, folded
from tests.detector.helpers import fields, hashed, scanned, words
from tests.detector.scanning.twins import words_of


def test_all_named_references_in_text() -> None:
    assert len(html.entities.html5) == 2231
    for name, characters in html.entities.html5.items():
        for after in ("", "x", " ", "=", ";"):
            page = f"a&{name}{after}"
            if name.endswith(";"):
                assert hashed(page) == words_of(f"a{characters}{after}"), page
            else:
                assert hashed(page) == words_of(html.unescape(page)), page


def test_all_named_references_in_attributes() -> None:
    for name, characters in html.entities.html5.items():
        for after in ("", "x", " ", "=", "1"):
            page = f'<meta name=keywords content="a&{name}{after}">'
            kept = not name.endswith(";") and after in ("x", "=", "1")
            longer = name + after in html.entities.html5
            expected = f"a{'&' + name if kept and not longer else characters}{after}"
            if longer or (name + after + ";") in html.entities.html5:
                expected = attribute_text(f"a&{name}{after}")
            assert [folded(word) for word, _ in fields(page)] == words_of(expected), page


@pytest.mark.parametrize(
    ("reference", "character"),
    [
        ("&#65;", "A"), ("&#65", "A"), ("&#x41;", "A"), ("&#X41", "A"),
        ("&#0000000000000065;", "A"),
        ("&#128;", "€"), ("&#x9F;", "Ÿ"), ("&#x81;", "\x81"), ("&#0;", "\ufffd"),
        ("&#xD800;", "\ufffd"), ("&#x110000;", "\ufffd"), ("&#99999999999999999999999;", "\ufffd"),
        ("&#x10FFFF;", "\U0010ffff"), ("&#;", "&#;"), ("&#x;", "&#x;"), ("&#xg;", "&#xg;"),
        ("&;", "&;"), ("&", "&"), ("&unknown;", "&unknown;"), ("&notit;", "¬it;"),
        ("&notin;", "∉"), ("&AMP", "&"), ("&eacutes", "és"), ("&fjlig;", "fj"),
        ("&CounterClockwiseContourIntegral;", "∳"), ("&aMp;", "&aMp;"),
    ],
)  # fmt: skip
def test_a_reference_in_text(reference: str, character: str) -> None:
    assert hashed(f"x{reference}y") == words_of(f"x{character}y")
    assert Readable(scanned(f"x{reference}y")).text == html.unescape(f"x{reference}y")


@given(st.text(st.sampled_from("&#xX;=aeltgmpcouyi123 "), max_size=30))
@example("1&#1X")
def test_soup_of_references(text: str) -> None:
    # Python drops a control character that is referred to. To browsers it is one, and ends a word.
    kept = re.sub(
        "&#(x[0-9a-f]+|[0-9]+);?", lambda m: m[0] if html.unescape(m[0]) else " ", text, flags=re.I
    )
    assert hashed(text) == words_of(html.unescape(kept))


def test_references_are_decoded_before_words_are_cut() -> None:
    assert words("caf&eacute; na&iuml;ve &#x30;1 a&nbsp;b a&shy;b") == [
        "café", "naïve", "01", "a", "b", "ab",
    ]  # fmt: skip
