"""A fingerprint block as the gram postings take it: a record a page, its grams, their places.

Nothing is done page by page that Arrow and numpy can do for all.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.blocks.occurrences import lengths_of, lists_of
from reusewatch.streams.wire import Malformed

if TYPE_CHECKING:
    from reusewatch.detector.quilts.postings import GramPages

_BESIDE = ("gram_starts", "gram_ends")
_ADDRESSES = 65_536


def has_grams(block: pa.RecordBatch) -> bool:
    """Whether the pages of a block brought grams: a setting of who made it."""
    return not block.column("grams").null_count


def check_grams(block: pa.RecordBatch) -> None:
    """Malformed where what runs beside the grams does not, or a gram ends before it begins."""
    if not has_grams(block):
        return
    _, offsets = lists_of(block.column("grams"))
    starts, ends = (_beside(block, name, offsets) for name in _BESIDE)
    if (ends < starts).any():
        raise Malformed("a fingerprint block with a gram that ends before it begins")


def _beside(block: pa.RecordBatch, name: str, offsets: NDArray[np.int64]) -> NDArray[Any]:
    column = block.column(name)
    if column.null_count:
        raise Malformed(f"a fingerprint block with grams and without {name}")
    values, at = lists_of(column)
    if not np.array_equal(at, offsets):
        raise Malformed(f"a fingerprint block whose {name} are not those of its grams")
    found: NDArray[Any] = values
    return found


class QuiltColumns:
    """Makes gram pages of blocks; knows the addresses that it has seen by their hashes."""

    def __init__(self, scheme: HashScheme, *, sample: float) -> None:
        self._sample = sample
        self._address = lru_cache(_ADDRESSES)(scheme.of_text)

    def of(
        self, block: pa.RecordBatch, sites: NDArray[np.uint64], owned: NDArray[np.bool_]
    ) -> GramPages:
        """The pages of a block that brought any grams; copies, since a view would keep the whole
        block alive."""
        from reusewatch.detector.quilts.postings import GramPages
        from reusewatch.detector.quilts.store import DOCUMENT, OWNED
        from reusewatch.detector.ragged import Ragged
        from reusewatch.detector.sketching.grams import in_sample

        grams, offsets = lists_of(block.column("grams"))
        kept = offsets[1:] - offsets[:-1]
        ranged = np.zeros(len(grams) + 1, np.int64)
        in_sample(grams, self._sample).cumsum(out=ranged[1:])
        whole = block.column("grams_are_all").to_numpy(zero_copy_only=False)
        records = np.zeros(len(block), DOCUMENT)
        records["page"] = block.column("page").to_numpy()
        records["text"] = block.column("identity_hash").to_numpy()
        records["site"] = sites
        records["ip"] = [self._hash_of(ip) for ip in block.column("ip").to_pylist()]
        records["at"] = block.column("fetched_at").view(pa.int64()).to_numpy()
        records["kept"] = kept
        records["grams"] = np.where(whole, kept, np.maximum(kept / self._sample, kept + 1))
        records["ranged"] = ranged[offsets[1:]] - ranged[offsets[:-1]]
        records["flags"] = np.where(owned, OWNED, 0)
        starts, ends = (lists_of(block.column(name))[0] for name in _BESIDE)
        if not kept.all():  # not by taking them out of the block: all that is asked of it is this
            records, offsets = records[kept > 0], np.append(0, offsets[1:][kept > 0])
        return GramPages(records, Ragged(grams.copy(), offsets), starts.copy(), ends.copy())

    def _hash_of(self, ip: str | None) -> int:
        return 0 if ip is None else self._address(ip)


def is_wordy(block: pa.RecordBatch) -> NDArray[np.bool_]:
    """Which pages brought any grams."""
    found: NDArray[np.bool_] = lengths_of(block.column("grams")) > 0
    return found
