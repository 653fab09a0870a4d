"""How ARC version 1 (and 2) writes a record's head: one line, told here in WARC's words.

`URL IP date type length`, version 2 with more fields before the length. URLs of old crawls
hold spaces, so the line is read from its end.
"""

from __future__ import annotations

import re

from reusewatch.crawler.archives.framing import Dialect, Head
from reusewatch.crawler.archives.headers import text_of

_LINE = re.compile(
    r"(?P<url>[a-z][a-z0-9+.-]*:.*?) (?P<ip>[0-9a-fA-F.:]{3,45}|-) (?P<date>\d{8,14}) "
    r"(?P<type>\S+)(?: \S+){0,5}? (?P<length>\d{1,15})\r?\Z",
    re.IGNORECASE,
)
_MAX_LINE = 20_000
_SCHEME = re.compile(rb"(?:filedesc|https?|dns|ftp|whois|mailto|urn|gopher):")


def parse(data: bytes) -> Head | None:
    """The head at the start of these bytes."""
    end = data.find(b"\n", 0, _MAX_LINE)
    line = _LINE.match(text_of(data[:end])) if end >= 0 else None
    if line is None:
        return None
    fields = {
        "warc-type": _type_of(line["url"]),
        "warc-target-uri": line["url"],
        "warc-date": line["date"],
        "warc-ip-address": line["ip"],
        "content-type": "application/http; msgtype=response",
    }
    return Head(fields, end + 1, int(line["length"]))


def _type_of(url: str) -> str:
    return "filedesc" if url.startswith("filedesc:") else "response"


ARC = Dialect(
    name="ARC",
    parse=parse,
    opening=_SCHEME,
    start=re.compile(_SCHEME.pattern + rb"[^\n]{0,20000}? \d{8,14} [^\n]{1,200}\d\r?\n"),
    trailer=re.compile(rb"\r?\n"),
)
