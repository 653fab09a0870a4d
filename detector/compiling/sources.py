"""The keys under which machine code is kept: digests of the detector's sources.

A kernel takes in the parts that it calls, from many files, and what compiles them decides how. So
its machine code is current only while neither its own module has changed nor any that this one
imports, directly or not. Compiles nothing, and loads no numba.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

import xxhash

_ROOT = "reusewatch.detector"
_NAMED = re.compile(rb"reusewatch\.detector[\w.]*")
_IMPORTS = (b"from ", b"import ")
# What compiles a kernel decides what becomes of it, whether its module says so or not.
_COMPILER = f"{_ROOT}.compiling"


class _Source(NamedTuple):
    """A module's text, by its digest, and what it imports of the detector."""

    digest: bytes
    imports: tuple[str, ...]


@cache
def digest_of_sources() -> str:
    """Of every module of the detector: its name and its text."""
    return _digest(sorted(_sources()))


@cache
def digest_of(module: str) -> str:
    """Of a module of the detector and all of its modules that this one stands on."""
    sources = _sources()
    known: set[str] = set()
    waiting = [module, *(name for name in sources if name.startswith(_COMPILER))]
    while waiting:
        name = waiting.pop()
        if name in known:
            continue
        known.add(name)
        waiting += _imports(name)
    return _digest(sorted(known))


@cache
def _imports(module: str) -> tuple[str, ...]:
    """What a module imports; a name of a room may be any of its modules."""
    sources, found = _sources(), list[str]()
    for name in sources[module].imports if module in sources else ():
        is_room = f"{name}.__init__" in sources
        found += [each for each in sources if each.startswith(f"{name}.")] if is_room else [name]
    return tuple(found)


def _digest(modules: list[str]) -> str:
    digest, sources = xxhash.xxh3_64(), _sources()
    for name in modules:
        digest.update(name.encode() + b"\0" + (sources[name].digest if name in sources else b""))
    return digest.hexdigest()


@cache
def _sources() -> dict[str, _Source]:
    return dict(_modules(files(_ROOT), f"{_ROOT}."))


def _modules(folder: Traversable, place: str) -> Iterator[tuple[str, _Source]]:
    for each in folder.iterdir():
        if each.is_dir():
            yield from _modules(each, f"{place}{each.name}.")
        elif each.name.endswith(".py"):
            # The text itself goes: all of them are a megabyte.
            text = each.read_bytes()
            yield (
                place + each.name.removesuffix(".py"),
                _Source(xxhash.xxh3_128_digest(text), _imported(text)),
            )


def _imported(text: bytes) -> tuple[str, ...]:
    """The modules that are named behind `from` or `import`. Not by the beginnings of lines, which a
    text has too many of: what is only told of is taken for imported, and renews a kernel for
    nothing."""
    return tuple(
        name[0].decode()
        for name in _NAMED.finditer(text)
        if text.endswith(_IMPORTS, 0, name.start())
    )
