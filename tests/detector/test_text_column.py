"""Texts as arrays."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.text_column import packed, unpacked


@given(st.lists(st.text(st.characters())))
def test_texts_come_back(texts: list[str]) -> None:
    assert unpacked(packed(texts)) == texts


def test_lone_surrogates_come_back() -> None:
    assert unpacked(packed(["http://h/\ud800"])) == ["http://h/\ud800"]
