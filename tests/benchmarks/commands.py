"""What a user's own commands cost: each as a process of its own, from its begin to its end.

A replay has every stage, the evidence and a labeled dataset in force, onto an empty bus, as by
default. CPU time is that of the command and all that it starts; what one costs whatever it reads is
measured with the first page alone, taken off where a row says so, and shown beside it.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from reusewatch.streams import topics
from reusewatch.streams.local import LocalBus
from reusewatch.streams.records import Alert
from reusewatch.streams.settings import Settings
from reusewatch.streams.wire import read_json
from tests.benchmarks import dataset
from tests.benchmarks.documents import documents
from tests.benchmarks.rows import Bench, Family, Row
from tests.benchmarks.started import Usage, reusewatch, usage_of
from tests.benchmarks.user_corpora import COPIED, Size, UserCorpus, made_up, of_size, user_corpus

_15K, _27K = "replay_cpu_over_floor_15k", "replay_cpu_over_floor_27k"
_PER_SECOND = "replay_pages_per_second"
_TWO = "replay_two_workers_over_one"
_PEAK = "replay_peak_mb"
_AGAIN = "replay_again_over_first"
_EVIDENCE = "replay_with_evidence_over_without"
_WRITTEN = "replay_bytes_written_per_html_byte"
_START = "command_start_seconds"
_FIRST_PAGE = "replay_start_seconds"
NAMES = (
    _15K, _27K, _PER_SECOND, _TWO, _PEAK, _AGAIN, _EVIDENCE, _WRITTEN, _START, _FIRST_PAGE,
)  # fmt: skip
_SOME = 0.06
_SHARES = (0.0, _SOME, 0.3)
_COPIED_27K = 0.01
Env = Mapping[str, str] | None
_NO_EVIDENCE = {"REUSEWATCH_EVIDENCE_PAIRS": "0"}


@dataclass(slots=True)
class Runs:
    """Replays of one corpus, each kind of run under its name, a run a round."""

    bench: Bench
    directory: Path
    pack: Path
    corpus: UserCorpus
    found: dict[str, list[Usage]] = field(default_factory=dict)
    alerts: Counter[str] = field(default_factory=Counter)

    def replay(self, name: str, *flags: str, first: bool = False, env: Env = None) -> None:
        """A replay onto an empty bus, with the labels in force."""
        with tempfile.TemporaryDirectory(dir=self.directory) as bus:
            self._note(name, self._into(bus, *flags, first=first, env=env))
            if name == "replay" and not self.alerts:
                self.alerts = standing(Path(bus) / "bus")

    def again(self) -> None:
        """A replay, and the same once more onto the same bus; both kinds also of one page."""
        for first, names in ((False, ("before", "again")), (True, ("page", "page again"))):
            with tempfile.TemporaryDirectory(dir=self.directory) as bus:
                self._note(names[0], self._into(bus, first=first))
                self._note(names[1], self._run(bus, first=first))

    def floor(self) -> None:
        """FastWARC and Resiliparse, over all and over the first page."""
        for name, archives in (
            ("floor", self.corpus.archives),
            ("floor start", (self.corpus.first,)),
        ):
            used = usage_of(sys.executable, "-m", "tests.benchmarks.floor", *archives)
            self._note(name, used)

    def _into(self, bus: str, *flags: str, first: bool = False, env: Env = None) -> Usage:
        dataset.put_in_force(self.pack, Settings(bus=f"local:{bus}/bus"))
        return self._run(bus, *flags, first=first, env=env)

    def _run(self, bus: str, *flags: str, first: bool, env: Env = None) -> Usage:
        archives = (self.corpus.first,) if first else self.corpus.archives
        return reusewatch("replay", *archives, "--bus", f"local:{bus}/bus", *flags, env=env)

    def _note(self, name: str, used: Usage) -> None:
        self.found.setdefault(name, []).append(used)

    def cpu(self, name: str, start: str | None = None) -> float:
        """The median of the CPU seconds, without those of the start that is named."""
        taken = median(one.cpu for one in self.found[name])
        return taken - (median(one.cpu for one in self.found[start]) if start else 0)

    def wall(self, name: str) -> float:
        """The median of the seconds on the wall."""
        return median(one.wall for one in self.found[name])

    def ratio(self, over: str, under: str, starts: tuple[str, str] | None = None) -> float:
        """The median over the rounds of CPU over CPU, each without its own start."""
        off = [median(one.cpu for one in self.found[name]) for name in starts or ()] or [0, 0]
        return median(
            (a.cpu - off[0]) / (b.cpu - off[1])
            for a, b in zip(self.found[over], self.found[under], strict=True)
        )

    @property
    def facts(self) -> dict[str, Any]:
        """What was replayed, and what was found in it."""
        facts = self.corpus.facts
        return {
            **msgspec.to_builtins(facts),
            "bytes_per_page": facts.bytes_per_page,
            "alerts": dict(self.alerts),
            "near_alerts_of_pages": self.alerts["near-duplicate"] / facts.pages,
        }

    @property
    def over_floor(self) -> dict[str, Any]:
        """CPU beside the floor's."""
        pages = self.corpus.facts.pages
        return {
            "over_floor": self.ratio("replay", "floor", ("start", "floor start")),
            "with_start_over_floor": self.ratio("replay", "floor"),
            "start_cpu_seconds": self.cpu("start"),
            "us_per_page": self.cpu("replay", "start") / pages * 1e6,
            "floor_us_per_page": self.cpu("floor", "floor start") / pages * 1e6,
            "pages_per_second": pages / self.wall("replay"),
            "wall_seconds": self.wall("replay"),
            "rounds_cpu": [one.cpu for one in self.found["replay"]],
            **self.facts,
        }


