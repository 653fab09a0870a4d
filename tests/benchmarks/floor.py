"""The floor: what anybody pays who reads an archive's text, and does nothing with it.

FastWARC and Resiliparse's text extraction, with no tree walked twice and no bytes guessed at: the
page's encoding is taken from its header. `python -m tests.benchmarks.floor ARCHIVE…` is the floor
as a process of its own, as a command is.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str


def read(archive: Path) -> int:
    """Every response with its body."""
    size = 0
    for record in ArchiveIterator(str(archive), record_types=WarcRecordType.response):
        size += len(record.reader.read())
    return size


def read_text(archive: Path) -> int:
    """Every response's text."""
    size = 0
    for record in ArchiveIterator(str(archive), record_types=WarcRecordType.response):
        html = bytes_to_str(record.reader.read(), record.http_charset or "utf-8")
        size += len(extract_plain_text(html))
    return size


if __name__ == "__main__":
    for name in sys.argv[1:]:
        read_text(Path(name))
