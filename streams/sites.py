"""The names of sites behind their hashes: of those that were seen lately, as many as fit.

Counters keep hashes of sites; people want names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme

MOST_SITES = 1 << 17
_BYTES = 200  # measured: a name of 15 characters, its hash, and their place in the table


class Sites:
    """Names by hash. Of too many, those not seen for longest leave."""

    def __init__(self, scheme: HashScheme, most: int = MOST_SITES) -> None:
        self._scheme = scheme
        self._most = most
        self._name_of: dict[int, str] = {}

    def __iter__(self) -> Iterator[str]:
        """Names, that not seen for longest first."""
        return iter(self._name_of.values())

    def extend(self, names: Iterable[str]) -> list[int]:
        """Remember these names; their hashes."""
        hashes = []
        for name in names:
            found = self._scheme.of_text(name)
            self._name_of.pop(found, None)
            self._name_of[found] = name
            hashes.append(found)
        while len(self._name_of) > self._most:
            del self._name_of[next(iter(self._name_of))]
        return hashes

    def hashes(self, sites: Sequence[str]) -> NDArray[np.uint64]:
        """The hash of the site of each page."""
        distinct = dict.fromkeys(sites)
        hash_of = dict(zip(distinct, self.extend(distinct), strict=True))
        return np.fromiter(map(hash_of.__getitem__, sites), np.uint64, len(sites))

    def names(self, hashes: Iterable[int]) -> tuple[str, ...]:
        """Those names that are known, in alphabetical order."""
        return tuple(sorted(self._name_of[one] for one in hashes if one in self._name_of))

    def by_last_bits(self) -> dict[int, str]:
        """Names by the last 32 bits of their hashes."""
        return {found & 0xFFFFFFFF: name for found, name in self._name_of.items()}

    def nbytes(self) -> int:
        """About what they take."""
        return len(self._name_of) * _BYTES
