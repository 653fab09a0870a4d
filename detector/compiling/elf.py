"""Object files as LLVM writes them: 64-bit ELF, little-endian, nothing linked.

Tables are numpy records; nothing here knows what the code is for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MARK = b"\x7fELF\x02\x01"
_SECTION = np.dtype(
    [("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8"), ("offset", "<u8"),
     ("size", "<u8"), ("link", "<u4"), ("info", "<u4"), ("align", "<u8"), ("entry", "<u8")]
)  # fmt: skip
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"),
     ("size", "<u8")]
)  # fmt: skip
_RELOCATION = np.dtype(
    [("offset", "<u8"), ("type", "<u4"), ("symbol", "<u4"), ("addend", "<i8")]
)  # fmt: skip
_SECTIONS_AT, _SECTION_COUNT_AT, _NAMES_AT = 40, 60, 62
SYMBOLS, RELOCATIONS, NO_BITS = 2, 4, 8
"""Types of sections; one without bits is of zeros."""
WRITTEN, LOADED = 1, 2
"""Of a section's flags."""
UNDEFINED, COMMON = 0, 0xFFF2
"""In place of a symbol's section: another file has it; room for it has to be found."""
_LOCAL = 4


def sections(code: bytes) -> NDArray[Any]:
    """All sections of an object file."""
    start = int.from_bytes(code[_SECTIONS_AT : _SECTIONS_AT + 8], "little")
    count = int.from_bytes(code[_SECTION_COUNT_AT : _SECTION_COUNT_AT + 2], "little")
    return np.frombuffer(code, _SECTION, count, start)


def symbols(code: bytes, table: Any) -> NDArray[Any]:
    """The symbols of such a section."""
    return _rows(code, table, _SYMBOL)


def relocations(code: bytes, table: Any) -> NDArray[Any]:
    """What has to be written into another section, and where."""
    return _rows(code, table, _RELOCATION)


def _rows(code: bytes, table: Any, kind: np.dtype[Any]) -> NDArray[Any]:
    return np.frombuffer(code, kind, int(table["size"]) // kind.itemsize, int(table["offset"]))


def content(code: bytes, section: Any) -> bytes:
    """The bytes of a section."""
    begin, size = int(section["offset"]), int(section["size"])
    return bytes(size) if section["type"] == NO_BITS else code[begin : begin + size]


def names(code: bytes, found: NDArray[Any], rows: NDArray[Any], table: Any = None) -> list[str]:
    """The names of sections, or of the symbols of a table, among all sections of a file."""
    last = int.from_bytes(code[_NAMES_AT : _NAMES_AT + 2], "little")
    strings = int(found[last if table is None else int(table["link"])]["offset"])
    begins = [strings + at for at in rows["name"].tolist()]
    return [code[begin : code.index(b"\0", begin)].decode() for begin in begins]


def defined(code: bytes) -> set[str]:
    """The names that an object file defines for others."""
    every = sections(code)
    found: set[str] = set()
    for table in every[every["type"] == SYMBOLS]:
        rows = symbols(code, table)
        # The bits above are the binding: 0 is a symbol that nobody else sees.
        known = rows[(rows["section"] != UNDEFINED) & (rows["info"] >> _LOCAL != 0)]
        found |= set(names(code, every, known, table))
    return found
