"""How long a question to running workers takes as they remember more: over HTTP, as people ask.

The made-up web is replayed on one machine, and its blocks go to a real broker as they are. Workers
take them up, `index` and `neighborhoods`, and are asked. The first question of a kind finds nothing
prepared; of later ones it is the median.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.kafka import KafkaBus
from reusewatch.streams.local import LocalBus
from reusewatch.streams.running.asking import Ask
from reusewatch.streams.settings import Settings
from tests.benchmarks.clock import cores
from tests.benchmarks.kafka import bus_at, flags_of
from tests.benchmarks.made_up_web import Web
from tests.benchmarks.processes import Worker, until, working
from tests.benchmarks.started import reusewatch
from tests.benchmarks.user_corpora import made_up
from tests.deployed import Broker
from tests.experiments.report import Experiment, Row

NAME = "asked-worker"
_SIZES = (10_000, 1_000_000)
_QUICK = (40,)
_TIMES = 5
# Of a block, what a worker may take for a page before this gives up.
_SECONDS_PER_PAGE, _LEAST_SECONDS = 0.002, 300.0


def measured(directory: Path, address: str, pages: int) -> Row:
    """One size: the workers take all up, and are asked."""
    bus, asked_for = bus_at(address), Web().page(pages - 1).url
    with tempfile.TemporaryDirectory(dir=directory) as temporary:
        local = f"{temporary}/bus"
        reusewatch("replay", *made_up(directory, pages).archives, "--bus", f"local:{local}")
        flags = (*flags_of(bus), "--state", f"{temporary}/state")
        index = Worker("index", *flags, core=cores()[0])
        prefixes = Worker("neighborhoods", *flags, core=cores()[-1])
        with working(index, prefixes):
            _bring(Path(local), bus)
            patience = max(_LEAST_SECONDS, pages * _SECONDS_PER_PAGE)
            until(lambda: min(index.pages(), prefixes.pages()) >= pages, patience=patience)
            url = {"url": asked_for}
            return {
                "pages": pages,
                **_asked(index, "clusters", {"top": "10"}),
                **_asked(index, "clusters", url, "clusters_of_a_page"),
                **_asked(index, "similar", {"threshold": "0.75", "top": "20", **url}),
                **_asked(prefixes, "neighborhoods", {"top": "20", "files": "1"}),
            }


def _bring(local: Path, bus: KafkaBus) -> None:
    outlet = bus.outlet()
    for block in LocalBus(local).read(topics.FINGERPRINTS):
        outlet.send(Outgoing(topics.FINGERPRINTS, block.key or "", block.value, block.headers))
    outlet.flush()
    outlet.close()


def _asked(worker: Worker, question: str, parameters: Mapping[str, str], name: str = "") -> Row:
    ask = Ask(Settings(), worker.stage, worker.address)
    first, *later = [_seconds(ask, question, parameters) for _ in range(1 + _TIMES)]
    name = name or question
    return {f"{name}_first_seconds": first, f"{name}_seconds": round(median(later), 3)}


def _seconds(ask: Ask, question: str, parameters: Mapping[str, str]) -> float:
    begin = time.perf_counter()
    ask(question, dict(parameters))
    return round(time.perf_counter() - begin, 3)


def run(output: Path, quick: bool) -> list[Row]:
    """All sizes."""
    output.mkdir(parents=True, exist_ok=True)
    with Broker() as broker:
        return [measured(output, broker.address, pages) for pages in (_QUICK if quick else _SIZES)]


EXPERIMENT = Experiment(NAME, run)
