"""The window's memory: URLs of any length, room that is used again, and no more than is needed."""

from __future__ import annotations

import numpy as np
import pytest

from reusewatch.detector.window.index import NearDuplicateIndex
from reusewatch.detector.window.store import ENTRY, ROW
from tests.detector.window.window_pages import NOW, Page, Text, base_text, columns


def test_urls_are_kept_whole_while_the_window_slides() -> None:
    """Lengths change all the time, and some URLs are longer than any room that is reused."""
    draw = np.random.default_rng(1)
    index = NearDuplicateIndex(max_pages=300)
    lengths = np.where(draw.random(12_000) < 0.01, 9_000, draw.integers(0, 300, 12_000))
    seen = [
        Page(i + 1, i % 7, i, Text(i + 1), i + 1, "x" * int(length))
        for i, length in enumerate(lengths)
    ]
    sizes = []
    for begin in range(0, len(seen), 100):
        index.add(columns(seen[begin : begin + 100]), now=NOW)
        sizes.append(index.save()["arena"].size)
        for page in seen[max(begin - 199, 0) : begin + 100]:
            held = index.version_at(page.page, None)
            assert held is not None
            assert held.url == page.url
    assert len(index) == 300
    assert sizes[-1] == sizes[len(sizes) // 2]
    assert sizes[-1] < 8 * 300 * lengths.mean()


def test_a_window_grows_to_its_bound_and_not_beyond() -> None:
    index = NearDuplicateIndex(max_pages=3_000)
    sizes = []
    for begin in range(0, 12_000, 500):
        pages = [Page(i, i, i, base_text(i), i) for i in range(begin + 1, begin + 501)]
        index.add(columns(pages), now=NOW)
        sizes.append(index.nbytes)
    assert len(index) == index.sets == 3_000
    assert sizes[-1] == sizes[8]
    assert index.nbytes / len(index) < 600


def test_records_are_as_large_as_is_said() -> None:
    assert (ROW.itemsize, ENTRY.itemsize) == (96, 144)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one page"):
        NearDuplicateIndex(max_pages=0)
    block = columns([Page(1, 1, 1, base_text(1), 1)])
    with pytest.raises(ValueError, match="URLs end at"):
        type(block)(**{
            name: getattr(block, name) if name != "urls" else np.zeros(0, np.uint8)
            for name in block.__slots__
        })  # fmt: skip


def test_a_batch_of_nothing_changes_nothing() -> None:
    index = NearDuplicateIndex(max_pages=5)
    assert len(index.add(columns([]), now=NOW)) == 0
    assert len(index.match(columns([]), now=NOW)) == 0
    assert index.clusters() == []
