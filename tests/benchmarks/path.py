"""From an archive to verdicts on one machine, against what anybody pays who reads its text.

The floor is FastWARC and Resiliparse's text extraction, with no tree walked twice and no bytes
guessed at: the page's encoding is taken from its header.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str

from crawler.commands import run_replay
from crawler.cursors import Cursors
from crawler.found import Limits
from crawler.jobs import Reader, job_of
from streams.settings import Settings
from tests.benchmarks.clock import Time, cpu, in_turns, ratio, spread, wall
from tests.benchmarks.rows import Bench, Family, Row


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


def replay(archive: Path, bus: Path) -> int:
    """A replay in local mode into a new directory; how many alerts it gave."""
    shutil.rmtree(bus, ignore_errors=True)
    settings = Settings(bus=f"local:{bus}")
    stop = threading.Event()
    job = job_of(
        [str(archive)], [], None, reader=Reader(settings.scheme, Limits()), settle_seconds=0,
        stop=stop,
    )  # fmt: skip
    cursor = run_replay(settings, job, Cursors(bus), stop, quiet=True)
    return cursor.tally.alerts or 0


def _measure(bench: Bench, names: Sequence[str]) -> list[Row]:
    corpus = bench.corpus
    with tempfile.TemporaryDirectory(dir=bench.directory) as temporary:
        bus = Path(temporary) / "bus"
        alerts = replay(corpus.archive, bus)
        times = in_turns(
            {
                "read": lambda: read(corpus.archive),
                "floor": lambda: read_text(corpus.archive),
                "first": lambda: replay(corpus.first, bus),
                "replay": lambda: replay(corpus.archive, bus),
            },
            bench.scale.rounds,
        )
    return _rows(times, corpus.facts.pages, alerts)


def _rows(times: dict[str, list[Time]], pages: int, alerts: int) -> list[Row]:
    verdicts = [
        Time(all_.cpu - one.cpu, all_.wall - one.wall)
        for all_, one in zip(times["replay"], times["first"], strict=True)
    ]

    def us(seconds: float) -> float:
        return seconds / pages * 1e6

    return [
        Row("fastwarc_alone", pages / cpu(times["read"]), "records/s",
            {"measures": "FastWARC, every response with its body",
             "us_per_page": us(cpu(times["read"]))}),
        Row("floor", us(cpu(times["floor"])), "µs/page",
            {"measures": "FastWARC and Resiliparse's extract_plain_text, CPU",
             "least_most": [us(s) for s in spread(times["floor"])]}),
        Row("warc_to_verdict", us(cpu(verdicts)), "µs/page",
            {"measures": "replay in local mode to verdicts on disk, CPU, without what a replay "
                         "of one page costs",
             "pages_per_second": pages / cpu(verdicts),
             "wall_us_per_page": us(wall(verdicts)),
             "least_most": [us(s) for s in spread(verdicts)],
             "one_page_seconds": cpu(times["first"]),
             "alerts": alerts}),
        Row("warc_to_verdict_over_floor", ratio(verdicts, times["floor"]), "×",
            {"measures": "warc_to_verdict / floor, the median of the rounds"}),
    ]  # fmt: skip


FAMILY = Family(
    ("fastwarc_alone", "floor", "warc_to_verdict", "warc_to_verdict_over_floor"), _measure
)
