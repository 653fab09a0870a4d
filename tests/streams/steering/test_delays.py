"""How long the way to the crawl was: of each finding once, and of none of before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from reusewatch.streams.steering.delays import Delays
from reusewatch.streams.steering.places import KeptOut

BEGAN = datetime(2026, 3, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


def place(number: int, fetched: float, found: float) -> KeptOut:
    return KeptOut(
        prefix=f"http://h.example/{number}/", kind="bad-neighborhood", since=at(found),
        fetched_at=at(fetched), expires=at(1000), alert=f"{number:032}",
    )  # fmt: skip


def test_each_finding_counts_when_it_is_known_first() -> None:
    delays = Delays(BEGAN)
    assert delays.figures() == {}
    old, one, other = place(1, -1, -0.5), place(2, 1, 1.5), place(3, 4, 4.25)
    delays.saw([old, one], at(2))
    delays.saw([old, one, other], at(4.5))
    delays.saw([old, one, other], at(9))
    assert delays.count == 2
    assert delays.figures() == {
        "response_median": 0.75, "finding_median": 0.375,
        "response_most": 1.0, "finding_most": 0.5,
    }  # fmt: skip


def test_what_comes_back_counts_again() -> None:
    delays = Delays(BEGAN)
    delays.saw([place(1, 1, 1)], at(2))
    delays.saw([], at(3))
    delays.saw([place(1, 4, 4)], at(5))
    assert delays.count == 2
