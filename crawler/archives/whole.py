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
_NAME, _VALUE = r"[A-Za-z][A-Za-z0-9-]*", r"[ -~]*"
_FIELDS = re.compile(rf"({_NAME}): {_VALUE}\r\n")
# A pattern of as many fields as a head has room for takes a quarter of a second to compile.
_HEAD = re.compile(rf"{_FIRST}(?:{_NAME}: {_VALUE}\r\n){{1,64}}\r\n")
_END = b"\r\n\r\n"


class Way(NamedTuple):
    """A way to name the fields of a record, in their order."""

    names: tuple[str, ...]
    # Of a head: its groups are the values.
    pattern: re.Pattern[str]
    # Whether a record of which nothing else is said holds all of its block.
    is_usual: bool
    # Of the values, with an empty one behind them: those of `_NAMES`, empty what is not there.
    ask: Callable[[tuple[str, ...]], tuple[str, ...]]


@lru_cache(maxsize=_WAYS)
def way_of(names: tuple[str, ...]) -> Way | None:
    """The way in which a record names its fields; None where it names one twice."""
    lowered = tuple(name.lower() for name in names)
    known = set(lowered)
    if len(known) < len(lowered):
        return None
    at = (lowered.index(name) if name in known else len(lowered) for name in _NAMES)
    fields = "".join(rf"{name}: ({_VALUE})\r\n" for name in names)
    pattern = re.compile(rf"{_FIRST}{fields}\r\n")
    return Way(lowered, pattern, not known & _PARTIAL, itemgetter(*at))


class Whole(NamedTuple):
    """A record that is all that its member holds."""

    way: Way
    values: tuple[str, ...]
    # Its values for `_NAMES`.
    asked: tuple[str, ...]
    data: bytes | bytearray
    # Where its block begins and ends in that.
    start: int
    stop: int

    def record(self, offset: int, end: int) -> Record:
        """The same for who looks closely, between these offsets."""
        values = (value.strip() for value in self.values)
        fields = dict(zip(self.way.names, values, strict=True))
        length = self.stop - self.start
        return Record(fields, offset, end, InMemory(self.data), self.start, length)


class Ways:
    """The ways of one archive, learnt as they come."""

    def __init__(self) -> None:
        self._known: list[Way] = []

    def whole(self, data: bytes | bytearray) -> Whole | None:
        """The record that a member holds, and nothing beside; None if it needs a closer look."""
        start, stop = data.find(_END, 0, MAX_HEAD) + len(_END), len(data) - len(_END)
        # What is not ASCII is in no pattern.
        head = data[:start].decode("latin-1")
        for way in self._known:
            found = way.pattern.fullmatch(head)
            if found is not None:
                break
        else:
            learnt = self._learnt(head)
            if learnt is None:
                return None
            way, found = learnt
        values = found.groups()
        asked = way.ask((*values, ""))
        # Of a head alone the end is that of the record, too: it would be of less than nothing.
        if asked[0] != str(stop - start) or start > stop or not data.endswith(_END):
            return None
        return Whole(way, values, asked, data, start, stop)

    def _learnt(self, head: str) -> tuple[Way, re.Match[str]] | None:
        if len(self._known) == _WAYS_OF_ONE or not _HEAD.fullmatch(head):
            return None
        way = way_of(tuple(_FIELDS.findall(head)))
        found = way and way.pattern.fullmatch(head)
        if way is None or found is None:
            return None
        self._known.append(way)
        return way, found
