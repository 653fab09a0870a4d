"""What a label pack costs: to build, to open, to look up, to keep, to share.

    python -m tests.benchmarks.labels_speed --labels 75e6 --directory DIR

75 million is the Wikipedia of 2014 (Ardi, Heidemann, §7). Half of the hashes asked for are in the
pack. The lookups that count are those of a pack in the page cache, as it is in a running worker;
`first` are those that have to map its pages first.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.building import LabelBuilder
from reusewatch.detector.labels.format import PackLabel
from reusewatch.detector.labels.pack import LabelPack, open_pack
from reusewatch.detector.ragged import Ragged, page_offsets
from reusewatch.detector.sketching.chunks import Chunks

WIKIPEDIA = 75_000_000
SCHEME = HashScheme()
_BATCH = 1 << 20
_ASKED = 2_000_000
_PER_CALL = 16_384  # chunks of a batch of pages


def hashes(start: int, count: int) -> NDArray[np.uint64]:
    """Distinct hashes, uniform: a bijection of their numbers."""
    words = np.arange(start, start + count, dtype=np.uint64)
    for shift, factor in ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53), (33, 1)):
        words ^= words >> np.uint64(shift)
        words *= np.uint64(factor)
    return words


def build(path: Path, labels: int) -> tuple[float, float]:
    """Seconds to build a pack of so many chunks from batches of pages, and the processor's."""
    begin, cpu = time.perf_counter(), time.process_time()
    with (
        TemporaryDirectory(dir=path.parent) as spill,
        closing(LabelBuilder(Path(spill), SCHEME)) as builder,
    ):
        label = builder.label(PackLabel(name="wikipedia", source="labels_speed"))
        for start in range(0, labels, _BATCH):
            column = hashes(start, min(_BATCH, labels - start))
            long = np.full(len(column), 200, np.uint32)
            ragged = Ragged(column, page_offsets([len(column)]))
            builder.add_chunks(label, Chunks(ragged, long, long, long))
        builder.build(path)
    return time.perf_counter() - begin, time.process_time() - cpu


def opening(path: Path, repeats: int = 20) -> float:
    """Seconds to open the pack and look one hash up: the median of many."""
    return statistics.median(_opened(path) for _ in range(repeats))


def _opened(path: Path) -> float:
    begin = time.perf_counter()
    open_pack(path, SCHEME).find("chunks", hashes(0, 1))
    return time.perf_counter() - begin


def lookups(pack: LabelPack, labels: int) -> dict[str, float]:
    """Nanoseconds a lookup: the first time, and with the pack mapped, by hit and miss."""
    some = np.random.default_rng(1).permutation(min(_ASKED, labels))
    hit = hashes(0, labels)[:: max(labels // _ASKED, 1)][:_ASKED][some]
    miss = hashes(labels, len(hit))
    mixed = np.concatenate([hit[::2], miss[::2]])[np.random.default_rng(2).permutation(len(hit))]
    first = _nanoseconds(pack, mixed)
    pack.chunks.table.hashes.sum()
    return {
        "first": first,
        **{
            name: min(_nanoseconds(pack, asked) for _ in range(5))
            for name, asked in (("mixed", mixed), ("hit", hit), ("miss", miss))
        },
    }


def _nanoseconds(pack: LabelPack, asked: NDArray[np.uint64]) -> float:
    """By the thread's own time: what other programs take of the core is not a lookup's."""
    begin = time.thread_time_ns()
    for start in range(0, len(asked), _PER_CALL):
        pack.find("chunks", asked[start : start + _PER_CALL])
    return (time.thread_time_ns() - begin) / len(asked)


_READER = """
import sys
from pathlib import Path
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.pack import open_pack
pack = open_pack(Path(sys.argv[1]), HashScheme())
sum(int(column.sum()) for column in (pack.chunks.table.hashes, pack.chunks.table.buckets,
    pack.chunks.sets))
print(flush=True)
sys.stdin.readline()
"""


def shared_memory(path: Path, processes: int = 2) -> dict[str, float]:
    """Bytes of the pack in memory: as each process sees it, and their share of it, summed."""
    command = [sys.executable, "-c", _READER, str(path)]
    readers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(processes)
    ]
    try:
        for reader in readers:
            assert reader.stdout is not None
            reader.stdout.readline()
        sizes = [_mapped(reader.pid, path) for reader in readers]
    finally:
        for reader in readers:
            reader.communicate(b"\n")
    return {"each": max(each for each, _ in sizes), "together": sum(share for _, share in sizes)}


def _mapped(process: int, path: Path) -> tuple[int, int]:
    inside, found = False, {"Rss": 0, "Pss": 0}
    for line in Path(f"/proc/{process}/smaps").read_text(encoding="utf-8").splitlines():
        if re.match("[0-9a-f]+-[0-9a-f]+ ", line):
            inside = line.endswith(str(path))
        elif inside and line.partition(":")[0] in found:
            found[line.partition(":")[0]] += int(line.split()[1]) << 10
    return found["Rss"], found["Pss"]


def measure(labels: int, directory: Path) -> dict[str, Any]:
    """All figures, for a pack of so many labels that is built in a directory and taken away."""
    with TemporaryDirectory(dir=directory) as folder:
        path = Path(folder) / "wikipedia.pack"
        seconds, cpu = build(path, labels)
        found = opening(path)
        memory = shared_memory(path)  # while this process maps nothing of it
        pack = open_pack(path, SCHEME)
        return {
            "labels": labels,
            "build_seconds": seconds,
            "build_cpu_seconds": cpu,
            "labels_open_seconds": found,
            "labels_lookup_ns": lookups(pack, labels),
            "labels_bytes_per_label": path.stat().st_size / labels,
            "memory": memory,
        }


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=float, default=WIKIPEDIA)
    parser.add_argument("--directory", type=Path, help="where there is room for 3 GB")
    chosen = parser.parse_args()
    found = measure(int(chosen.labels), chosen.directory)
    sys.stdout.write(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
