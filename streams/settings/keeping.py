"""How much is kept, as people say it: `2GB`, `30d`."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SECONDS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_BYTES = {"kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_KEEP = re.compile(rf"(\d{{1,9}})({'|'.join([*_SECONDS, *_BYTES])})")


@dataclass(frozen=True, slots=True)
class Keep:
    """What is kept: rows that came within so many seconds, and as many as so many bytes take."""

    seconds: int | None = None
    bytes: int | None = None


def keep_of(texts: list[str]) -> Keep:
    """What `--keep` says, each time that it is given. ValueError where it says nothing.

    >>> keep_of(["30d"]), keep_of(["2GB", "12h"])
    (Keep(seconds=2592000, bytes=None), Keep(seconds=43200, bytes=2000000000))
    """
    seconds, size = None, None
    for text in texts:
        found = _KEEP.fullmatch(text)
        if found is None:
            raise ValueError(text)
        number, unit = int(found[1]), found[2]
        if unit in _SECONDS:
            seconds = number * _SECONDS[unit]
        else:
            size = number * _BYTES[unit]
    return Keep(seconds, size)
