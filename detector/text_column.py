"""Texts as one column of bytes, so that state with texts is saved as arrays like all other state.

How many there are, how long each is, and all of them end to end. No character has a meaning: URLs
come from strangers, and may hold whatever would separate them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.errors import BadState


def packed(texts: Iterable[str]) -> NDArray[np.uint8]:
    """The column of these texts.

    >>> unpacked(packed(["", "a\\nb", "é"]))
    ['', 'a\\nb', 'é']
    """
    data = [text.encode("utf-8", "surrogatepass") for text in texts]
    sizes = np.array([len(data), *map(len, data)], "<u4")
    return np.frombuffer(sizes.tobytes() + b"".join(data), np.uint8)


def unpacked(column: NDArray[np.uint8]) -> list[str]:
    """The texts of a column. Raises BadState."""
    data = column.tobytes()
    count = int.from_bytes(data[:4], "little")
    first = 4 * (count + 1)
    if column.dtype != np.uint8 or len(data) < first:
        raise BadState(f"a column of {len(data)} bytes has no room for {count} texts")
    ends = np.cumsum(np.frombuffer(data, "<u4", count, 4), dtype=np.int64) + first
    if len(data) != (ends[-1] if count else first):
        raise BadState(f"the {count} texts of a column do not end where it ends")
    bounds = pairwise([first, *ends.tolist()])
    return [data[start:end].decode("utf-8", "surrogatepass") for start, end in bounds]