def standing(bus: Path) -> Counter[str]:
    """How many alerts of each kind stand on a bus; one that was withdrawn does not count."""
    kinds = dict[str, str]()
    for message in LocalBus(bus).read(topics.ALERTS):
        if message.value is None:
            kinds.pop(message.key or "", None)
        else:
            kinds[message.key or ""] = read_json(message, Alert).kind
    return Counter(kinds.values())


def _runs(bench: Bench, directory: Path, size: Size, copied: float, pages: int) -> Runs:
    corpus = user_corpus(bench.directory, size, bench.kind, pages, copied)
    pack = directory / f"{size}.pack"
    if not pack.exists():
        some = of_size(size, bench.kind, pages)
        dataset.build(some, pack, bench.scale.labels_in_force)
    return Runs(bench, directory, pack, corpus)


def _beside_floor(runs: Runs, rounds: int, *others: Callable[[], None]) -> None:
    for _ in range(rounds):
        runs.floor()
        runs.replay("start", first=True)
        runs.replay("replay")
        for other in others:
            other()


def _of_15k(bench: Bench, directory: Path, names: Sequence[str]) -> list[Row]:
    runs = _runs(bench, directory, "15k", COPIED[_SOME], bench.scale.replay_pages)
    more: dict[str, Callable[[], None]] = {
        _TWO: lambda: runs.replay("two", "--workers", "2"),
        _AGAIN: runs.again,
        _EVIDENCE: lambda: runs.replay("without", env=_NO_EVIDENCE),
    }
    rounds = bench.scale.replay_rounds
    _beside_floor(runs, rounds, *(run for name, run in more.items() if name in names))
    shares = {}
    if _15K in names:
        for share in _SHARES:
            other = (
                runs
                if share == _SOME
                else _runs(bench, directory, "15k", COPIED[share], bench.scale.replay_pages)
            )
            if other is not runs:
                _beside_floor(other, 1)
            shares[f"{share:.0%}"] = other.over_floor
    return [_ROWS[name](runs, shares) for name in names if name in _ROWS]


def _over_floor(runs: Runs, shares: Mapping[str, Any]) -> Row:
    return Row(_15K, runs.over_floor["over_floor"], "×",
               {"measures": "CPU of reusewatch replay / FastWARC and Resiliparse's text of the "
                            "same archives, each without its start; 6 % near-duplicate alerts",
                **runs.over_floor, "by_share_of_near_alerts": dict(shares)})  # fmt: skip


def _per_second(runs: Runs, _: Mapping[str, Any]) -> Row:
    return Row(_PER_SECOND, runs.over_floor["pages_per_second"], "pages/s",
               {"measures": "pages / wall seconds of the whole command, one worker", **runs.facts,
                "wall_seconds": runs.wall("replay")})  # fmt: skip


def _two(runs: Runs, _: Mapping[str, Any]) -> Row:
    pages = runs.corpus.facts.pages
    pairs = zip(runs.found["replay"], runs.found["two"], strict=True)
    return Row(_TWO, median(a.wall / b.wall for a, b in pairs), "×",
               {"measures": "wall seconds of the whole command, one worker / --workers 2",
                "wall_seconds": [runs.wall("replay"), runs.wall("two")],
                "cpu_seconds": [runs.cpu("replay"), runs.cpu("two")],
                "pages_per_second": pages / runs.wall("two"), **runs.facts})  # fmt: skip


def _again(runs: Runs, _: Mapping[str, Any]) -> Row:
    return Row(_AGAIN, runs.ratio("again", "before", ("page again", "page")), "×",
               {"measures": "CPU of a second replay of the same archives onto the same bus / of "
                            "the first, each without its start",
                "cpu_seconds": [runs.cpu(name) for name in ("before", "again")],
                "start_cpu_seconds": [runs.cpu(name) for name in ("page", "page again")],
                **runs.facts})  # fmt: skip


