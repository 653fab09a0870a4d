"""Lines of `Name: value`, as WARC and HTTP have them, read leniently.

Lines may end in LF alone and may be folded; what is no field is passed over, as browsers do.
"""

from __future__ import annotations

import re

BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_CR = 13
# Two fields of these names are one list; of any other the first one counts.
_LISTS = frozenset({"content-encoding", "transfer-encoding"})
# What is asked of an answer's head.
ASKED = ("content-type", "content-encoding", "transfer-encoding", "content-length")
_SOUGHT = tuple((name, b"\n%s:" % name.encode(), len(name) + 2, name in _LISTS) for name in ASKED)
# What a head is of that is written plainly.
_PLAIN = bytes(range(0x20, 0x7F)) + b"\r\n"


def text_of(data: bytes) -> str:
    """Header bytes as text: UTF-8, or else Latin-1, which never fails."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def fields_of(data: bytes) -> dict[str, str]:
    """The fields of a header block, names in lower case.

    >>> fields_of(b"A: 1\\r\\nContent-Encoding: br\\nno field\\ncontent-encoding: gzip\\nB: x\\n y")
    {'a': '1', 'content-encoding': 'br, gzip', 'b': 'x y'}
    """
    fields: dict[str, str] = {}
    last = ""
    for line in text_of(data).split("\n"):
        if line[:1] in (" ", "\t"):
            if last in fields:
                fields[last] += " " + line.strip()
            continue
        name, colon, value = line.partition(":")
        if colon:
            last = name.strip().lower()
            _add(fields, last, value.strip())
    return fields


def asked_of(data: bytes) -> dict[str, str]:
    """The same, of which nothing else than `ASKED` is asked: heads have dozens of fields, and to
    take all apart costs more than the rest of a record.

    >>> asked_of(b"Date: now\\r\\nContent-Type: text/html\\r\\nServer: x")
    {'content-type': 'text/html'}
    """
    lines = b"\n" + data
    if not is_plain(lines):
        return fields_of(data)
    lowered = lines.lower()
    fields: dict[str, str] = {}
    for name, sought, size, is_list in _SOUGHT:
        at = lowered.find(sought)
        if at < 0:
            continue
        if is_list and lowered.find(sought, at + 1) >= 0:
            return fields_of(data)
        end = lines.find(b"\n", at + size)
        fields[name] = lines[at + size : end if end >= 0 else None].decode("ascii").strip()
    return fields


def is_plain(lines: bytes) -> bool:
    """Whether lines, each behind its LF, are written so plainly that a field begins with its name:
    none goes on the one before, is empty or begins oddly; those are for who takes all apart."""
    return not (
        lines.translate(None, _PLAIN)
        or b"\n " in lines
        or b"\n\r" in lines
        or b"\n\n" in lines
        or b" :" in lines
    )


def blank_line(data: bytes, begin: int, end: int) -> tuple[int, int] | None:
    """Where the first match of `BLANK_LINE` begins and ends.

    >>> blank_line(b"a: 1\\r\\n\\r\\nbody", 0, 99), blank_line(b"a\\n\\nb", 0, 99)
    ((4, 8), (1, 3))
    """
    at, size = data.find(b"\n\r\n", begin, end), 3
    bare = data.find(b"\n\n", begin, end if at < 0 else at + 1)
    if bare >= 0:
        at, size = bare, 2
    if at < 0:
        return None
    return at - (at > begin and data[at - 1] == _CR), at + size


def _add(fields: dict[str, str], name: str, value: str) -> None:
    if name not in fields:
        fields[name] = value
    elif name in _LISTS:
        fields[name] += ", " + value
