"""What a benchmark says: rows, each under a name that scripts may rely on.

A family measures rows that belong together, in one side-by-side run. A row that was not run is
absent from the results, never zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from tests.benchmarks.corpus import Corpus, build
from tests.benchmarks.documents import Document, Kind, documents


@dataclass(frozen=True, slots=True)
class Budget:
    """What the design promises of a row."""

    bound: Literal["at most", "at least"]
    value: float

    def held(self, value: float) -> bool:
        """Whether a figure is within it.

        >>> Budget("at most", 0.7).held(0.5), Budget("at least", 1.8).held(1.7)
        (True, False)
        """
        return value <= self.value if self.bound == "at most" else value >= self.value


BUDGETS = {
    "warc_to_verdict_over_floor": Budget("at most", 0.7),
    "replay_cpu_over_floor_15k": Budget("at most", 1.0),
    "replay_cpu_over_floor_27k": Budget("at most", 0.7),
    "replay_two_workers_over_one": Budget("at least", 1.6),
    "replay_peak_mb": Budget("at most", 350),
    "replay_again_over_first": Budget("at most", 0.15),
    "replay_with_evidence_over_without": Budget("at most", 1.1),
    "command_start_seconds": Budget("at most", 0.35),
    "replay_start_seconds": Budget("at most", 1.0),
    "signatures_over_best_peer": Budget("at least", 1.7),
    "scan_hostile_over_real": Budget("at most", 3),
    "fingerprint_dense_over_real": Budget("at most", 4),
    "index_match_add_per_second": Budget("at least", 50_000),
    "index_bytes_per_page": Budget("at most", 450),
    "index_cost_10m_over_100k": Budget("at most", 1.5),
    "index_restore_seconds": Budget("at most", 60),
    "labels_open_seconds": Budget("at most", 0.1),
    "labels_lookup_ns": Budget("at most", 150),
    "labels_bytes_per_label": Budget("at most", 14),
    "kafka_over_local_per_core": Budget("at least", 0.6),
    "crawl_with_addon_over_without_kafka": Budget("at least", 0.95),
    "crawl_with_addon_over_without_local": Budget("at least", 0.9),
    "steer_response_seconds_local": Budget("at most", 1.0),
    "steer_finding_seconds_kafka": Budget("at most", 2.0),
    "kafka_cpu_over_local": Budget("at most", 1.6),
    "two_workers_over_one": Budget("at least", 1.8),
    "quilts_us_per_page": Budget("at most", 60),
    "quilts_bytes_per_page": Budget("at most", 1000),
    "scrape_seconds_million_hosts": Budget("at most", 0.1),
    "corpus_quilts_minutes": Budget("at most", 15),
    "corpus_quilts_gigabytes": Budget("at most", 8),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. `detail` says what was measured, and what it is made of."""

    name: str
    value: float
    unit: str
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def budget(self) -> Budget | None:
        """What is promised, if anything is."""
        return BUDGETS.get(self.name)


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured. The small one is for a test of the benchmarks themselves."""

    documents: int | None = None
    rounds: int = 5
    window_pages: int = 100_000
    kafka_rounds: int = 3
    kafka_pages: int = 16_000
    hostile_bytes: int = 1 << 20
    index_pages: tuple[int, ...] = (100_000, 1_000_000, 10_000_000)
    lsh_pages: int = 100_000
    labels: int = 75_000_000
    mwo_pages: int = 100_000
    quilts_pages: tuple[int, ...] = (100_000, 1_000_000)
    labels_in_force: int = 1_000_000
    replay_pages: int = 20_000
    replay_rounds: int = 3
    crawl_pages: int = 3000
    peak_pages: int = 100_000
    asked: int = 7
    hosts: int = 1_000_000


@dataclass
class Bench:
    """One run: where it keeps what it makes, and how much it measures."""

    directory: Path
    scale: Scale = field(default_factory=Scale)
    kind: Kind = "debian"
    # HOST:PORT of a broker that runs already; without one, a family that needs one starts it.
    broker: str | None = None
    say: Callable[[str], None] = lambda text: None

    @cached_property
    def documents(self) -> Sequence[Document]:
        """The documents that the corpus is made of."""
        return documents(self.kind, self.scale.documents)

    @cached_property
    def corpus(self) -> Corpus:
        """The archive that is replayed, written when it is first asked for."""
        return build(self.documents, self.directory)


@dataclass(frozen=True, slots=True)
class Family:
    """Rows that belong together. `measure` is told which are wanted, and may give all."""

    names: tuple[str, ...]
    measure: Callable[[Bench, Sequence[str]], list[Row]]
