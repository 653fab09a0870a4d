"""Lines of `Name: value`, as WARC and HTTP have them, read leniently.

Lines may end in LF alone and may be folded; what is no field is passed over, as browsers do.
"""

from __future__ import annotations

import re

BLANK_LINE = re.compile(rb"\r?\n\r?\n")
# Two fields of these names are one list; of any other the first one counts.
_LISTS = frozenset({"content-encoding", "transfer-encoding"})


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


def _add(fields: dict[str, str], name: str, value: str) -> None:
    if name not in fields:
        fields[name] = value
    elif name in _LISTS:
        fields[name] += ", " + value
