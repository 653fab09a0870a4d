"""Which chunks of a page count for contains, by the definition of each rule."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.streams.blocks.columns import longer_than
from reusewatch.streams.blocks.matchable import Rule, counted_chunks
from reusewatch.streams.wire import Malformed

chunk = st.tuples(st.integers(0, 5), st.booleans(), st.booleans())
pages = st.lists(st.lists(chunk, max_size=6), max_size=5)


def block_with(
    found: list[list[tuple[int, bool, bool]]], said: bytes = b"2", **others: Any
) -> pa.RecordBatch:
    def places(which: int) -> list[list[int]]:
        return [[at for at, one in enumerate(page) if one[which]] for page in found]

    def lists(values: list[list[int]], of: pa.DataType) -> pa.Array:
        return pa.array(values, pa.list_(of))

    columns = {
        "chunks": lists([[7] * len(page) for page in found], pa.uint64()),
        "chunk_lengths": lists([[one[0] for one in page] for page in found], pa.uint32()),
        "labeled": lists(places(1), pa.uint32()),
        "stopped": lists(places(2), pa.uint32()),
    } | others
    return pa.RecordBatch.from_pydict(columns, metadata={b"longer-than": said})


@given(pages, st.sampled_from(["matchable", "paper"]))
def test_twin(found: list[list[tuple[int, bool, bool]]], rule: Rule) -> None:
    wanted = [
        sum((rule == "paper" or length > 2 or labeled) and not stopped
            for length, labeled, stopped in page)
        for page in found
    ]  # fmt: skip
    assert counted_chunks(block_with(found), rule).tolist() == wanted


@given(pages)
def test_a_page_copied_whole_is_contained_whole(
    found: list[list[tuple[int, bool, bool]]],
) -> None:
    """Whatever short paragraphs it has; by the paper's count they are a part that no label has."""
    copied = [[(n, n > 2, False) for n, _, _ in page] for page in found]
    labeled = [sum(one[1] for one in page) for page in copied]
    assert counted_chunks(block_with(copied), "matchable").tolist() == labeled


def test_marks_past_a_pages_chunks_mark_nothing() -> None:
    past = pa.array([[0, 9], [4_000_000_000]], pa.list_(pa.uint32()))
    one = block_with([[(9, False, False)] * 3, [(9, False, False)]], stopped=past)
    assert counted_chunks(one, "matchable").tolist() == [2, 1]


def test_lengths_of_other_chunks_are_malformed() -> None:
    others = pa.array([[1, 2]], pa.list_(pa.uint32()))
    with pytest.raises(Malformed, match="chunk_lengths"):
        counted_chunks(block_with([[(9, False, False)]], chunk_lengths=others), "matchable")


@pytest.mark.parametrize("said", [b"", b"-1", b"1e3", b"9" * 11, b"\xff"])
def test_a_block_that_says_no_length_is_malformed(said: bytes) -> None:
    with pytest.raises(Malformed, match="length"):
        longer_than(block_with([], said))
