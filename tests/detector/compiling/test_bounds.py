"""The twins' tests once more, with every index checked: nothing is read or written out of bounds,
and no index is below 0. In machine code of its own: what is kept knows nothing of such checks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import ROOT

_TESTS = (
    "discovery", "evidence", "labels/test_dataset.py", "labels/test_gram_containment.py",
    "phrases/test_places.py", "quilts", "similar/test_index.py", "similar/test_one_pass.py",
    "sketching/test_sketches.py", "sketching/test_weighted_terms.py", "window/test_clusters.py",
    "window/test_index_exact.py", "window/test_inheriting.py", "window/test_owned.py",
    "window/test_shares.py", "window/test_versions.py",
)  # fmt: skip


@pytest.mark.timeout(900)
def test_kernels_stay_in_bounds(tmp_path: Path) -> None:
    given = {
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_OPT": "1",  # most of its time is compiling
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    tests = [f"tests/detector/{name}" for name in _TESTS]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        env={**os.environ, **given}, cwd=ROOT, text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
