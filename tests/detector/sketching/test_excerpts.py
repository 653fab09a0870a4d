"""The beginning of a page's text, cut in one piece where no markup is in it: as word by word."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.sketching import fingerprint
from reusewatch.detector.sketching.fingerprint import Document, fingerprints

_PIECES = st.sampled_from(
    ["a", "b c", "漢字", "x" * 290, "y" * 301, " ", " " * 310, "&amp;", "&#65;", "<b>w</b>", "<br>",
     "<p>", "é", ". ", "\0", "one two three four five six seven "]
)  # fmt: skip


@given(st.lists(st.tuples(_PIECES, st.integers(1, 60)), max_size=8))
@settings(max_examples=150)
def test_cut_in_one_piece_or_word_by_word_it_is_the_same(parts: list[tuple[str, int]]) -> None:
    body = "<title>t</title>" + "".join(piece * times for piece, times in parts)
    document = Document(body.encode())
    (fast,) = fingerprints([document], HashScheme()).facts
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprint, "_without_markup", lambda *_: None)
        (slow,) = fingerprints([document], HashScheme()).facts
    assert fast.excerpt == slow.excerpt
