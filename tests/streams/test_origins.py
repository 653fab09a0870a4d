"""Origins as numbers: back as they were, or not at all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reusewatch.streams.origins import NOWHERE, Origins
from reusewatch.streams.records import Origin


@given(st.lists(st.tuples(st.text(max_size=3), st.integers(0, (1 << 44) - 1))))
def test_an_origin_comes_back(found: list[tuple[str, int]]) -> None:
    origins = Origins()
    numbers = [origins.number(source, offset) for source, offset in found]
    kept = Origins(origins.names)
    assert [kept.origin(number) for number in numbers] == [
        Origin(source=source, offset=offset) for source, offset in found
    ]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.integers(-1, 1 << 44))))
def test_several_at_once_have_the_numbers_that_each_has(
    found: list[tuple[str, int | None]],
) -> None:
    one, other = Origins(["b"]), Origins(["b"])
    numbers = [one.number(*row) for row in found]
    assert other.numbers([row[0] for row in found], [row[1] for row in found]) == numbers
    assert other.names == one.names


def test_what_cannot_be_read_again_is_nowhere() -> None:
    origins = Origins()
    assert origins.number("crawl", None) == NOWHERE
    assert origins.number("a.warc", 1 << 44) == NOWHERE
    assert origins.origin(NOWHERE) is None
    assert origins.origin(5 << 44) is None
    assert origins.names == []
