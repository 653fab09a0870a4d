"""Different URLs: counted exactly while they are few, nearly and in bounded memory when many."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reusewatch.streams.steering.distinct import Distinct


@given(st.lists(st.text(max_size=3), max_size=200))
def test_few_are_counted_exactly(urls: list[str]) -> None:
    distinct = Distinct(7, most=200)
    for url in urls:
        distinct.add(url)
    assert len(distinct) == len(set(urls))


def test_many_are_counted_nearly_in_bounded_memory() -> None:
    distinct = Distinct(7, most=512)
    for number in range(20_000):
        distinct.add(f"http://h.example/{number % 10_000}")
        assert len(distinct._hashes) <= 512
    # Six standard errors of the fewest that are kept.
    assert abs(len(distinct) - 10_000) < 10_000 * 6 / 256**0.5
