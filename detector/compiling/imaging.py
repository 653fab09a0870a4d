"""Images made of what numba compiled: the object files of kernels, laid side by side.

Each object file stands alone: it defines all that it calls but what `image` gives by name. On
x86-64, LLVM writes every address that numba's code needs as a whole one, so that linking is to put
sections behind each other and to note where addresses stand. Anything else makes no image, and
numba loads the kernels as ever.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling import elf
from reusewatch.detector.compiling.calling import Kernel
from reusewatch.detector.compiling.image import Entry, Image, check

_OURS = "reusewatch.detector."
_MACHINE_AT, _X86_64 = 18, 62
# An address of eight bytes: that of a symbol, and an addend.
_WHOLE_ADDRESS = 1
_ADDRESS_BYTES = 8
_PAGE = 4096
# How a stack is unwound, which nobody does through a kernel.
_FRAMES = ".eh_frame"


class NoImage(Exception):
    """Code of a kind that cannot be laid out here."""


class _Place(NamedTuple):
    """A place among what is only read, or among what is written to."""

    at: int
    written: bool


@dataclass(slots=True)
class _Layout:
    """Sections behind each other."""

    read: bytearray = field(default_factory=bytearray)
    written: bytearray = field(default_factory=bytearray)
    # Where an address of the image stands, and what of it; and where one of a name does, with what
    # is added to it.
    own: list[tuple[_Place, _Place]] = field(default_factory=list)
    others: list[tuple[_Place, str, int]] = field(default_factory=list)

    def put(self, data: bytes, align: int, *, written: bool) -> _Place:
        """Where it begins."""
        to = self.written if written else self.read
        to.extend(bytes(-len(to) % max(align, 1)))
        to.extend(data)
        return _Place(len(to) - len(data), written)


def image_of(kernels: Iterable[Kernel]) -> Image:
    """An image of those that numba has made in this process. Raises NoImage."""
    if sys.platform != "linux":
        raise NoImage("images are loaded by calls of Linux")
    layout, entries = _Layout(), dict[str, Entry]()
    for kernel in kernels:
        if not kernel.name.startswith(_OURS) or not kernel.compiled:
            continue
        if len(kernel.compiled) > 1:
            raise NoImage(f"{kernel.name} is compiled for several types")
        (made,) = kernel.compiled.values()
        places = _laid_out(made.library.code, layout)
        about = made.fndesc
        entries[kernel.name] = Entry(
            places[about.llvm_cpython_wrapper_name].at, places[about.env_name].at,
            list(made.environment.consts),
        )  # fmt: skip
    return _whole(layout, entries)


def _laid_out(code: bytes, layout: _Layout) -> dict[str, _Place]:
    """Lay out an object file: where its names are."""
    machine = int.from_bytes(code[_MACHINE_AT : _MACHINE_AT + 2], "little")
    if not code.startswith(elf.MARK) or machine != _X86_64:
        raise NoImage("no code of x86-64")
    sections = elf.sections(code)
    begins: dict[int, _Place] = {}
    for number, name in enumerate(elf.names(code, sections, sections)):
        one = sections[number]
        if one["flags"] & elf.LOADED and name != _FRAMES:
            written = bool(one["flags"] & elf.WRITTEN)
            begins[number] = layout.put(elf.content(code, one), int(one["align"]), written=written)
    named = _named(code, sections, begins, layout)
    for one in sections[sections["type"] == elf.RELOCATIONS]:
        if (target := begins.get(int(one["info"]))) is not None:
            _note(elf.relocations(code, one), target, named, layout)
    return {name: place for name, place in named if place is not None}


def _named(
    code: bytes, sections: NDArray[Any], begins: Mapping[int, _Place], layout: _Layout
) -> list[tuple[str, _Place | None]]:
    """The symbols of an object file in order, and where each is; None: not in this file."""
    (table,) = sections[sections["type"] == elf.SYMBOLS]
    found: list[tuple[str, _Place | None]] = []
    rows = elf.symbols(code, table)
    for row, name in zip(rows, elf.names(code, sections, rows, table), strict=True):
        section, value, place = row["section"], int(row["value"]), None
        if section == elf.COMMON:
            place = layout.put(bytes(int(row["size"])), value, written=True)
        elif (begin := begins.get(int(section))) is not None:
            place = begin._replace(at=begin.at + value)
        found.append((name, place))
    return found


def _note(
    rows: NDArray[Any], target: _Place, named: list[tuple[str, _Place | None]], layout: _Layout
) -> None:
    """Note where addresses stand in a section."""
    for row in rows:
        if row["type"] != _WHOLE_ADDRESS:
            raise NoImage(f"relocations of type {row['type']}")
        place = target._replace(at=target.at + int(row["offset"]))
        name, what = named[row["symbol"]]
        if what is None:
            layout.others.append((place, name, int(row["addend"])))
        else:
            layout.own.append((place, what._replace(at=what.at + int(row["addend"]))))


def _whole(layout: _Layout, entries: Mapping[str, Entry]) -> Image:
    """What is written to begins with a page of its own."""
    layout.put(b"", _PAGE, written=False)
    layout.put(b"", _PAGE, written=True)
    room, code = len(layout.read), layout.read + layout.written
    own: list[int] = []
    others: dict[str, list[int]] = {}

    def put(place: _Place, value: int) -> int:
        at = place.at + room * place.written
        code[at : at + _ADDRESS_BYTES] = (value % (1 << 64)).to_bytes(_ADDRESS_BYTES, "little")
        return at

    for place, what in layout.own:
        own.append(put(place, what.at + room * what.written))
    for place, name, addend in layout.others:
        others.setdefault(name, []).append(put(place, addend))
    made = Image(
        bytes(code), room, np.array(own, np.uint32),
        {name: np.array(places, np.uint32) for name, places in others.items()},
        {name: one._replace(room=room + one.room) for name, one in entries.items()},
    )  # fmt: skip
    check(made)
    return made
