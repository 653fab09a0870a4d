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
    some = dice.sample(range(len(rows)), dice.randint(1, len(rows)))
    values = np.array([rows[row] for row in some], np.uint32).T
    groups = map(np.ascontiguousarray, np.split(values, [dice.randint(0, FUNCTIONS)]))
    found = counted_places(groups, len(some), functions=FUNCTIONS, least=least)
    assert found is not None
    for function in range(FUNCTIONS):
        have = Counter(rows[row][function] for row in some)
        wanted = [have[rows[row][function]] >= least for row in some]
        assert found[function].tolist() == wanted


def test_values_that_meet_in_the_table_are_left_to_sorting() -> None:
    meet = (one for one in count() if int(mix(np.uint64(one))) & 255 == 0)
    values = np.array(list(islice(meet, 100)), np.uint32).reshape(1, -1)
    few = values[:, :10].copy()
    assert counted_places([values], 100, functions=1, least=5) is None
    assert counted_places([few], 10, functions=1, least=5) is not None
