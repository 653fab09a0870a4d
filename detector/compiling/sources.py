"""The one key under which machine code is kept: a digest of the detector's sources.

A kernel takes in the parts that it calls, from many files, and what compiles them decides how. So
machine code is current only while no source has changed. Compiles nothing, and loads no numba:
who starts a process names the directory by this digest before the first kernel is imported.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

import xxhash


@cache
def digest_of_sources() -> str:
    """Of every module of the detector: its place and its text."""
    digest = xxhash.xxh3_64()
    for place, text in sorted(_modules(files("reusewatch.detector"), "")):
        digest.update(place.encode() + b"\0" + text)
    return digest.hexdigest()


def _modules(folder: Traversable, place: str) -> list[tuple[str, bytes]]:
    modules = []
    for each in folder.iterdir():
        if each.is_dir():
            modules += _modules(each, f"{place}{each.name}/")
        elif each.name.endswith(".py"):
            modules.append((place + each.name, each.read_bytes()))
    return modules
