"""The benchmark of label packs runs, and what it measures besides time holds at any size."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.benchmarks.labels_speed import hashes, measure


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_it_measures_a_small_pack(tmp_path: Path) -> None:
    found = measure(50_000, tmp_path)
    assert 9 <= found["labels_bytes_per_label"] <= 14
    assert found["memory"]["together"] < 1.5 * found["memory"]["each"]
    assert not list(tmp_path.iterdir())


def test_its_hashes_are_distinct() -> None:
    assert len({*hashes(0, 10_000).tolist()}) == 10_000
