"""One scheme decides every hash: its name and key travel with all that is stored.

Bytes are hashed by XXH3 (64 bit), seeded. What kernels compute from token hashes rests on
`numbers`: constants drawn from the key, another row for each purpose. The default key is
public, so that label packs can be exchanged. Collisions that were crafted under it do not hold
under a deployment's own key. XXH3 is no MAC: an attacker who sees hashes made under a key, as
alerts show them, may craft collisions under that key as well.

The version in the name covers every sketch: token hashes, phrases, min-values, supershingles,
simhash, chunk hashes. A change to any of them needs a new version, or old state would be
compared with new pages and nothing would match, in silence. How often a word counts in a simhash
is a choice of the deployment (`sketching.damping`), and so it stands in the name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, get_args

import xxhash

from reusewatch.detector.errors import SchemeMismatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PUBLIC_KEY = 0x9E3779B97F4A7C15
_VERSION = "xxh3-3"


Counts = Literal["damped", "paper"]
"""How often a word counts in a simhash."""


@dataclass(frozen=True, slots=True)
class HashScheme:
    """Which hash functions, under which key."""

    key: int = PUBLIC_KEY
    counts: Counts = "paper"

    def __post_init__(self) -> None:
        if not 0 <= self.key < 1 << 64:
            raise ValueError(f"a hash key has 64 bits, not {self.key:#x}")
        if self.counts not in get_args(Counts):
            raise ValueError(f"counts are {' or '.join(get_args(Counts))}, not {self.counts}")

    @property
    def name(self) -> str:
        """What is stored beside hashes: the version and a check of the key, never the key.

        >>> HashScheme().name
        'xxh3-3-public'
        """
        version = _VERSION if self.counts == "paper" else f"{_VERSION}-{self.counts}"
        if self.key == PUBLIC_KEY:
            return f"{version}-public"
        return f"{version}-{xxhash.xxh3_64_hexdigest(b'reusewatch key', self.key)[:8]}"

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

    def numbers(self, purpose: str, count: int) -> NDArray[np.uint64]:
        """Odd 64-bit constants drawn from the key, independent from purpose to purpose.

        Odd, because a product with an odd number can be undone modulo 2^64.
        """
        return _numbers(self.key, purpose, count)


# Kernels ask for their constants at every batch; drawing them anew would cost more than a page.
@lru_cache(maxsize=256)
def _numbers(key: int, purpose: str, count: int) -> NDArray[np.uint64]:
    import numpy as np  # a crawl host hashes URLs, and has no numpy

    drawn = [xxhash.xxh3_64_intdigest(f"{purpose} {i}".encode(), key) | 1 for i in range(count)]
    numbers = np.array(drawn, dtype=np.uint64)
    numbers.flags.writeable = False  # shared by every caller
    return numbers


def hex_of(value: int) -> str:
    """A 64-bit hash as it is printed.

    >>> hex_of(255)
    '00000000000000ff'
    """
    return f"{value:016x}"


def hexes_of(values: NDArray[np.uint64]) -> list[str]:
    """Hashes as they are printed.

    >>> import numpy as np
    >>> hexes_of(np.array([255, 1 << 63], np.uint64))
    ['00000000000000ff', '8000000000000000']
    """
    text = values.astype(">u8").tobytes().hex()
    return [text[at : at + 16] for at in range(0, len(text), 16)]
