"""How WARC 0.18, 1.0 and 1.1 write a record's head."""

from __future__ import annotations

import re

from reusewatch.crawler.archives.framing import Dialect, Head
from reusewatch.crawler.archives.headers import BLANK_LINE, fields_of

_LENGTH = re.compile(r"[0-9]{1,15}\Z")


def parse(data: bytes) -> Head | None:
    """The head at the start of these bytes. Lines may end in LF alone."""
    end = BLANK_LINE.search(data)
    if end is None or WARC.start.match(data) is None:
        return None
    fields = fields_of(data[data.index(b"\n") + 1 : end.start()])
    if "warc-type" not in fields and "content-length" not in fields:
        return None
    length = fields.get("content-length", "")
    return Head(fields, end.end(), int(length) if _LENGTH.match(length) else None)


WARC = Dialect(
    name="WARC",
    parse=parse,
    opening=re.compile(rb"WARC/"),
    start=re.compile(rb"WARC/\d\.\d{1,2}[ \t]*\r?\n[A-Za-z][A-Za-z0-9-]*[ \t]*:"),
    trailer=re.compile(rb"\r?\n\r?\n"),
)
