"""What each sketch of a 500-word document costs, beside other libraries' MinHash alone.

    python -m tests.benchmarks.sketch_speed --peers VENV/bin/python

All on one core in one run, peers before and after ours, the best round of each: the ratio is
the result, absolute times are the machine's. A venv of peers: `pip install -r peers.txt`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.scanning.scan import Source, scan_batch
from reusewatch.detector.sketching.chunks import text_of
from reusewatch.detector.sketching.fingerprint import tokens_of
from reusewatch.detector.sketching.grams import gram_sets
from reusewatch.detector.sketching.shingles import min_values, phrases, supershingles
from reusewatch.detector.sketching.simhash import simhashes
from reusewatch.detector.sketching.sketches import BATCH_TOKENS, sketch
from reusewatch.detector.sketching.tokens import TokenBatch
from reusewatch.detector.sketching.weighted_terms import weighted_terms
from reusewatch.detector.sketching.word_counts import word_counts
from tests.benchmarks.peer_speed import documents, fastest

WORDS = 500
BATCH = BATCH_TOKENS // WORDS
SCHEME = HashScheme()


def tokenized(texts: list[str]) -> TokenBatch:
    """What the scan makes of these plain texts."""
    sources = [Source(text.encode(), html=False) for text in texts]
    return tokens_of(scan_batch(sources, key=SCHEME.key))


def signatures(texts: list[str]) -> None:
    """From text: 84 min-values twice, supershingles, 384-bit simhash, chunk hashes."""
    text = text_of(tokenized(texts), SCHEME)
    for k, circular in ((5, True), (8, False)):
        rows = min_values(phrases(text.tokens, k, SCHEME, circular=circular), SCHEME)
        supershingles(rows, SCHEME)
    simhashes(text.tokens, SCHEME)


def everything(texts: list[str]) -> None:
    """From text: all of that, identity, grams and weighted terms."""
    sketch(tokenized(texts), SCHEME)


def steps(texts: list[str]) -> dict[str, Callable[[], object]]:
    """Each step alone, on what the steps before it made."""
    batch = tokenized(texts)
    text = text_of(batch, SCHEME)
    tokens = text.tokens
    five = phrases(tokens, 5, SCHEME, circular=True)
    eight = phrases(tokens, 8, SCHEME, circular=False)
    rows, salts = min_values(five, SCHEME), text.identities
    counted = word_counts(batch.tokens, batch.fields, salts)
    return {
        "scan": partial(tokenized, texts),
        "visible text, chunks, identity": partial(text_of, batch, SCHEME),
        "phrases, k = 5": partial(phrases, tokens, 5, SCHEME, circular=True),
        "phrases, k = 8": partial(phrases, tokens, 8, SCHEME, circular=False),
        "min-values, k = 5": partial(min_values, five, SCHEME),
        "min-values, k = 8": partial(min_values, eight, SCHEME),
        "supershingles": partial(supershingles, rows, SCHEME),
        "simhash": partial(simhashes, tokens, SCHEME),
        "grams": partial(gram_sets, five, salts, wrapped=4),
        "words counted": partial(word_counts, batch.tokens, batch.fields, salts),
        "weighted terms": partial(weighted_terms, counted),
        "all sketches": partial(sketch, batch, SCHEME),
        "signatures from text": partial(signatures, texts),
        "all sketches from text": partial(everything, texts),
    }


def ours() -> dict[str, float]:
    """Seconds per document of each step."""
    texts = documents(BATCH, WORDS)
    return {name: fastest(run, BATCH, repeats=100) for name, run in steps(texts).items()}


def peers(python: Path, count: int = 300) -> dict[str, float]:
    """Seconds per document of each peer, measured by the venv's own interpreter."""
    script = Path(__file__).with_name("peer_speed.py")
    command = [str(python), str(script), str(count), str(WORDS)]
    single = os.environ | {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=single)
    seconds: dict[str, float] = json.loads(run.stdout)
    return seconds


def on_one_core() -> None:
    """Bind this process, and the peers it starts, to one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def measure(python: Path | None) -> dict[str, Any]:
    """The whole comparison; `ratio` is the best peer's time over our signatures'."""
    on_one_core()
    before = peers(python) if python else {}
    mine = ours()
    after = peers(python) if python else {}
    others = {name: min(before[name], after[name]) for name in before}
    ratio = min(others.values()) / mine["signatures from text"] if others else None
    return {"ours": mine, "peers": others, "ratio": ratio}


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, help="the interpreter of a venv from peers.txt")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    found = measure(chosen.peers)
    if chosen.json:
        sys.stdout.write(json.dumps(found) + "\n")
        return
    for part in ("ours", "peers"):
        for name, seconds in found[part].items():
            sys.stdout.write(f"{name:32} {seconds * 1e6:8.2f} µs  {1 / seconds:10,.0f} /s\n")
    if found["ratio"]:
        sys.stdout.write(f"signatures over the best peer: {found['ratio']:.2f} ×\n")


if __name__ == "__main__":
    main()
