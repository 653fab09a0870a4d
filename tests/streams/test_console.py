"""Strangers' texts as people see them."""

from __future__ import annotations

import pytest

from reusewatch.streams.console import csv_line, harmless

SPACES = "\xa0\u1680\u2000\u2003\u2009\u202f\u205f\u3000"
NO_GLYPH = "\xad\u200b\u200c\u200d\u2060\ufeff"


def test_a_space_of_any_width_is_shown_as_a_space() -> None:
    assert harmless(f"a{SPACES}b") == f"a{' ' * len(SPACES)}b"


def test_what_has_no_glyph_is_not_shown() -> None:
    assert harmless(f"co{NO_GLYPH}py") == "copy"


@pytest.mark.parametrize(
    "char", "\x00\x07\x1b\x7f\x85\x9b\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069\ufffe"
)
def test_what_a_terminal_obeys_is_shown_as_an_escape(char: str) -> None:
    assert harmless(f"a{char}b") == f"a{repr(char)[1:-1]}b"


@pytest.mark.parametrize("before", ["", *SPACES, *NO_GLYPH, "\xad\xa0", "\t"])
def test_a_formula_is_a_text_in_a_spreadsheet_whatever_is_before_it(before: str) -> None:
    assert csv_line([f"{before}=1+1"]).startswith("'")


def test_a_negative_number_is_a_number_in_a_spreadsheet() -> None:
    assert csv_line([-1.5, "-1.5"]) == "-1.5,'-1.5\n"
