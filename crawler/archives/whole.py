"""Records as nearly all archives hold them: one fills its member, and its head is written plainly.

Nothing is looked for in such a head: who writes an archive names the fields of its records in a few
ways, and each way is learnt once, as a pattern of which the values are the groups. What is not
exactly so is None here; what a head means that is written in any way, `headers` says.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

import msgspec

from reusewatch.crawler.archives.framing import Record
from reusewatch.crawler.archives.messages import MAX_HEAD
from reusewatch.crawler.compression.views import InMemory

# Ways of all archives, and of one. To learn one takes as long as to look closely at some records.
_WAYS, _WAYS_OF_ONE = 256, 32
# What is asked of a record's fields.
_NAMES = (
    "content-length", "warc-type", "content-type", "warc-target-uri", "warc-date",
    "warc-record-id", "warc-ip-address", "warc-block-digest", "warc-payload-digest",
)  # fmt: skip
_PARTIAL = frozenset({"warc-truncated", "warc-segment-number"})
_FIRST = r"WARC/\d\.\d{1,2}\r\n"
# Of a value nothing is given back: a head of another way would be looked at once for each byte.
_NAME, _VALUE = r"[A-Za-z][A-Za-z0-9-]*", r"[ -~]*+"
_FIELDS = re.compile(rf"({_NAME}): {_VALUE}\r\n".encode())
# A pattern of as many fields as a head has room for takes a quarter of a second to compile.
_HEAD = re.compile(rf"{_FIRST}(?:{_NAME}: {_VALUE}\r\n){{1,64}}\r\n".encode())
_END = b"\r\n\r\n"


class Way(NamedTuple):
    """A way to name the fields of a record, in their order."""

    names: tuple[str, ...]
    # Of a head: its groups are the values, and behind them an empty one.
    pattern: re.Pattern[bytes]
    # Whether a record of which nothing else is said holds all of its block.
    is_usual: bool
    # Of these groups: those of `_NAMES`, the empty one for what is not there.
    ask: Callable[[tuple[bytes, ...]], tuple[bytes, ...]]


@lru_cache(maxsize=_WAYS)
def way_of(names: tuple[str, ...]) -> Way | None:
    """The way in which a record names its fields; None where it names one twice."""
    lowered = tuple(name.lower() for name in names)
    known = set(lowered)
    if len(known) < len(lowered):
        return None
    at = (lowered.index(name) if name in known else len(lowered) for name in _NAMES)
    fields = "".join(rf"{name}: ({_VALUE})\r\n" for name in names)
    pattern = re.compile(rf"{_FIRST}{fields}\r\n()".encode())
    return Way(lowered, pattern, not known & _PARTIAL, itemgetter(*at))


class Whole(msgspec.Struct, frozen=True, gc=False):
    """A record that is all that its member holds."""

    way: Way
    # The groups of its way's pattern, and those for `_NAMES`: bytes of ASCII.
    values: tuple[bytes, ...]
    asked: tuple[bytes, ...]
    data: bytes | bytearray
    # Where its block begins and ends in that.
    start: int
    stop: int

    def record(self, offset: int, end: int) -> Record:
        """The same for who looks closely, between these offsets."""
        values = (value.decode("ascii").strip() for value in self.values)
        fields = dict(zip(self.way.names, values, strict=False))
        length = self.stop - self.start
        return Record(fields, offset, end, InMemory(self.data), self.start, length)


class Ways:
    """The ways of one archive, learnt as they come."""

    def __init__(self) -> None:
        self._known: list[Way] = []

    def whole(self, data: bytes | bytearray) -> Whole | None:
        """The record that a member holds, and nothing beside; None if it needs a closer look."""
        for way in self._known:
            found = way.pattern.match(data, 0, MAX_HEAD)
            if found is not None:
                break
        else:
            learnt = self._learnt(data)
            if learnt is None:
                return None
            way, found = learnt
        values = found.groups()
        asked = way.ask(values)
        start, stop = found.end(), len(data) - len(_END)
        # Of a head alone the end is that of the record, too: it would be of less than nothing.
        if asked[0] != b"%d" % (stop - start) or start > stop or not data.endswith(_END):
            return None
        return Whole(way, values, asked, data, start, stop)

    def _learnt(self, data: bytes | bytearray) -> tuple[Way, re.Match[bytes]] | None:
        head = _HEAD.match(data, 0, MAX_HEAD)
        if head is None or len(self._known) == _WAYS_OF_ONE:
            return None
        way = way_of(tuple(name.decode("ascii") for name in _FIELDS.findall(head[0])))
        found = way and way.pattern.match(data, 0, MAX_HEAD)
        if way is None or found is None:
            return None
        self._known.append(way)
        return way, found
