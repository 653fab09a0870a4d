"""Signatures from text, and text from HTML, beside the libraries that others use for them.

The libraries are installed once into a venv below .bench, never into the project's own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks import dense_text, scan_speed, sketch_speed
from tests.benchmarks.clock import pinned
from tests.benchmarks.rows import Bench, Family, Row

# The first two install what they compare with.
BESIDE_PEERS = ("signatures_over_best_peer", "scan_over_resiliparse")
NAMES = (*BESIDE_PEERS, "scan_hostile_over_real", "fingerprint_dense_over_real")
_PEERS = Path(__file__).with_name("peers.txt")
_PAGES = 300


def peers_python(bench: Bench) -> Path:
    """The interpreter of the peers' venv, made when it is first asked for."""
    venv = bench.directory.resolve() / "peers"
    python, ready = venv / "bin" / "python", venv / _PEERS.name
    if not ready.exists() or ready.read_text() != _PEERS.read_text():
        bench.say("installing the libraries that are measured beside ours (once)")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "-r", str(_PEERS)]
        subprocess.run(install, check=True)
        ready.write_text(_PEERS.read_text())
    return python


def measure(bench: Bench, names: Sequence[str]) -> list[Row]:
    """Those of the rows that are wanted."""
    rows = []
    with pinned():
        if NAMES[0] in names:
            rows.append(_signatures(bench))
        if NAMES[1] in names:
            rows.append(_scan(bench))
        if NAMES[2] in names:
            ratios = scan_speed.hostile(bench.scale.hostile_bytes)
            worst = max(ratios.values())
            rows.append(Row(NAMES[2], worst, "× per byte", {"rows": ratios}))
        if NAMES[3] in names:
            rows.append(_dense(bench))
    return rows


def _dense(bench: Bench) -> Row:
    found = dense_text.costs([one.html for one in bench.documents[:_PAGES]], bench.scale.rounds)
    real = found["real"].per_byte
    ratios = {kind: cost.per_byte / real for kind, cost in found.items() if kind != "real"}
    detail = {
        "what": "CPU of whole fingerprints of a byte, the dearest kind / real pages of that size",
        "by kind": ratios,
        "ns/word": {kind: cost.per_word for kind, cost in found.items()},
    }
    return Row(NAMES[3], max(ratios.values()), "× per byte", detail)


def _signatures(bench: Bench) -> Row:
    found = sketch_speed.measure(peers_python(bench))
    detail: dict[str, Any] = {
        "what": "84 min-values twice, supershingles, simhash, chunks of 500 words, from text",
        "our steps, µs": {name: seconds * 1e6 for name, seconds in found["ours"].items()},
        "MinHash of peers, µs": {name: seconds * 1e6 for name, seconds in found["peers"].items()},
        "documents/s": 1 / found["ours"]["signatures from text"],
    }
    return Row(NAMES[0], found["ratio"], "×", detail)


def _scan(bench: Bench) -> Row:
    """Ours to tokens and offsets, the others' to text without either."""
    listed = bench.directory / "peer-pages.txt"
    pages = bench.directory / "peer-pages"
    pages.mkdir(exist_ok=True)
    paths = []
    for number, document in enumerate(bench.documents[:_PAGES]):
        paths.append(pages / f"{number}.html")
        paths[-1].write_bytes(document.html)
    listed.write_text("\n".join(map(str, paths)))
    found = scan_speed.speed([document.html for document in bench.documents[:_PAGES]])
    script = str(Path(__file__).with_name("html_peer_speed.py"))
    command = [str(peers_python(bench)), script, str(listed)]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    peers = {name: seconds * 1e6 for name, seconds in json.loads(run.stdout).items()}
    return Row(NAMES[1], found["times_faster"], "×", {"µs/page": found | peers})


FAMILY = Family(NAMES, measure)
