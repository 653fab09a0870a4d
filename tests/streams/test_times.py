"""Microseconds and moments are the same, both ways and before the epoch."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from reusewatch.streams.times import at_us, moment

later = st.datetimes(datetime(1900, 1, 1), datetime(2400, 1, 1)).map(
    lambda naive: naive.replace(tzinfo=UTC)
)
moments = st.datetimes().map(lambda naive: naive.replace(tzinfo=UTC))


@given(moments)
def test_there_and_back(time: datetime) -> None:
    assert moment(at_us(time)) == time


@given(later, later)
def test_order_and_distance_are_kept(one: datetime, other: datetime) -> None:
    assert (at_us(one) < at_us(other)) == (one < other)
    assert moment(at_us(one) - at_us(other)) - moment(0) == one - other


def test_the_epoch_is_nothing() -> None:
    assert at_us(datetime(1970, 1, 1, tzinfo=UTC)) == 0
    assert at_us(datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC)) == 1
    assert moment(-1) == datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
