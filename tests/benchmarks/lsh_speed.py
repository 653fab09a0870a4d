"""Our index beside datasketch's and rensa's LSH, on the same pages with planted near-copies.

    python -m tests.benchmarks.lsh_speed --peers VENV/bin/python --pages 100000

Each from its own signatures; making them is not in the time. Ours judges by `either` of
Henzinger's algorithms, and gives verdict, cluster and expiry with it; theirs give candidates.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TypedDict

import numpy as np

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.sketching.sketches import Sketches, sketch
from reusewatch.detector.window.adding import WEB_BEGINS_US
from reusewatch.detector.window.index import NearDuplicateIndex
from reusewatch.detector.window.near_rules import Policy, sample_of
from reusewatch.detector.window.sightings import Judgements, Sightings
from tests.benchmarks.clock import pinned
from tests.benchmarks.lsh_peers import PEERS, Planted, Tally, batches, resident
from tests.benchmarks.sketch_speed import tokenized

NOW = 1 << 60
_SECOND = 1_000_000
_SCHEME = HashScheme()
_FIRST_PAGE = 1


class Found(TypedDict):
    """What an index was found to do."""

    pages: int
    seconds_per_page: float
    bytes_per_page: float
    recall: dict[str, float]
    others: int


def ours(count: int) -> Found:
    """Our index, on one core."""
    with pinned():
        _measure(1000)  # compiles
        return _measure(count)


def _measure(count: int) -> Found:
    index = NearDuplicateIndex(max_pages=count, policy=Policy("either"))
    tally, seconds, before = Tally(), 0.0, resident()
    for begin, pages in batches(count):
        taken = _sightings(begin, pages)
        start = time.process_time()
        judged = index.add(taken, now=NOW)
        seconds += time.process_time() - start
        for number, page in enumerate(pages):
            tally.count(page, _answer(judged, number))
    return Found(
        pages=count, seconds_per_page=seconds / count,
        bytes_per_page=(resident() - before) / count, recall=tally.recall(), others=tally.others,
    )  # fmt: skip


def _answer(judged: Judgements, page: int) -> list[int]:
    near = judged.match(page).near
    return [] if near is None else [near.seen.page - _FIRST_PAGE]


def _sightings(begin: int, pages: list[Planted]) -> Sightings:
    texts = [" ".join(f"w{word}" for word in page.words.tolist()) for page in pages]
    return sightings(begin, sketch(tokenized(texts), _SCHEME))


def sightings(begin: int, made: Sketches) -> Sightings:
    """Pages with these sketches, each on a site of its own, numbered from `begin` on."""
    number = np.arange(begin, begin + len(made), dtype=np.uint64) + np.uint64(_FIRST_PAGE)
    urls = [f"https://site-{page}.example/".encode() for page in number.tolist()]
    return Sightings(
        page=number,
        site=number,
        at=WEB_BEGINS_US + number.astype(np.int64) * _SECOND,
        text=made.identity,
        file=made.identity,
        origin=np.zeros(len(made), np.uint64),
        start=np.zeros(len(made), np.uint32),
        end=np.ones(len(made), np.uint32),
        super8=made.supershingles8,
        super5=made.supershingles5,
        simhash=made.simhash,
        sample=sample_of(made.min_values5),
        urls=np.frombuffer(b"".join(urls), np.uint8),
        url_offsets=np.cumsum([0, *map(len, urls)]),
    )


def peers(python: Path, count: int) -> dict[str, Found]:
    """Each peer in a process of its own, under the venv's interpreter."""
    return {name: _peer(python, name, count) for name in PEERS}


def _peer(python: Path, name: str, count: int) -> Found:
    script = str(Path(__file__).with_name("lsh_peers.py"))
    command = [str(python), script, name, str(count)]
    with pinned():
        run = subprocess.run(command, check=True, capture_output=True, text=True)
    found: Found = json.loads(run.stdout)
    return found


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, help="the interpreter of a venv from peers.txt")
    parser.add_argument("--pages", type=int, default=100_000)
    chosen = parser.parse_args()
    found = {"reusewatch": ours(chosen.pages)}
    if chosen.peers:
        found |= peers(chosen.peers, chosen.pages)
    sys.stdout.write(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
