"""How the memory of a process that judges is given back, where the C library is glibc.

Arrays of the window are made anew as it grows, and the old ones leave holes among small objects
that nothing else fits into: so large arrays stand apart, and what is free goes back to the system
from time to time. Elsewhere nothing is done.

Libraries are mapped, and what was touched of them once stays in memory: of Arrow alone 20 MB, to
load it and never again, and of a compiler 70. It goes, too; what is needed after all comes back
from the cache of the system a few pages at a time.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import re
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

LARGE = 1 << 22
"""Bytes from which on an allocation stands apart. With a megabyte a replay has 12 MB less at its
most; but a batch of pages of 27 kB has many arrays of as much, which the system would clear anew
for each: a seventh of the CPU of the whole."""
_FREE = 16 << 20
# Of malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
# Of mman.h.
_DONT_NEED = 4
_MAPPED = Path("/proc/self/maps")
_PAGES = Path("/proc/self/pagemap")
_RESIDENT = Path("/proc/self/statm")
_HEAD = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ (\d+)", re.MULTILINE)
_LEAST = 256 << 10
_SAID = 8
# Of the highest byte that is said of a page: in memory, swapped out, and of a file as it is.
_HERE, _SWAPPED, _FILES = 0x80, 0x40, 0x20
_NOTHING, _OF_FILE, _OWN = b".", b"f", b"w"


def _kind_of(said: int) -> bytes:
    # What was written and is swapped out would be lost as well.
    if said & _SWAPPED or (said & _HERE and not said & _FILES):
        return _OWN
    return _OF_FILE if said & _HERE else _NOTHING


_KINDS = b"".join(map(_kind_of, range(256)))
# To look through all that is mapped takes as long as ten pages.
_WORTH = 40 << 20
_BEGUN_SECONDS = 2.0


@cache
def _libc() -> Any | None:
    try:
        found = ctypes.CDLL(None)
    except (OSError, TypeError):
        return None
    return found if hasattr(found, "mallopt") and hasattr(found, "malloc_trim") else None


@cache
def keep_large_apart() -> None:
    """From now on; glibc else raises the bound to the largest array that was ever freed."""
    if (libc := _libc()) is not None:
        libc.mallopt(_MMAP_THRESHOLD, LARGE)
        # Told with the other, or each array that is freed at the end shrinks the heap at once.
        libc.mallopt(_TRIM_THRESHOLD, _FREE)


def give_back() -> None:
    """What is free goes back to the system, and what can be read again; takes milliseconds."""
    _give_back_free()
    _give_back_files()


def give_back_much() -> bool:
    """The same, but of files only if that is much; False where it was not even looked for.

    A process that has only just begun keeps all: a short one ends before anything is gained, and
    what it has loaded last it is about to use.
    """
    if time.process_time() < _BEGUN_SECONDS:
        return False
    if _of_files() >= _WORTH:
        give_back()
    else:
        _give_back_free()
    return True


def _of_files() -> int:
    """Bytes in memory that are mapped from files, other processes' among them."""
    try:
        return int(_RESIDENT.read_text().split()[2]) * resource.getpagesize()
    except OSError:  # no Linux
        return 0


def _give_back_free() -> None:
    if (libc := _libc()) is not None:
        libc.malloc_trim(0)


def _give_back_files() -> None:
    if (libc := _libc()) is None:
        return
    libc.madvise.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    with suppress(OSError), _PAGES.open("rb", buffering=0) as pages:  # no Linux
        unchanged = list(_unchanged(_MAPPED.read_text(), partial(_said_of, pages.fileno())))
        for begin, end in unchanged:
            libc.madvise(begin, end - begin, _DONT_NEED)


def _said_of(pages: int, begin: int, end: int) -> bytes:
    """What the system says of each page of memory, a number of 8 bytes: the highest of them.
    OSError where it does not say all: a page that somebody wrote to may be among the rest."""
    first, size = begin // mmap.PAGESIZE, _SAID * ((end - begin) // mmap.PAGESIZE)
    answer = os.pread(pages, size, _SAID * first)
    if len(answer) != size:
        raise OSError(f"{size} bytes were asked for of {_PAGES}, {len(answer)} came")
    return answer[_SAID - 1 :: _SAID]


def _unchanged(mapped: str, said_of: Callable[[int, int], bytes]) -> Iterator[tuple[int, int]]:
    """Where files are mapped that nobody can write to there, and nobody has: a page that was
    written to, as the addresses in a library are when it is loaded, would be lost.

    Only of these it is asked what is in memory: of all of it the system tells in ten milliseconds.
    """
    for head in _HEAD.finditer(mapped):
        begin, end = int(head[1], 16), int(head[2], 16)
        if head[4] == "0" or head[3] not in ("r-xp", "r--p") or end - begin < _LEAST:
            continue
        kinds = said_of(begin, end).translate(_KINDS)
        if _OWN not in kinds and kinds.count(_OF_FILE) * mmap.PAGESIZE >= _LEAST:
            yield begin, end
