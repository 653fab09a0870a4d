"""Sums that no shares have, said by others of their partitions, end no worker and do not count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.mean_and_deviation import SHARE_BITS, Moments
from reusewatch.streams import topics
from reusewatch.streams.bus import Message, Partition
from reusewatch.streams.stages.neighboring import NeighborhoodStage
from reusewatch.streams.wire import headers_for
from tests.pages import SCHEME
from tests.streams.stages.making import NOW

HOSTILE = {
    "squares without end": (1, 0, "f" * 3000),
    "less than nothing": (-1000, 0, "0"),
    "a total over all shares": (1, 1 << 60, f"{1 << 120:x}"),
    "squares that are too few": (2, 1 << 33, "1"),
    "squares that are too many": (1, 0, f"{1 << 100:x}"),
    "no number": (1, 0, "-5"),
    "a count without end": (1 << 60, 0, "0"),
}


@pytest.mark.parametrize(("count", "total", "squares"), HOSTILE.values(), ids=HOSTILE)
def test_sums_that_cannot_be_are_not_heard(count: int, total: int, squares: str) -> None:
    stage = NeighborhoodStage(SCHEME, clock=lambda: NOW)
    before = stage.threshold
    value = f'{{"partition": 9, "count": {count}, "total": {total}, "squares": "{squares}"}}'
    where = Partition(topics.MOMENTS, 0)
    stage.hear([Message(where, 0, "9", value.encode(), headers_for(topics.MOMENTS), 0)])
    assert stage.threshold == before


@given(st.lists(st.integers(0, 1 << SHARE_BITS)))
def test_sums_of_shares_are_possible(shares: list[int]) -> None:
    moments = Moments()
    for share in shares:
        moments.add(share)
    assert moments.possible
