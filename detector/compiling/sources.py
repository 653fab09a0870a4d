"""The keys under which machine code is kept: digests of the detector's sources.

A kernel takes in the parts that it calls, from many files, and what compiles them decides how. So
its machine code is current only while neither its own module has changed nor any that this one
imports, directly or not. Compiles nothing, and loads no numba.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

import xxhash

_ROOT = "reusewatch.detector"
_IMPORTED = re.compile(rb"^\s*(?:from|import) (reusewatch\.detector[\w.]*)", re.MULTILINE)
# What compiles a kernel decides what becomes of it, whether its module says so or not.
_COMPILER = f"{_ROOT}.compiling"


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
    sources, found = _sources(), []
    for name in map(bytes.decode, _IMPORTED.findall(sources.get(module, b""))):
        is_room = f"{name}.__init__" in sources
        found += [each for each in sources if each.startswith(f"{name}.")] if is_room else [name]
    return tuple(found)


def _digest(modules: list[str]) -> str:
    digest, sources = xxhash.xxh3_64(), _sources()
    for name in modules:
        digest.update(name.encode() + b"\0" + sources.get(name, b""))
    return digest.hexdigest()


@cache
def _sources() -> dict[str, bytes]:
    return dict(_modules(files(_ROOT), f"{_ROOT}."))


def _modules(folder: Traversable, place: str) -> list[tuple[str, bytes]]:
    modules = []
    for each in folder.iterdir():
        if each.is_dir():
            modules += _modules(each, f"{place}{each.name}.")
        elif each.name.endswith(".py"):
            modules.append((place + each.name.removesuffix(".py"), each.read_bytes()))
    return modules
