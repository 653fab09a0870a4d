"""What the kernels look up, as arrays: code points, element names, character references.

Built once per process, in a few milliseconds, from the tables of Unicode and of the HTML standard
(the latter by Python's `html.entities`). Kernels get them as one record, by address: never as
constants, so that compiled code that is kept on disk does not go stale with a table, and never as
many arrays, each of which would be seven arguments in every call between kernels.
"""

from __future__ import annotations

import html.entities
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.scanning import unicode_tables
from reusewatch.detector.scanning.elements import properties

# What a code point is to the tokenizer: the low bits of `kinds`.
APART, WORD, SINGLE, MARK, IGNORED = range(5)
KIND = 7
# Of a letter or digit: marks on it count. Above, what it says of its word; see `dodges`.
MARKED = 8
CLASS_SHIFT = 4
_CLASSES = ("OTHER", "ALIKE", "GREEK", "DRESSED", "WIDE", "LATIN", "STRANGE", "RAISED")

# In `ascii`: a byte that ends a word and does nothing else.
PLAIN = 1

TAG_SLOTS = 1024
REFERENCE_SLOTS = 8192
# Spreads packed names over the slots; odd, from the golden ratio.
SPREAD = 0x9E3779B97F4A7C15
_CODES = 0x110000

# What a code point is folded to, in `folds`: from the lowest bit its UTF-8, up to seven bytes; how
# many bytes; how many code points. Longer ones have the top bit, and up to three code points.
FOLDED_BYTES, FOLDED_BYTES_MOST, FOLDED_POINTS, FOLDED_LONG, FOLDED_POINT = 56, 7, 59, 63, 21


class Tables(NamedTuple):
    """Everything that a kernel looks up."""

    # Of a byte: the folded letter or digit; 1, what ends a word and is nothing else; 0, the rest.
    ascii: NDArray[np.uint8]
    kind_page: NDArray[np.uint8]  # per 256 code points: where in `kinds` they are
    kinds: NDArray[np.uint8]
    fold_page: NDArray[np.uint8]
    # As FOLDED_BYTES and its like say; 0: itself.
    folds: NDArray[np.uint64]
    tag_first: NDArray[np.uint64]  # bytes 0–7 of an element's name, by slot
    tag_second: NDArray[np.uint64]  # bytes 8–15
    tag_bits: NDArray[np.int32]
    reference_at: NDArray[np.int32]  # by slot: where in `names` a reference's name starts
    reference_length: NDArray[np.int32]
    reference_first: NDArray[np.int32]  # the code points it stands for; the second may be 0
    reference_second: NDArray[np.int32]
    names: NDArray[np.uint8]


@cache
def tables() -> NDArray[np.void]:
    """The tables as an array of one record, built at the first call."""
    kinds = _kinds()
    folds = _folds()
    kind_page, kind_blocks = _paged(kinds)
    fold_page, fold_blocks = _paged(folds)
    return as_record(
        Tables(_ascii(), kind_page, kind_blocks, fold_page, fold_blocks, *_tags(), *_references())
    )


def as_record(parts: Any) -> NDArray[np.void]:
    """A named tuple of arrays as an array of one record of the same fields."""
    layout = np.dtype([(name, array.dtype, array.shape) for name, array in parts._asdict().items()])
    record = np.zeros(1, dtype=layout)
    for name, array in parts._asdict().items():
        record[name][0] = array
    return record


def _kinds() -> NDArray[np.uint8]:
    kinds = np.full(_CODES, APART, dtype=np.uint8)
    for kind, text in (
        (WORD, unicode_tables.WORD),
        (SINGLE, unicode_tables.SINGLE),
        (MARK, unicode_tables.MARK),
        (IGNORED, unicode_tables.IGNORED),
    ):
        for span in spans_of(text):
            kinds[span] = kind
    for span in spans_of(unicode_tables.MARKED):
        kinds[span] |= MARKED
    for number, name in enumerate(_CLASSES, 1):
        for span in spans_of(getattr(unicode_tables, name)):
            kinds[span] |= number << CLASS_SHIFT
    return kinds


def spans_of(text: str) -> Iterator[slice]:
    """The runs of code points that a table lists.

    >>> list(spans_of("30-39 aa"))
    [slice(48, 58, None), slice(170, 171, None)]
    """
    for item in text.split():
        first, _, last = item.partition("-")
        yield slice(int(first, 16), int(last or first, 16) + 1)


