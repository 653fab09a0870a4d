"""Mean and deviation, exactly."""

from __future__ import annotations

from statistics import fmean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.mean_and_deviation import PAPER_PAGES, Moments, Threshold, share

parts = st.integers(0, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
shares = st.lists(parts.map(lambda part: share(*part)), max_size=60)


def moments(values: list[int]) -> Moments:
    found = Moments()
    for value in values:
        found.add(value)
    return found


@given(shares)
def test_twin(values: list[int]) -> None:
    found = moments(values)
    ratios = [value / (1 << 32) for value in values]
    assert found.mean == pytest.approx(fmean(ratios) if ratios else 0)
    assert found.deviation == pytest.approx(pstdev(ratios) if ratios else 0, abs=1e-9)


@given(shares, shares)
def test_parts_merge_and_come_off_exactly(one: list[int], other: list[int]) -> None:
    both = moments(one)
    both.merge(moments(other))
    assert both == moments((one + other)[::-1])
    for value in one:
        both.remove(value)
    assert both == moments(other)


def test_a_million_equal_shares_do_not_deviate() -> None:
    third = share(1, 3)
    assert Moments(10**6, third * 10**6, third**2 * 10**6).deviation == 0


def test_the_papers_figure_until_enough_was_seen() -> None:
    rule = Threshold(PAPER_PAGES, warm_up=4)
    seen = moments([0, 0, 1 << 32])
    assert rule.of(seen) == 0.144
    seen.add(1 << 32)
    assert rule.of(seen) == pytest.approx(1.0)
    assert Threshold(PAPER_PAGES, fixed=0.3, warm_up=0).of(seen) == 0.3
    assert Threshold(PAPER_PAGES, warm_up=1, least=0.05).of(moments([0])) == 0.05
