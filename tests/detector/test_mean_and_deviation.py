"""Mean and deviation, exactly."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist, fmean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.mean_and_deviation import (
    PAPER_PAGES,
    Moments,
    Threshold,
    share,
    surely_above,
)

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
    assert Threshold(PAPER_PAGES, warm_up=4, most=0.2).of(seen) == 0.2
    assert Threshold(PAPER_PAGES, warm_up=4).of(seen, pages=3) == 0.144
    assert Threshold(PAPER_PAGES, fixed=0.3, warm_up=0).of(seen) == 0.3
    assert Threshold(PAPER_PAGES, warm_up=1, least=0.05).of(moments([0])) == 0.05


@given(shares)
def test_much_copying_does_not_raise_the_threshold_above_its_limit(values: list[int]) -> None:
    rule = Threshold(PAPER_PAGES, warm_up=1, most=PAPER_PAGES)
    seen = moments(values)
    assert rule.of(seen) <= PAPER_PAGES
    assert rule.of(seen) == min(Threshold(PAPER_PAGES, warm_up=1).of(seen), PAPER_PAGES)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=60), st.integers(1, 999))
def test_twin_of_the_lower_bound(thousandths: list[int], limit: int) -> None:
    """Wilson's score bound, from its definition; equal but for what rounding decides."""
    n, p, t = len(thousandths), sum(thousandths) / len(thousandths) / 1000, limit / 1000
    z = NormalDist().inv_cdf(0.95)
    middle, spread = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    bound = (middle - spread) / (1 + z * z / n)
    if abs(bound - t) > 1e-4:
        found = surely_above(sum(share(one, 1000) for one in thousandths), n, t)
        assert found == (bound > t)


@given(st.integers(1, 50), st.integers(0, 1 << 32), st.integers(0, 1 << 31), st.integers(0, 900))
def test_more_copying_or_more_files_never_make_it_less_sure(
    n: int, mean: int, more: int, limit: int
) -> None:
    t = limit / 1000
    if surely_above(n * mean, n, t):
        assert surely_above(n * min(mean + more, 1 << 32), n, t)
        assert surely_above(2 * n * mean, 2 * n, t)


@given(shares, st.floats(0, 1), st.sampled_from((None, 0.25)), st.integers(0, 9))
def test_what_is_below_a_bound_is_below_the_threshold(
    values: list[int], most: float, fixed: float | None, pages: int
) -> None:
    seen = moments(values)
    rule = Threshold(0.2, fixed=fixed, warm_up=4, most=most)
    low, limit = rule.at_least(seen, pages), int(rule.of(seen, pages) * (1 << 32))
    assert limit - (1 << 11) <= low <= limit


@given(st.integers(0, 1 << 32), st.integers(0, 1 << 32), st.integers(2, 10**6))
def test_a_bound_holds_where_all_shares_but_one_are_the_same(one: int, rest: int, n: int) -> None:
    seen = Moments(n, rest * (n - 1) + one, rest**2 * (n - 1) + one**2)
    rule = Threshold(0.2, warm_up=0)
    assert rule.at_least(seen, 1) <= int(rule.of(seen, 1) * (1 << 32))