def _folds() -> NDArray[np.uint64]:
    folds = np.zeros(_CODES, dtype=np.uint64)
    for item in unicode_tables.FOLD.split():
        first, last, *rest = item.split(":")
        if not rest:
            folds[int(first, 16)] = packed_fold(chr(int(last, 16)))
            continue
        step, distance = map(int, rest)
        for code in range(int(first, 16), int(last, 16) + 1, step):
            folds[code] = packed_fold(chr(code + distance))
    for item in unicode_tables.FOLD_LONG.split():
        code_text, to = item.split(":")
        folds[int(code_text, 16)] = packed_fold("".join(chr(int(x, 16)) for x in to.split("+")))
    return folds


def packed_fold(text: str) -> int:
    """What a code point is folded to, as kernels read it.

    >>> hex(packed_fold("ss"))
    '0x1200000000007373'
    """
    utf8 = text.encode()
    if len(utf8) > FOLDED_BYTES_MOST:
        points = sum(ord(one) << FOLDED_POINT * place for place, one in enumerate(text))
        return 1 << FOLDED_LONG | points
    counts = len(text) << FOLDED_POINTS | len(utf8) << FOLDED_BYTES
    return counts | int.from_bytes(utf8, "little")


def unpacked_fold(fold: int) -> str:
    """The text of `packed_fold`."""
    if fold >> FOLDED_LONG:
        points = (fold >> FOLDED_POINT * place & (1 << FOLDED_POINT) - 1 for place in range(3))
        return "".join(map(chr, filter(None, points)))
    return fold.to_bytes(8, "little")[: fold >> FOLDED_BYTES & FOLDED_BYTES_MOST].decode()


def _paged(values: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Two-stage table: code points in pages of 256, equal pages stored once."""
    # Told apart by their bytes: `np.unique` sorts them, for half a second at each start.
    number: dict[bytes, int] = {}
    where = [number.setdefault(page.tobytes(), len(number)) for page in values.reshape(-1, 256)]
    return np.array(where, dtype=np.uint8), np.frombuffer(b"".join(number), dtype=values.dtype)


def _ascii() -> NDArray[np.uint8]:
    folded = np.zeros(256, dtype=np.uint8)
    for code in range(128):
        if chr(code).isalnum():
            folded[code] = ord(chr(code).lower())
        elif chr(code) not in "<&\0":
            folded[code] = PLAIN
    return folded


def packed(name: bytes) -> tuple[int, int]:
    """The first and second eight bytes of a name, as the kernels pack them."""
    return int.from_bytes(name[:8], "little"), int.from_bytes(name[8:16], "little")


def tag_slot(first: int, second: int) -> int:
    """Where a packed name is looked up first."""
    return ((first ^ second) * SPREAD & (1 << 64) - 1) >> 54


def _tags() -> tuple[NDArray[Any], ...]:
    firsts = np.zeros(TAG_SLOTS, dtype=np.uint64)
    seconds = np.zeros(TAG_SLOTS, dtype=np.uint64)
    bits = np.zeros(TAG_SLOTS, dtype=np.int32)
    for name, value in properties().items():
        first, second = packed(name.encode())
        slot = tag_slot(first, second)
        while firsts[slot]:
            slot = (slot + 1) % TAG_SLOTS
        firsts[slot], seconds[slot], bits[slot] = first, second, value
    return firsts, seconds, bits


def reference_slot(name: bytes) -> int:
    """Where a reference's name is looked up first."""
    value = 0
    for byte in name:
        value = (value ^ byte) * SPREAD & (1 << 64) - 1
    return value >> 51


def _references() -> tuple[NDArray[Any], ...]:
    at, length, first, second = (np.zeros(REFERENCE_SLOTS, dtype=np.int32) for _ in range(4))
    names = bytearray()
    for text, characters in html.entities.html5.items():
        name = text.encode()
        slot = reference_slot(name)
        while length[slot]:
            slot = (slot + 1) % REFERENCE_SLOTS
        at[slot], length[slot] = len(names), len(name)
        first[slot] = ord(characters[0])
        second[slot] = ord(characters[1]) if len(characters) > 1 else 0
        names += name
    blob = np.frombuffer(bytes(names), dtype=np.uint8)
    return at, length, first, second, blob