def _with_evidence(runs: Runs, _: Mapping[str, Any]) -> Row:
    near = max(1, runs.alerts["near-duplicate"])
    more = runs.cpu("replay") - runs.cpu("without")
    return Row(_EVIDENCE, runs.ratio("replay", "without"), "×",
               {"measures": "CPU of the whole command, with evidence / with evidence_pairs = 0",
                "us_per_near_alert": more / near * 1e6,
                "cpu_seconds": [runs.cpu("replay"), runs.cpu("without")],
                **runs.facts})  # fmt: skip


def _written(runs: Runs, _: Mapping[str, Any]) -> Row:
    used = median(one.written_bytes for one in runs.found["replay"])
    return Row(_WRITTEN, used / runs.corpus.facts.html_bytes, "×",
               {"measures": "bytes that the command had written to disks / bytes of HTML",
                "written_bytes": used, **runs.facts})  # fmt: skip


_ROWS: Mapping[str, Callable[[Runs, Mapping[str, Any]], Row]] = {
    _15K: _over_floor, _PER_SECOND: _per_second, _TWO: _two, _AGAIN: _again,
    _EVIDENCE: _with_evidence, _WRITTEN: _written,
}  # fmt: skip


def _of_27k(bench: Bench, directory: Path) -> Row:
    runs = _runs(bench, directory, "27k", _COPIED_27K, bench.scale.replay_pages // 5)
    _beside_floor(runs, bench.scale.replay_rounds)
    return Row(_27K, runs.over_floor["over_floor"], "×",
               {"measures": "CPU of reusewatch replay / FastWARC and Resiliparse's text of the "
                            "same archives, each without its start; few alerts",
                **runs.over_floor})  # fmt: skip


def _peak(bench: Bench, directory: Path) -> Row:
    """Each page once: what is measured is a window that so many pages are in."""
    corpus = made_up(bench.directory, bench.scale.peak_pages)
    pack = directory / "made.pack"
    dataset.build(documents("generated", 200), pack, bench.scale.labels_in_force)
    runs = Runs(bench, directory, pack, corpus)
    runs.replay("start", first=True)
    runs.replay("replay")
    (used,), (start,) = runs.found["replay"], runs.found["start"]
    pages = corpus.facts.pages
    return Row(_PEAK, used.peak_bytes / 1e6, "MB",
               {"measures": "the most memory that a replay of so many made-up pages has, all of "
                            "them in the window; one worker",
                "start_mb": start.peak_bytes / 1e6,
                "bytes_per_page": (used.peak_bytes - start.peak_bytes) / pages,
                "cpu_us_per_page": (used.cpu - start.cpu) / pages * 1e6,
                "written_bytes": used.written_bytes, **runs.facts})  # fmt: skip


def _starts(bench: Bench, directory: Path, names: Sequence[str]) -> list[Row]:
    runs = _runs(bench, directory, "15k", COPIED[_SOME], bench.scale.replay_pages)
    bus = directory / "asked"
    archive = runs.corpus.first
    reusewatch("replay", archive, "--bus", f"local:{bus}")
    asked = {"alerts": ("alerts", "--bus", f"local:{bus}"),
             "verdicts": ("verdicts", "--bus", f"local:{bus}"), "--help": ("--help",)}  # fmt: skip
    times: dict[str, list[Usage]] = {}
    for _ in range(bench.scale.asked):
        for name, arguments in asked.items():
            times.setdefault(name, []).append(reusewatch(*arguments))
        runs.replay("first page", first=True)
    seconds = {name: median(one.wall for one in found) for name, found in times.items()}
    cpu = {name: median(one.cpu for one in found) for name, found in times.items()}
    rows = [
        Row(_START, max(seconds.values()), "s",
            {"measures": "wall seconds of a command that only reads, the slowest of these",
             "wall_seconds": seconds, "cpu_seconds": cpu}),
        Row(_FIRST_PAGE, runs.wall("first page"), "s",
            {"measures": "wall seconds of a whole replay of one page, kernels compiled",
             "cpu_seconds": runs.cpu("first page")}),
    ]  # fmt: skip
    return [row for row in rows if row.name in names]


def _measure(bench: Bench, names: Sequence[str]) -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(dir=bench.directory) as temporary:
        directory = Path(temporary)
        if wanted := [name for name in names if name in _ROWS]:
            rows += _of_15k(bench, directory, wanted)
        if _27K in names:
            rows.append(_of_27k(bench, directory))
        if wanted := [name for name in names if name in (_START, _FIRST_PAGE)]:
            rows += _starts(bench, directory, wanted)
        if _PEAK in names:
            rows.append(_peak(bench, directory))
    return rows


FAMILY = Family(NAMES, _measure)
