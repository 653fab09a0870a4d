"""Pages of what was discovered, counted on: held to exact sets, within the error that is stated."""

from __future__ import annotations

import numpy as np
import pytest

from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.discovery.online import Occurrences, marks_of
from reusewatch.detector.discovery.spread import REGISTERS, Spread
from reusewatch.detector.ragged import Ragged

SALT = 0x1234567890ABCDEF
NONE = np.empty(0, np.uint32)


def seen(pages: np.ndarray, value: int = 1) -> Occurrences:
    size = len(pages)
    zeros = np.zeros(size, np.uint32)
    hashes = Ragged(np.full(size, value, np.uint64), np.arange(size + 1))
    return Occurrences(
        hashes, pages.astype(np.uint64), np.zeros(size, np.uint64), zeros, zeros,
        np.ones(size, bool),
    )  # fmt: skip


def spread(period: int = 1 << 40, most: int = 10) -> Spread:
    return Spread(salt=SALT, period=period, most=most)


def test_marks_are_those_of_the_kernels() -> None:
    pages = np.random.default_rng(1).integers(0, 1 << 63, 50, np.uint64)
    wanted = [int(mix(page ^ np.uint64(SALT))) & 0xFFFFFFFF for page in pages]
    assert marks_of(pages, SALT).tolist() == wanted


@pytest.mark.parametrize("count", [3, 30, 300, 2000, 5000, 100_000])
def test_estimates_are_within_four_standard_errors(count: int) -> None:
    one, pages = spread(), np.arange(count) * 7919
    one.follow(1, NONE, 0)
    for _ in range(2):  # a page that comes again changes nothing
        one.add(seen(pages))
    assert one.pages(1) == pytest.approx(count, rel=4 * 1.04 / REGISTERS**0.5, abs=1)


def test_pages_known_before_are_pages_that_may_come_again() -> None:
    one, pages = spread(), np.arange(40)
    one.follow(1, marks_of(pages.astype(np.uint64), SALT), 10)
    assert one.pages(1) == pytest.approx(40, abs=2)
    assert one.add(seen(pages[10:])) == set()
    assert one.add(seen(np.arange(100, 140))) == {1}
    assert one.pages(1) == pytest.approx(80, abs=5)


def test_what_was_not_had_for_two_periods_counts_no_more_and_is_left() -> None:
    one = spread(period=100)
    one.follow(1, NONE, 0)
    one.follow(2, NONE, 0)
    one.add(seen(np.arange(100), 1))
    assert 2 not in one
    one.add(seen(np.arange(200, 250), 1))
    assert one.pages(1) == pytest.approx(150, abs=8)
    one.add(seen(np.arange(300, 350), 3))
    assert one.pages(1) == pytest.approx(50, abs=4)
    one.add(seen(np.arange(100), 3))
    assert (len(one), one.pages(1)) == (0, 0)


def test_so_many_are_followed_and_a_restored_one_goes_on_alike() -> None:
    one = spread(most=20)
    assert [one.follow(n * 7 % 23, NONE, 0) for n in range(22)] == [True] * 20 + [False] * 2
    assert one.follow(7, NONE, 0)
    one.add(seen(np.arange(30), 7))
    other = spread(most=20)
    other.restore(one.save())
    assert one.add(seen(np.arange(20, 60), 7)) == other.add(seen(np.arange(20, 60), 7))
    assert other.pages(7) == one.pages(7) == pytest.approx(60, abs=4)
    assert {n: a.tobytes() for n, a in one.save().items()} == {
        n: a.tobytes() for n, a in other.save().items()
    }
