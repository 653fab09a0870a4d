"""Coverage-guided fuzzing of the archive reader, by hand:

    pip install atheris && python tests/fuzz/archive_fuzz.py -max_total_time=1800 CORPUS

The directory CORPUS is filled with the specimens of the zoo of archives first. The first byte of an
input says how the rest is packed, so that what stands inside members is reached as well.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import atheris  # type: ignore[import-not-found]

with atheris.instrument_imports(include=["reusewatch.crawler.archives", "reusewatch.crawler.pages",
                                         "reusewatch.crawler.compression"]):  # fmt: skip
    from reusewatch.crawler.archives import reading

import zstandard

from reusewatch.crawler.errors import REASONS
from reusewatch.crawler.pages.archive_events import SKIPPED, Limits
from tests.crawler.archives import zoo

_LIMITS = Limits(max_body_bytes=4096, max_record_bytes=20_000, max_header_bytes=4096)
_PATH = Path(tempfile.mkdtemp()) / "x"
_NEXT = b"\x00NEXT\x00"
_MASK = (1 << reading.INDEX_BIT) - 1


def packed(data: bytes) -> bytes:
    """An archive: as it is, a member for each part, one for all, a frame for each part."""
    how, rest = data[:1] or b"\0", data[1:]
    parts = rest.split(_NEXT)
    return (
        rest,
        b"".join(gzip.compress(part, 1) for part in parts),
        gzip.compress(rest, 1),
        b"".join(zstandard.compress(part, 1) for part in parts),
    )[how[0] & 3]


def once(data: bytes) -> None:
    """Nothing raises, reading goes on, events are of closed sets, and go on from each offset."""
    _PATH.write_bytes(packed(data))
    events = zoo.read_all(_PATH, limits=_LIMITS)
    assert events
    for event in events:
        assert [event.page, event.skipped, event.damage].count(None) == 2
        assert event.damage is None or event.damage.reason in REASONS
        assert event.skipped is None or event.skipped in SKIPPED
    for before, after in pairwise(event for event in events if event.source == str(_PATH)):
        assert before.offset != before.next_offset
        assert before.next_offset & _MASK <= after.offset & _MASK
    if len(events) > 1:
        middle = events[len(events) // 2]
        if middle.source == str(_PATH):
            rest = zoo.read_all(_PATH, middle.next_offset, _LIMITS, middle.doubt)
            assert _told(rest) == _told(events[len(events) // 2 + 1 :])


def _told(events: list[reading.Found]) -> list[object]:
    return [(event.page, event.skipped, event.damage) for event in events]


if __name__ == "__main__":
    corpus = next((Path(word) for word in sys.argv[1:] if not word.startswith("-")), None)
    if corpus is not None:
        corpus.mkdir(parents=True, exist_ok=True)
        for number, specimen in enumerate(zoo.ZOO.values()):
            (corpus / f"zoo-{number}").write_bytes(b"\0" + specimen.data[:4096])
        crawl = [zoo.response(zoo.A), zoo.response(zoo.B, length=9), zoo.info()]
        for how in range(4):
            (corpus / f"crawl-{how}").write_bytes(bytes([how]) + _NEXT.join(crawl))
    atheris.Setup(sys.argv, once)
    atheris.Fuzz()
