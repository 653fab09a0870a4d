"""The words in which pages differ."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.scanning.differences import LONGEST, differences

_words = st.lists(st.sampled_from(["a", "b", "cc", "ddd", "e"]), max_size=30)


@given(_words, _words, st.integers(0, 5))
def test_twin(here: list[str], there: list[str], most: int) -> None:
    found = differences(here, there, most)
    for mine, others, only in (
        (here, there, found.only_here),
        (there, here, found.only_there),
    ):
        own = [word for word in mine if mine.count(word) > others.count(word)]
        assert list(only) == sorted(set(own), key=own.index)[:most]
    assert found.shared == sum(min(here.count(word), there.count(word)) for word in set(here))


def test_a_long_word_is_cut() -> None:
    (word,) = differences(["x" * 1000], []).only_here
    assert (len(word), word[-1]) == (LONGEST, "…")
