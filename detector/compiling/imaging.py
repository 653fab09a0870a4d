"""Images made of what numba compiled: the object files of kernels, laid side by side.

Each object file stands alone: it defines all that it calls but what `image` gives by name. On
x86-64, LLVM writes every address that numba's code needs as a whole one, so that linking is to put
sections behind each other and to note where addresses stand. Anything else makes no image, and
numba loads the kernels as ever.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

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


@dataclass(slots=True)
class _Layout:
    """Sections behind each other: of what is only read, and of what is written to."""

    read: bytearray = field(default_factory=bytearray)
    written: bytearray = field(default_factory=bytearray)
    # Where an address of the image stands, what stands behind it there, and whether the place and
    # what it names are in what is written to; and where one of a name does.
    own: list[tuple[bool, int, bool, int]] = field(default_factory=list)
    others: list[tuple[str, bool, int, int]] = field(default_factory=list)

    def put(self, data: bytes, align: int, *, written: bool) -> int:
        """Where it begins."""
        to = self.written if written else self.read
        to.extend(bytes(-len(to) % max(align, 1)))
        to.extend(data)
        return len(to) - len(data)


def image_of(kernels: Iterable[Kernel]) -> Image:
    """An image of those that numba has made in this process. Raises NoImage."""
    layout, entries = _Layout(), dict[str, tuple[int, int, list[Any]]]()
    for kernel in kernels:
        if not kernel.name.startswith(_OURS) or not kernel.compiled:
            continue
        if len(kernel.compiled) > 1:
            raise NoImage(f"{kernel.name} is compiled for several types")
        (made,) = kernel.compiled.values()
        names = _laid_out(made.library.code, layout)
        about = made.fndesc
        (_, at), (_, room) = names[about.llvm_cpython_wrapper_name], names[about.env_name]
        entries[kernel.name] = at, room, list(made.environment.consts)
    return _whole(layout, entries)


def _laid_out(code: bytes, layout: _Layout) -> dict[str, tuple[bool, int]]:
    """Lay out an object file: where its names are, and whether in what is written to."""
    machine = int.from_bytes(code[_MACHINE_AT : _MACHINE_AT + 2], "little")
    if not code.startswith(elf.MARK) or machine != _X86_64:
        raise NoImage("no code of x86-64")
    every = elf.sections(code)
    places: dict[int, tuple[bool, int]] = {}
    for number, one in enumerate(every):
        if one["flags"] & elf.LOADED and not _is_frames(code, every, one):
            begin, size = int(one["offset"]), int(one["size"])
            data = bytes(size) if one["type"] == elf.NO_BITS else code[begin : begin + size]
            written = bool(one["flags"] & elf.WRITTEN)
            places[number] = written, layout.put(data, int(one["align"]), written=written)
    (table,) = every[every["type"] == elf.SYMBOLS]
    strings, rows = every[int(table["link"])], elf.symbols(code, table)
    found: list[tuple[bool, int] | str] = []
    names: dict[str, tuple[bool, int]] = {}
    for row in rows:
        name = elf.name_of(code, strings, int(row["name"]))
        at: tuple[bool, int] | None = None
        if row["section"] == elf.COMMON:
            at = True, layout.put(bytes(int(row["size"])), int(row["value"]), written=True)
        elif int(row["section"]) in places:
            written, begin = places[int(row["section"])]
            at = written, begin + int(row["value"])
        if at is not None:
            names[name] = at
        found.append(at or name)
    for one in every[every["type"] == elf.RELOCATIONS]:
        if (target := places.get(int(one["info"]))) is not None:
            _note(elf.relocations(code, one), target, found, layout)
    return names


def _is_frames(code: bytes, every: Any, one: Any) -> bool:
    names = every[int.from_bytes(code[62:64], "little")]
    return elf.name_of(code, names, int(one["name"])) == _FRAMES


def _note(
    rows: Any, target: tuple[bool, int], found: list[tuple[bool, int] | str], layout: _Layout
) -> None:
    """Note where addresses stand in a section."""
    written, begin = target
    for row in rows:
        if row["type"] != _WHOLE_ADDRESS:
            raise NoImage(f"relocations of type {row['type']}")
        place, addend, what = begin + int(row["offset"]), int(row["addend"]), found[row["symbol"]]
        if isinstance(what, str):
            layout.others.append((what, written, place, addend))
        else:
            layout.own.append((written, place, what[0], what[1] + addend))


def _whole(layout: _Layout, entries: dict[str, tuple[int, int, list[Any]]]) -> Image:
    """What is written to begins with a page of its own."""
    layout.put(b"", _PAGE, written=False)
    room = len(layout.read)
    code = layout.read + layout.written
    code.extend(bytes(-len(code) % _PAGE))
    own: list[int] = []
    others: dict[str, list[int]] = {}

    def put(written: bool, place: int, value: int) -> int:
        at = place + room * written
        code[at : at + _ADDRESS_BYTES] = (value % (1 << 64)).to_bytes(_ADDRESS_BYTES, "little")
        return at

    for written, place, in_written, value in layout.own:
        own.append(put(written, place, value + room * in_written))
    for name, written, place, addend in layout.others:
        others.setdefault(name, []).append(put(written, place, addend))
    made = Image(
        bytes(code), room, np.array(own, np.uint32),
        {name: np.array(places, np.uint32) for name, places in others.items()},
        {name: Entry(at, room + env, consts) for name, (at, env, consts) in entries.items()},
    )  # fmt: skip
    check(made)
    return made
