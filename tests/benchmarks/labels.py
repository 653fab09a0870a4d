"""A label pack of the size of a Wikipedia: to build, to open, to look up, to keep, to share."""

from __future__ import annotations

from collections.abc import Sequence

from tests.benchmarks import labels_speed
from tests.benchmarks.clock import pinned
from tests.benchmarks.rows import Bench, Family, Row

NAMES = (
    "labels_open_seconds",
    "labels_lookup_ns",
    "labels_bytes_per_label",
    "labels_build_seconds",
    "labels_two_processes_over_one",
)


def measure(bench: Bench, names: Sequence[str]) -> list[Row]:
    """All of them: the pack that they are measured on takes longest."""
    with pinned():
        found = labels_speed.measure(bench.scale.labels, bench.directory)
    labels, nanoseconds, memory = found["labels"], found["labels_lookup_ns"], found["memory"]
    return [
        Row(NAMES[0], found["labels_open_seconds"], "s",
            {"labels": labels, "what": "open and look one hash up; on the wall, median"}),
        Row(NAMES[1], nanoseconds["mixed"], "ns",
            {"labels": labels, "what": "half of those asked for are in the pack; CPU time",
             "ns": nanoseconds}),
        Row(NAMES[2], found["labels_bytes_per_label"], "bytes", {"labels": labels}),
        Row(NAMES[3], found["build_seconds"], "s",
            {"labels": labels, "what": "on the wall", "CPU seconds": found["build_cpu_seconds"]}),
        Row(NAMES[4], memory["together"] / memory["each"], "×",
            {"what": "memory that two processes with one pack take together, over one's",
             "bytes": memory}),
    ]  # fmt: skip


FAMILY = Family(NAMES, measure)
