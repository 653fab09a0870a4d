"""The words in which pages differ."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.evidence.own_words import own_words

_words = st.lists(st.integers(0, 6), max_size=30)


@given(_words, _words, st.integers(0, 5), st.integers(0, (1 << 64) - 1))
def test_twin(here: list[int], there: list[int], most: int, salt: int) -> None:
    columns = (np.array(words, np.uint64) for words in (here, there))
    found = own_words(*columns, salt, most)
    for mine, others, only in ((here, there, found[0]), (there, here, found[1])):
        own = {word for word in mine if mine.count(word) > others.count(word)}
        assert only == sorted(map(mine.index, own))[:most]
