"""Which rows of the window are meant: by a page and its words, or by a page and a time. All that a
batch asks for is one call. Changes nothing.
"""

from __future__ import annotations

from typing import Any

from reusewatch.detector.compiling.kernels import OFFSETS, OUT_OFFSETS, WORDS, kernel, part, types
from reusewatch.detector.window.buckets import number_bits
from reusewatch.detector.window.store import BY_PAGE, STORE
from reusewatch.detector.window.versions import latest, text_of_row

NOW = -(1 << 62)
"""No time of which it is asked what a page was: what it is."""


@kernel(types.void(STORE, WORDS, WORDS, OUT_OFFSETS))
def rows_held(store: Any, pages: Any, texts: Any, rows: Any) -> None:
    """Of each page the row that has these words; −1 where the window has none."""
    bits = number_bits(store.row_tables[BY_PAGE])
    for i in range(pages.size):
        row = latest(store, bits, pages[i])
        while row >= 0 and (store.rows[row].entry < 0 or text_of_row(store, row) != texts[i]):
            row = types.int64(store.rows[row].older)
        rows[i] = row


@part(types.int64(STORE, types.int64, types.uint64, types.int64))
def _row_at(store: Any, bits: Any, page: Any, at: Any) -> Any:
    row, best = latest(store, bits, page), types.int64(-1)
    while row >= 0:
        one = store.rows[row]
        if at == NOW:
            later = best < 0 or one.last > store.rows[best].last
            if best >= 0 and one.last == store.rows[best].last:
                later = text_of_row(store, row) > text_of_row(store, best)
        else:
            later = best < 0 or one.first > store.rows[best].first
            later = later and one.first <= at <= one.last
        best = row if later else best
        row = types.int64(one.older)
    return best


@kernel(types.int64(STORE, types.uint64, types.int64))
def row_at(store: Any, page: Any, at: Any) -> Any:
    """The row of a page as it was at a time when it was seen, the one that was first seen last; as
    it is `NOW`, the one that was seen last. −1 where there is none."""
    return _row_at(store, number_bits(store.row_tables[BY_PAGE]), page, at)


@kernel(types.void(STORE, WORDS, OFFSETS, OUT_OFFSETS))
def rows_about(store: Any, pages: Any, times: Any, rows: Any) -> None:
    """Of each page the row as it was at its time; as it is now, where it was not seen then."""
    bits = number_bits(store.row_tables[BY_PAGE])
    for i in range(pages.size):
        row = _row_at(store, bits, pages[i], times[i])
        rows[i] = row if row >= 0 else _row_at(store, bits, pages[i], NOW)
