"""One scheme decides every hash: its name and key travel with all that is stored.

Bytes are hashed by XXH3 (64 bit), seeded. The default key is public, so that label packs
can be exchanged; a key of a deployment's own keeps outsiders from crafting collisions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xxhash
from numpy.typing import NDArray

from detector.errors import SchemeMismatch

PUBLIC_KEY = 0x9E3779B97F4A7C15
_VERSION = "xxh3-1"


@dataclass(frozen=True, slots=True)
class HashScheme:
    """Which hash functions, under which key."""

    key: int = PUBLIC_KEY

    def __post_init__(self) -> None:
        if not 0 <= self.key < 1 << 64:
            raise ValueError(f"a hash key has 64 bits, not {self.key:#x}")

    @property
    def name(self) -> str:
        """What is stored beside hashes: the version and a check of the key, never the key.

        >>> HashScheme().name
        'xxh3-1-public'
        """
        if self.key == PUBLIC_KEY:
            return f"{_VERSION}-public"
        return f"{_VERSION}-{xxhash.xxh3_64_hexdigest(b'reusewatch key', self.key)[:8]}"

    def require(self, found: str, what: str) -> None:
        """Refuse what was hashed under another scheme."""
        if found != self.name:
            raise SchemeMismatch(what, found, self.name)

    def of_bytes(self, data: bytes | memoryview) -> int:
        """Hash of raw bytes: files, raw chunks."""
        return xxhash.xxh3_64_intdigest(data, self.key)

    def of_text(self, text: str) -> int:
        """Hash of a text's UTF-8: page ids, terms."""
        return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"), self.key)

    def of_array(self, values: NDArray[np.uint64]) -> int:
        """Hash of a sequence of hashes: the identity of a token sequence."""
        return xxhash.xxh3_64_intdigest(np.ascontiguousarray(values).tobytes(), self.key)


def hex_of(value: int) -> str:
    """A 64-bit hash as it is printed.

    >>> hex_of(255)
    '00000000000000ff'
    """
    return f"{value:016x}"
