"""HTTP responses as archives store them: status, the fields that matter here, and the payload."""

from __future__ import annotations

import re
from typing import NamedTuple

from reusewatch.crawler.archives.headers import asked_of, blank_line
from reusewatch.detector.errors import BadPage

MAX_HEAD = 1 << 16
# What a server says before its answer: `100 Continue`, `103 Early Hints`. 101 is an answer.
_INTERIM = frozenset({100, *range(102, 200)})
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})(?!\d)", re.IGNORECASE)


class Message(NamedTuple):
    """The head of a response. The payload starts at byte `start` of the block.

    Of the fields, those that are `ASKED` for are all there.
    """

    status: int
    fields: dict[str, str]
    start: int

    @property
    def is_chunked(self) -> bool:
        """Whether the payload came in chunks."""
        return "chunked" in self.fields.get("transfer-encoding", "").lower()


def response_of(block: bytes) -> Message:
    """The response at the start of a block, behind interim answers. BadPage where there is none."""
    found = _message_at(block, 0)
    while found.status in _INTERIM and _STATUS.match(block, found.start):
        found = _message_at(block, found.start)
    return found


def _message_at(block: bytes, begin: int) -> Message:
    status = _STATUS.match(block, begin)
    if status is None:
        raise BadPage("bad-http", f"no status line: {block[:48]!r}")
    first = block.find(b"\n", begin, MAX_HEAD)
    if first < 0 or block[first + 1 : first + 3].lstrip(b"\r").startswith(b"\n"):
        return Message(int(status[1]), {}, _after_status(block, first))
    end = blank_line(block, first - 1, MAX_HEAD)
    if end is None and len(block) >= MAX_HEAD:
        raise BadPage("bad-http", f"a head of more than {MAX_HEAD} bytes")
    # A block that ends with its head has no payload, with or without the empty line.
    stop, start = end or (len(block), len(block))
    return Message(int(status[1]), asked_of(block[first + 1 : stop]), start)


def _after_status(block: bytes, first: int) -> int:
    if first < 0:
        return len(block)
    return block.index(b"\n", first + 1) + 1
