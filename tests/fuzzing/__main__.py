"""Run one target: `python -m tests.fuzzing wire --seconds 600`, in `.fuzz/wire`.

Found inputs are kept in `found`, those that reach something new in `corpus`. An input must not take
more CPU time than `SLOWER` times the dearest of the seeds, byte for byte of the larger one, nor
more memory than `MEMORY` beyond what the seeds needed: what breaks either is reported as a crash.
"""

from __future__ import annotations

import argparse
import importlib
import os
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import atheris  # type: ignore[import-not-found]

from tests.fuzzing import WATCHED

SLOWER = 25
LEAST_SECONDS = 0.2
MEMORY = 512 << 20
LONGEST = 16_384
_AGAIN = 3


class TooSlow(Exception):
    """An input that takes far longer than those that the code itself makes."""


def main() -> None:
    """One target, for so many seconds."""
    parser = argparse.ArgumentParser(prog="tests.fuzzing")
    parser.add_argument("target", choices=list(WATCHED))
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--input", type=Path, help="run this one input, and say what it costs")
    told = parser.parse_args()
    directory = Path(".fuzz") / told.target
    for name in ("corpus", "found"):
        (directory / name).mkdir(parents=True, exist_ok=True)
    target = loaded(told.target)
    dearest = seeded(target, directory / "corpus")
    if told.input is not None:
        data = told.input.read_bytes()
        spent = timed(target, data)
        most = allowed(target, dearest, data)
        sys.stdout.write(f"{len(data)} bytes, {spent:.3f} s; {most:.3f} s may be spent\n")
        return
    bound_memory()
    options: dict[str, Any] = {}
    if hasattr(target, "changed"):
        options["custom_mutator"] = lambda data, most, seed: mutated(target, data, most, seed)
    arguments = [
        sys.argv[0], f"-max_total_time={told.seconds}", f"-artifact_prefix={directory}/found/",
        "-rss_limit_mb=0", "-timeout=60", f"-max_len={LONGEST}", "-print_final_stats=1",
        "-report_slow_units=1000", str(directory / "corpus"),
    ]  # fmt: skip
    atheris.Setup(arguments, lambda data: bounded(target, data, dearest), **options)
    atheris.Fuzz()


def loaded(name: str) -> ModuleType:
    """The target; what the engine watches must not have been imported before."""
    watched = WATCHED[name]
    packages = {module.partition(".")[0] for module in watched}
    others = [module for module in _ours() if not module.startswith(watched)]
    with atheris.instrument_imports(include=list(packages), exclude=others):
        return importlib.import_module(f"tests.fuzzing.{name}")


def _ours() -> Iterator[str]:
    """All of our modules by name: the engine takes whole packages, or what it is told to leave."""
    for package in ("crawler", "detector", "streams"):
        for path in Path(package).rglob("*.py"):
            yield ".".join(("reusewatch", *path.with_suffix("").parts)).removesuffix(".__init__")


def seeded(target: ModuleType, corpus: Path) -> float:
    """The seeds written down; the seconds that the dearest of them takes, once all is warm."""
    dearest = 0.0
    for number, seed in enumerate(target.seeds()):
        (corpus / f"seed-{number}").write_bytes(seed)
        target.once(seed)  # kernels are loaded, modules imported
        dearest = max(dearest, timed(target, seed))
    return dearest


def timed(target: ModuleType, data: bytes) -> float:
    """The CPU time that an input takes."""
    before = time.process_time()
    target.once(data)
    return time.process_time() - before


def allowed(target: ModuleType, dearest: float, data: bytes) -> float:
    """The CPU time that an input may take."""
    slower: int = getattr(target, "SLOWER", SLOWER)
    return max(slower * dearest, LEAST_SECONDS) * (1 + len(data) / LONGEST)


def bounded(target: ModuleType, data: bytes, dearest: float) -> None:
    """One input, within its time: the least of several, as a busy machine delays any of them."""
    most = allowed(target, dearest, data)
    if timed(target, data) <= most:
        return
    if (spent := min(timed(target, data) for _ in range(_AGAIN))) > most:
        raise TooSlow(f"{len(data)} bytes took {spent:.3f} s")


def bound_memory() -> None:
    """From now on an allocation beyond the bound fails, and that is a finding."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def mutated(target: ModuleType, data: bytes, most: int, seed: int) -> bytes:
    """Every third input is of the engine's own making, which knows nothing of formats."""
    if seed % 3 == 0:
        found: bytes = atheris.Mutate(data, most)
        return found
    changed: bytes = target.changed(data, seed)
    return changed if len(changed) <= most else data[:most]


if __name__ == "__main__":
    main()
