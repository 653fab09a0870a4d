"""Popular places by counting: as sorting finds them, and in bounded time."""

from __future__ import annotations

from collections import Counter
from itertools import count, islice

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.phrases.places import counted_places

FUNCTIONS = 11
ROWS = st.lists(st.lists(st.integers(0, 3) | st.integers(0, (1 << 32) - 1), min_size=FUNCTIONS,
                         max_size=FUNCTIONS), min_size=1, max_size=20)  # fmt: skip


@given(ROWS, st.integers(1, 6), st.randoms())
def test_a_value_is_popular_if_so_many_have_it(rows: list[list[int]], least: int, dice) -> None:  # type: ignore[no-untyped-def]
    # As they stand in records: anywhere.
    fetches = np.zeros(len(rows), np.dtype([("other", "u1"), ("shingles", "u4", FUNCTIONS)]))
    fetches["shingles"] = rows
    some = dice.sample(range(len(rows)), dice.randint(1, len(rows)))
    found = counted_places(fetches["shingles"], np.array(some, np.int64), least=least)
    assert found is not None
    for function in range(FUNCTIONS):
        have = Counter(rows[row][function] for row in some)
        wanted = [have[rows[row][function]] >= least for row in some]
        assert found[function].tolist() == wanted


def test_values_that_meet_in_the_table_are_left_to_sorting() -> None:
    meet = (one for one in count() if int(mix(np.uint64(one))) & 255 == 0)
    values = np.array(list(islice(meet, 100)), np.uint32).reshape(-1, 1)
    assert counted_places(values, np.arange(100), least=5) is None
    assert counted_places(values, np.arange(10), least=5) is not None
