"""How many different URLs there were, in bounded memory (adaptive sampling, Flajolet 1990).

The hashes below a line are kept. Where they become too many, the line is halved, and what stands
above it goes: what is kept is a fair sample, and its size says how many there were. Exact up to
`MOST`; beyond that about half a percent off. Who makes the URLs does not know the seed.
"""

from __future__ import annotations

from reusewatch.detector.hashing import HashScheme

MOST = 1 << 16
_ALL = 1 << 64


class Distinct:
    """A set of URLs of which only the size is known."""

    def __init__(self, seed: int, most: int = MOST) -> None:
        self._scheme = HashScheme()
        self._seed = seed
        self._most = most
        self._below = _ALL
        self._hashes: set[int] = set()

    def add(self, url: str) -> None:
        """One more, or one that was there already."""
        found = self._scheme.of_text(f"{self._seed} {url}")
        if found >= self._below:
            return
        self._hashes.add(found)
        while len(self._hashes) > self._most:
            self._below //= 2
            self._hashes = {one for one in self._hashes if one < self._below}

    def __len__(self) -> int:
        return len(self._hashes) * (_ALL // self._below)
