"""Pages of a batch, whatever stands beside them: scanned together or each alone."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.ragged import Ragged
from reusewatch.detector.scanning import batch_columns
from reusewatch.detector.scanning import scan as scanning
from reusewatch.detector.scanning.decoding import decode
from reusewatch.detector.scanning.scan import Scan, ScanLimits, Source, scan_batch
from reusewatch.detector.sketching.word_places import WordPlaces

_PIECES = (
    "<title>the title</title>", "<p>words of a page", "<a href=/x>a link</a>", "<h1>Heading</h1>",
    "<img src=a.png>", "<meta name=keywords content='some keywords'>", "<td>caf\u00e9 \u4e2d\u6587",
)  # fmt: skip
bodies = st.lists(st.sampled_from(_PIECES), max_size=12).map("".join)


def columns(scanned: Scan) -> list[object]:
    arrays = (
        scanned.hashes, scanned.starts, scanned.ends, scanned.blocks, scanned.fields,
        scanned.lengths, scanned.block_starts, scanned.block_ends, scanned.links, scanned.images,
    )  # fmt: skip
    plain = (scanned.text_tokens, scanned.title, scanned.lost, scanned.sampled)
    return [*(array.tolist() for array in arrays), *plain]


@given(st.lists(bodies, max_size=9), st.sampled_from([1, 90, 1 << 16]))
def test_a_page_is_scanned_the_same_in_any_batch(texts: list[str], bytes_each: int) -> None:
    limits = ScanLimits(tokens=20, bytes=150)
    pages = [Source(text.encode(), "a.b", "b", f"http://a.b/{at}") for at, text in enumerate(texts)]
    alone = [columns(scan_batch([page], key=7, limits=limits)[0]) for page in pages]
    with pytest.MonkeyPatch.context() as patch:
        # Room for so few at first that columns are made longer, from none at all on.
        patch.setattr(scanning, "_EACH", (bytes_each,) * 5)
        patch.setattr(scanning, "_FEW", 0)
        batch = scan_batch(pages, key=7, limits=limits)
    assert [columns(batch[at]) for at in range(len(batch))] == alone


def test_a_page_without_a_byte_and_a_batch_without_a_page_are_scanned() -> None:
    assert len(scan_batch([], key=7)) == 0
    empty, other = scan_batch([Source(b""), Source(b"a b", "h.i", "i", "http://h.i/j")], key=7)
    assert (empty.hashes.size, other.text_tokens) == (0, 2)
    assert other.starts.tolist() == [0, 2, 0, 7, 9, 11]


@given(st.lists(st.tuples(bodies, st.sampled_from(["utf-8", "gb18030", "utf-16-le"])), max_size=4))
def test_a_span_is_from_a_words_begin_to_a_words_end(texts: list[tuple[str, str]]) -> None:
    decoded = [decode(text.encode(charset), charset) for text, charset in texts]
    batch = scan_batch([Source(page.utf8, url="http://a.b/c") for page in decoded], key=7)
    seen = [
        [at for at, field in enumerate(batch[page].fields.tolist()) if field not in (4, 5, 6)]
        for page in range(len(batch))
    ]
    places = np.array([at for page in seen for at in page], np.uint32)
    at = WordPlaces.of(batch, decoded, np.array([len(page) for page in seen], np.int64), places)
    pairs = [list(pairwise(range(len(page)))) for page in seen]
    offsets = Ragged.of([[first for first, _ in page] for page in pairs]).offsets
    first = np.array([first for page in pairs for first, _ in page], np.uint32)
    found = at.spans(offsets, first, first, behind=1)
    expected = [
        text.body_offsets(np.array([batch[page].starts[own[a]], batch[page].ends[own[b]]])).tolist()
        for page, (text, own) in enumerate(zip(decoded, seen, strict=True))
        for a, b in pairs[page]
    ]
    assert np.stack(found, axis=1).tolist() == expected


def test_a_dense_page_in_front_of_small_ones_asks_for_little_more_than_it_writes() -> None:
    dense = Source(b"a " * 20_000, url="http://a.b/")
    pages = [dense, *[Source(b"<p>some words", url=f"http://a.b/{n}") for n in range(255)]]
    asked: list[int] = []

    def longer(*given: Any) -> Any:
        made = batch_columns.longer(*given)
        asked.append(made.hashes.size)
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_columns, "_USUAL", 1)
        patch.setattr(scanning, "longer", longer)
        tokens = sum(scanned.hashes.size for scanned in scan_batch(pages, key=7))
    assert 0 < max(asked) < 20 * tokens
