"""What a replay costs as the work grows: the same made-up web, ever more pages of it.

Each size is replayed by the command itself onto an empty bus; then it is asked, and started again
with one page more, which takes up all that is remembered. Nothing may grow faster than the pages:
µs and bytes of a page are flat once the tables of the detectors are in memory.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from reusewatch.streams.settings import Settings
from reusewatch.streams.stages.snapshot import Snapshots
from tests.benchmarks.corpus import Response, write
from tests.benchmarks.made_up_web import Web
from tests.benchmarks.started import Usage, reusewatch
from tests.benchmarks.user_corpora import made_up
from tests.experiments.report import Experiment, Panel, Row, Series, plot

NAME = "growth"
_SIZES = (10_000, 100_000, 1_000_000)
_QUICK = (40, 80)


def measured(directory: Path, pages: int) -> Row:
    """One size: the replay, questions, and a restart."""
    corpus, asked_for = made_up(directory, pages), Web().page(pages - 1).url
    with tempfile.TemporaryDirectory(dir=directory) as temporary:
        where = Path(temporary) / "bus"
        bus = ("--bus", f"local:{where}")
        start, asking = _start(directory)
        replayed = reusewatch("replay", *corpus.archives, *bus)
        more = Path(temporary) / "more.warc.gz"
        write([Response("https://www.late.example/", b"<p>one page more</p>")], more, since=pages)
        again = reusewatch("replay", str(more), *bus)
        asked = {
            "alerts": reusewatch("alerts", *bus, "--json"),
            "similar": reusewatch("similar", asked_for, *bus, "--json"),
            "clusters": reusewatch("clusters", *bus, "--json"),
            "neighborhoods": reusewatch("neighborhoods", *bus, "--json"),
        }
        snapshot = _snapshot(where, Path(temporary))
        kept = {name: _size(where / name) for name in ("snapshots", "fingerprints", "")}
    return {
        "pages": pages,
        "us_per_page": round((replayed.cpu - start.cpu) / pages * 1e6, 1),
        "peak_mb": round(replayed.peak_bytes / 1e6, 1),
        "bytes_per_page_in_memory": round((replayed.peak_bytes - start.peak_bytes) / pages),
        "restart_seconds": round(again.cpu - start.cpu, 3),
        "snapshot_seconds": round(snapshot, 3),
        "asking_start_seconds": round(asking.cpu, 3),
        **{f"{name}_seconds": round(used.cpu, 3) for name, used in asked.items()},
        "snapshot_bytes_per_page": round(kept["snapshots"] / pages),
        "log_bytes_per_page": round(kept["fingerprints"] / pages),
        "disk_bytes_per_page": round(kept[""] / pages),
    }


def _start(directory: Path) -> tuple[Usage, Usage]:
    """What a replay of one page costs, and a question to its state."""
    with tempfile.TemporaryDirectory(dir=directory) as temporary:
        bus = ("--bus", f"local:{temporary}/bus")
        replayed = reusewatch("replay", made_up(directory, 1).first, *bus)
        return replayed, reusewatch("clusters", *bus, "--json")


def _snapshot(bus: Path, directory: Path) -> float:
    """CPU of writing what the index remembers, as each minute of a replay has it written."""
    scheme = Settings().scheme
    loaded = Snapshots(bus / "snapshots", "index", scheme).load()
    if loaded.state is None:
        raise RuntimeError(f"{bus} holds no snapshot")
    before = time.process_time()
    Snapshots(directory / "again", "index", scheme).save(loaded.state, loaded.offsets)
    return time.process_time() - before


def _size(place: Path) -> int:
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file())


def run(output: Path, quick: bool) -> list[Row]:
    """All sizes."""
    output.mkdir(parents=True, exist_ok=True)
    rows = [measured(output, pages) for pages in (_QUICK if quick else _SIZES)]
    sizes = [float(row["pages"]) for row in rows]
    panels = [
        Panel(
            name,
            "pages",
            name,
            [Series(name, sizes, [float(row[name]) for row in rows])],
            logarithmic="x",
        )
        for name in (
            "us_per_page",
            "peak_mb",
            "snapshot_seconds",
            "restart_seconds",
            "alerts_seconds",
            "similar_seconds",
            "clusters_seconds",
            "neighborhoods_seconds",
        )
    ]
    plot(panels, output / NAME)
    return rows


EXPERIMENT = Experiment(NAME, run)
