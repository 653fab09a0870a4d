"""From an archive to fingerprints and to verdicts on one machine, against what anybody pays who
reads its text.

Verdicts are those of every detector: near-duplicates, neighborhoods, discovery, weighted terms
kept, and the labels of a pack in force.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reusewatch.crawler.pages.archive_events import Limits
from reusewatch.crawler.replaying.cursors import Cursors
from reusewatch.crawler.replaying.jobs import Reader, job_of
from reusewatch.crawler.replaying.origins import origin_reader
from reusewatch.crawler.replaying.replay import run_replay
from reusewatch.streams import topics
from reusewatch.streams.local import LocalBus
from reusewatch.streams.records import Alert
from reusewatch.streams.running.sinks import open_sink
from reusewatch.streams.settings import Settings
from reusewatch.streams.wire import read_json
from tests.benchmarks import dataset, fingerprinting, steps
from tests.benchmarks.clock import Time, cpu, in_turns, ratio, spread, wall
from tests.benchmarks.corpus import Facts
from tests.benchmarks.fingerprinting import fingerprint
from tests.benchmarks.floor import read, read_text
from tests.benchmarks.rows import Bench, Family, Row

TO_FINGERPRINT = "warc_to_fingerprint_over_floor"


def replay(archive: Path, bus: Path, pack: Path, **chosen: Any) -> None:
    """A replay in local mode into a new directory, with this label pack in force; settings may be
    chosen otherwise."""
    shutil.rmtree(bus, ignore_errors=True)
    settings = Settings(bus=f"local:{bus}", **chosen)
    dataset.put_in_force(pack, settings)
    stop = threading.Event()
    job = job_of(
        [str(archive)], [], None, reader=Reader(settings.scheme, Limits()), settle_seconds=0,
        stop=stop,
    )  # fmt: skip
    read_origin = origin_reader(settings.scheme, settings.max_body_bytes)
    sink = open_sink(settings, read_origin=read_origin, stop=stop, say=lambda text: None)
    run_replay(sink, job, Cursors(bus), stop=stop, checkpoint_seconds=settings.commit_seconds)


def alerts_of(bus: Path) -> Counter[str]:
    """How many alerts of each kind stand on a bus; one that was withdrawn does not count."""
    standing = dict[str, str]()
    for message in LocalBus(bus).read(topics.ALERTS):
        if message.value is None:
            standing.pop(message.key or "", None)
        else:
            standing[message.key or ""] = read_json(message, Alert).kind
    return Counter(standing.values())


def _measure(bench: Bench, names: Sequence[str]) -> list[Row]:
    corpus = bench.corpus
    with tempfile.TemporaryDirectory(dir=bench.directory) as temporary:
        bus = Path(temporary) / "bus"
        pack = dataset.build(
            bench.documents, Path(temporary) / "labels.pack", bench.scale.labels_in_force
        )
        replay(corpus.archive, bus, pack)
        alerts = alerts_of(bus)
        times = in_turns(
            {
                "read": lambda: read(corpus.archive),
                "floor": lambda: read_text(corpus.archive),
                "floor begun": lambda: read_text(corpus.begun),
                "fingerprint": lambda: fingerprint(corpus.archive),
                "first": lambda: replay(corpus.first, bus, pack),
                "begun": lambda: replay(corpus.begun, bus, pack),
                "replay": lambda: replay(corpus.archive, bus, pack),
            },
            bench.scale.rounds,
        )
    rows = _rows(times, corpus.facts, alerts)
    if TO_FINGERPRINT not in names:
        return rows
    pages = corpus.facts.pages
    taken = steps.measured(
        lambda: fingerprint(corpus.archive), fingerprinting.STEPS, pages, bench.scale.rounds
    )
    return [*rows, _to_fingerprint(times, pages, taken)]


def _to_fingerprint(times: dict[str, list[Time]], pages: int, taken: dict[str, float]) -> Row:
    made = times["fingerprint"]
    return Row(
        TO_FINGERPRINT, ratio(made, times["floor"]), "×",
        {"measures": "archive to fingerprint blocks / floor, the median of the rounds",
         "us_per_page": cpu(made) / pages * 1e6,
         "pages_per_second": pages / cpu(made),
         "steps": {"unit": "µs/page", **taken}},
    )  # fmt: skip


def _without(all_: list[Time], some: list[Time]) -> list[Time]:
    return [Time(a.cpu - b.cpu, a.wall - b.wall) for a, b in zip(all_, some, strict=True)]


def _rows(times: dict[str, list[Time]], facts: Facts, alerts: Counter[str]) -> list[Row]:
    pages, rest = facts.pages, facts.pages - facts.begun
    verdicts = _without(times["replay"], times["begun"])
    floor = _without(times["floor"], times["floor begun"])
    from_the_start = _without(times["replay"], times["first"])

    def us(seconds: float, of: int = pages) -> float:
        return seconds / of * 1e6

    return [
        Row("fastwarc_alone", pages / cpu(times["read"]), "records/s",
            {"measures": "FastWARC, every response with its body",
             "us_per_page": us(cpu(times["read"]))}),
        Row("floor", us(cpu(times["floor"])), "µs/page",
            {"measures": "FastWARC and Resiliparse's extract_plain_text, CPU",
             "least_most": [us(s) for s in spread(times["floor"])]}),
        Row("warc_to_verdict", us(cpu(verdicts), rest), "µs/page",
            {"measures": "replay in local mode to verdicts on disk, CPU, of the pages after the "
                         "first fifth, by which the detectors' tables are in memory",
             "pages_per_second": rest / cpu(verdicts),
             "wall_us_per_page": us(wall(verdicts), rest),
             "least_most": [us(s, rest) for s in spread(verdicts)],
             "one_page_seconds": cpu(times["first"]),
             "alerts": dict(alerts)}),
        Row("warc_to_verdict_over_floor", ratio(verdicts, floor), "×",
            {"measures": "warc_to_verdict / floor of the same pages, the median of the rounds",
             "from_the_first_page": ratio(from_the_start, times["floor"])}),
    ]  # fmt: skip


def by_step(bench: Bench) -> dict[str, float]:
    """Microseconds a page of each step of the way to a verdict, after the first fifth."""
    corpus = bench.corpus
    with tempfile.TemporaryDirectory(dir=bench.directory) as temporary:
        bus = Path(temporary) / "bus"
        pack = dataset.build(
            bench.documents, Path(temporary) / "labels.pack", bench.scale.labels_in_force
        )
        return steps.measured(
            lambda: replay(corpus.archive, bus, pack), steps.STEPS, corpus.facts.pages,
            bench.scale.rounds, less=lambda: replay(corpus.begun, bus, pack),
            less_pages=corpus.facts.begun,
        )  # fmt: skip


FAMILY = Family(
    (
        "fastwarc_alone",
        "floor",
        "warc_to_verdict",
        "warc_to_verdict_over_floor",
        TO_FINGERPRINT,
    ),
    _measure,
)
