"""How fast the scan is: beside Resiliparse's text extraction, and on pages made to be slow.

    python -m tests.benchmarks.scan_speed

Figures are ratios of CPU times taken in turn in one run on one core; best of several rounds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree

from reusewatch.detector.hashing import PUBLIC_KEY
from reusewatch.detector.scanning.scan import Source, scan, scan_batch
from tests.detector.scanning.hostile_rows import ROWS, row
from tests.real_pages import real_pages

_ROUNDS = 7
_BATCH = 64


def _seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def speed(pages: Sequence[bytes]) -> dict[str, float]:
    """µs a page: the scan in batches, page by page, Resiliparse; and how many times faster."""
    sources = [Source(page, "docs.test", "docs.test", "http://docs.test/x") for page in pages]
    texts = [page.decode("utf-8", "replace") for page in pages]

    def batched() -> None:
        for start in range(0, len(sources), _BATCH):
            scan_batch(sources[start : start + _BATCH], key=PUBLIC_KEY)

    def alone() -> None:
        for source in sources:
            scan_batch([source], key=PUBLIC_KEY)

    def peer() -> None:
        for text in texts:
            extract_plain_text(HTMLTree.parse(text))

    best: dict[str, float] = {}
    for _ in range(_ROUNDS):
        for name, run in (("batched", batched), ("alone", alone), ("resiliparse", peer)):
            best[name] = min(best.get(name, 1e9), _seconds(run) / len(pages) * 1e6)
    best["times_faster"] = best["resiliparse"] / best["batched"]
    best["bytes"] = sum(map(len, pages)) / len(pages)
    return best


def hostile(size: int = 1 << 20) -> dict[str, float]:
    """Time per byte of each hostile row over that of real pages."""
    real = b"".join(page for _, page in real_pages())[:size]
    best: dict[str, float] = {}
    rows = {"real pages": real, **{name: row(name, size) for name in ROWS}}
    for _ in range(2 * _ROUNDS):
        for name, page in rows.items():
            taken = _seconds(lambda page=page: scan(page, key=PUBLIC_KEY))  # type: ignore[misc]
            best[name] = min(best.get(name, 1e9), taken / len(page))
    return {name: taken / best["real pages"] for name, taken in best.items()}


def main() -> None:
    """Print both tables."""
    for name, value in speed([page for _, page in real_pages()][:150]).items():
        sys.stdout.write(f"{name:24}{value:12.1f}\n")
    for name, value in sorted(hostile().items(), key=lambda item: -item[1]):
        sys.stdout.write(f"{name:32}{value:8.2f}\n")


if __name__ == "__main__":
    main()
