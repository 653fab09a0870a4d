"""The words in which pages differ."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from detector.differences import LONGEST, differences

_words = st.lists(st.sampled_from(["a", "b", "cc", "ddd", "e"]), max_size=30)


@given(_words, _words, st.integers(0, 5))
def test_twin(here: list[str], there: list[str], most: int) -> None:
    found = differences(here, there, most)
    for mine, others, only, unnamed in (
        (here, there, found.only_here, found.unnamed_here),
        (there, here, found.only_there, found.unnamed_there),
    ):
        own = {word for word in mine if word not in others}
        assert len(only) == min(most, len(own))
        assert len(only) + unnamed == len(own)
        assert all(word in own and count == mine.count(word) for word, count in only)
        assert list(only) == sorted(only, key=lambda each: (-each[1], -len(each[0]), each[0]))
    assert found.shared == sum(min(here.count(word), there.count(word)) for word in set(here))


def test_a_long_word_is_cut() -> None:
    ((word, count),) = differences(["x" * 1000], []).only_here
    assert (len(word), word[-1], count) == (LONGEST, "…", 1)
