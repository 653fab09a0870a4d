"""The hash of a word: eight bytes at a time through a keyed 128-bit multiplication.

The bytes are those of the case-folded word in UTF-8, zero-padded to whole eights (a word holds no
zero byte, so the padding is no other word). Each eight are xored into the state, and the state is
multiplied by a secret; both halves of the product are folded together. Secrets come from the hash
scheme's key: who does not know them cannot construct a collision from the multiplier.
The scheme is wyhash's, reduced to a stream.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import intrinsic, ir, types

_MASK = (1 << 64) - 1


def _product(typing: Any, a: Any, b: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        high = builder.lshr(product, ir.Constant(wide, 64))
        return builder.trunc(builder.xor(product, high), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), codegen


fold_product = intrinsic(_product)
"""High half xor low half of the product of two 64-bit numbers, within kernels."""


def secrets_of(key: int) -> NDArray[np.uint64]:
    """Start value and two multipliers from a key (SplitMix64's output function).

    >>> [f"{value:016x}" for value in secrets_of(0)]
    ['e220a8397b1dcdaf', '6e789e6aa1b965f5', '06c45d188009454f']
    """
    values = []
    for step in (1, 2, 3):
        z = (key + step * 0x9E3779B97F4A7C15) & _MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        # An even multiplier would lose the state's top bit.
        values.append((z ^ (z >> 31)) | (step > 1))
    return np.array(values, dtype=np.uint64)


def word_hash(word: bytes, key: int) -> int:
    """The hash of a word's bytes: the definition, which the kernels follow."""
    seed, first, last = (int(value) for value in secrets_of(key))
    state, rest = seed, len(word) // 8 * 8
    for at in range(0, rest, 8):
        state = _fold(state ^ int.from_bytes(word[at : at + 8], "little"), first)
    state = _fold(state ^ int.from_bytes(word[rest:], "little"), first)
    return _fold(state ^ seed, last)


def _fold(a: int, b: int) -> int:
    return (a * b & _MASK) ^ (a * b >> 64)
