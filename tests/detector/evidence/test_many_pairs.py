"""Of many pairs at once is told what is told of each by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.evidence.many_pairs import told_of_pairs
from reusewatch.detector.evidence.pages import many_words
from reusewatch.detector.evidence.pairs import Told, compare
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.sketching.fingerprint import Document

SCHEME = HashScheme()
TEXT = "The quick brown fox jumps over a lazy dog while naïve Übermenschen watch 天気 from afar"
Pairs = list[tuple[int, int]]


def told(pages: list[Document], pairs: Pairs, most: int) -> list[Told]:
    return told_of_pairs(many_words(pages, SCHEME), pairs, SCHEME, most)


def each(pages: list[Document], pairs: Pairs, most: int) -> list[Told]:
    words = many_words(pages, SCHEME)
    found = (compare(words.page(here), words.page(there), SCHEME) for here, there in pairs)
    return [pair.told(most) for pair in found]


_words = st.lists(
    st.sampled_from(["a", "b", "c", "d", "é", "天気", "W<b>or</b>d", "caf&eacute;", "x" * 99])
    | st.sampled_from(["<p>", "<br>", "<img src=/x/Logo.png>", "<title>a b c a b</title>", "\n"]),
    max_size=40,
)
_pages = st.builds(
    lambda words, charset: Document(" ".join(words).encode(charset, "replace"), charset=charset),
    _words, st.sampled_from(["utf-8", "utf-8", "gb18030", "utf-16-le"]),
)  # fmt: skip


@given(st.data())
def test_many_pairs_are_told_as_each_by_itself(data: st.DataObject) -> None:
    pages = data.draw(st.lists(_pages, min_size=1, max_size=5))
    number = st.integers(0, len(pages) - 1)
    pairs = data.draw(st.lists(st.tuples(number, number), max_size=6))
    most = data.draw(st.integers(1, 6))
    assert told(pages, pairs, most) == each(pages, pairs, most)


def test_long_pages_with_many_passages_are_too() -> None:
    words = [f"w{n * n % 97}" for n in range(900)]
    pages = [
        Document(" ".join(words).encode()),
        Document(" ".join(word for n, word in enumerate(words) if n % 17).encode()),
        Document(" ".join(words[::-1]).encode()),
        Document(f"<title>{TEXT}</title><p>{TEXT} {' '.join(words[:99])}".encode()),
        Document(f"<p>{TEXT}<p>{' '.join(words[300:400])}<title>{TEXT}</title>".encode()),
        Document(b""),
    ]
    pairs = [(here, there) for here in range(6) for there in range(6)]
    found = told(pages, pairs, 5)
    assert found == each(pages, pairs, 5)
    assert max(len(one.copied) for one in found) == 5
    assert any(one.cut for one in found)


@pytest.mark.parametrize("pages", [[], [Document(b"a b c d e f")]])
def test_no_pairs_are_nothing(pages: list[Document]) -> None:
    assert told(pages, [], 5) == []
