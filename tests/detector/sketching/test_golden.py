"""The values of the scheme, pinned.

A failure here means that stored sketches and label packs no longer match new pages: raise the
version in `detector.hashing`, then pin the new values.
"""

from __future__ import annotations

import numpy as np

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.simhash import simhash_hex
from reusewatch.detector.sketching.sketches import Sketches, sketch
from reusewatch.detector.sketching.tokens import TokenBatch


def golden() -> Sketches:
    tokens = [n * n + 1 for n in range(24)] + [5, 5]
    return sketch(
        TokenBatch(
            Ragged.of([tokens]),
            np.array([0, 1, 2, 3, 4, 5, 6, *[7] * 19], np.uint8),
            np.arange(26, dtype=np.uint32) // 10,
            np.full(26, 6, np.uint32),
        ),
        HashScheme(),
    )


def test_scheme() -> None:
    assert HashScheme().name == "xxh3-3-public"
    assert HashScheme(42).name == "xxh3-3-e402e8ff"
    assert HashScheme(42, "damped").name == "xxh3-3-damped-e402e8ff"
    assert HashScheme(counts="damped").name == "xxh3-3-damped-public"
    assert HashScheme().numbers("sequence", 2).tolist() == [0xBA6517479C48D68F, 0x53CD59D1EA7D50DD]


def test_sketches() -> None:
    sketches = golden()
    assert sketches.words.tolist() == [23]
    assert sketches.identity.tolist() == [0x2D0662858245FE5F]
    assert sketches.supershingles5.tolist() == [
        [
            0xC89DF5C864E90B18,
            0x542848A0BADC99E3,
            0xCC31F550AA2FAB98,
            0x68FCB86847BD8D90,
            0x43AD9CA0FEE86AB,
            0xAE08A21DE323F112,
        ]
    ]
    assert sketches.supershingles8.tolist() == [
        [
            0xEBB7A0723C764D05,
            0xF51C91B9A23862D2,
            0xC5496203129CB9F7,
            0x8E4909146CCEB27C,
            0xCD72A4F95F31F3B8,
            0xDAF689A67A42B4DF,
        ]
    ]
    assert sketches.min_values5[0, [0, 83]].tolist() == [0x14D88EC84143E409, 0x16DCDC35560349A4]
    assert sketches.min_values8[0, [0, 83]].tolist() == [0x60B9AACABF3E837, 0x6F79E00EB2D8D9C]
    assert simhash_hex(sketches.simhash[0]) == (
        "5c98722dc67c685352832d7c627cb8fcf1fcb4a245cf17ad"
        "96762b97cf7de390f3f4f8db8d8e1606f947dbddd7a4f52c"
    )
    assert sketches.chunks.hashes.values.tolist() == [
        0xA3AB208F4B918E97,
        0x9D296C979E216AB,
        0x8C0B1D736C43C041,
    ]
    assert sketches.chunks.lengths.tolist() == [48, 69, 41]
    assert sketches.grams.hashes.values[:2].tolist() == [0x99163643D6C9D98C, 0x91A301C9371B5F6A]
    assert sketches.terms.hashes.values[:5].tolist() == [5, 17, 26, 1, 2]
