"""Three brokers that fail one after the other while every stage is at work.

`make stress-brokers` runs many rounds of what the test of this name runs two of, and says how long
the workers of each round needed to be at work again.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from reusewatch.streams import topics
from reusewatch.streams.kafka.admin import admin_client
from reusewatch.streams.kafka.checking import OFFSETS
from tests.deployed import Broker, quorum
from tests.end_to_end.runs import Run, State, run, state_in, wait_until
from tests.end_to_end.workers import Cluster, cluster_at, is_ready, stop, wait_calmly
from tests.pages import body_of, mixed_crawl, write_warc

# Two workers share the pages; each other stage has one, or one at work and one that stands by.
STAGES = ("fingerprint", "fingerprint", "index", "neighborhoods")
AT_WORK_SECONDS = 30.0
RULES: dict[str, object] = {"neighborhood_files": 3, "badness_threshold": 0.1}
# Of the texts a quarter is labeled, so that a fifth of the pages have such a text, on every site.
LABELED = 0.25
FAULTS = ("any", "controller", "coordinator", "leader", "rebalance")


@dataclass(frozen=True, slots=True)
class Web:
    """Archives to be replayed one after the other, a label pack, and what is to be found."""

    parts: Sequence[Path]
    pack: Path
    wanted: State


def make_web(directory: Path, parts: int, pages: int, random: Random) -> Web:
    """So many archives of so many pages each; judged once, undisturbed, on a local bus."""
    fetches = mixed_crawl(parts * pages, random.randrange)
    random.shuffle(fetches)
    archives = [directory / f"part-{part}.warc.gz" for part in range(parts)]
    for part, archive in enumerate(archives):
        write_warc(fetches[part::parts], archive)
    known = []
    for text in range(int(LABELED * parts * pages)):
        known.append(directory / f"{text}.html")
        known[-1].write_bytes(body_of(text))
    pack, bus = directory / "known.pack", ("--bus", "local:undisturbed")
    for command in (
        ("labels", "build", "known", *known, "-o", pack),
        ("labels", "push", pack, *bus),
        ("replay", *archives, *bus),
    ):
        done = run(*command, cwd=directory, **RULES)
        assert done.code == 0, done.err
    wanted = state_in(directory / "undisturbed")
    kinds = {alert["kind"] for alert in wanted.alerts.values()}
    assert kinds >= {"duplicate", "labeled-page", "bad-neighborhood"}
    return Web(archives, pack, wanted)


@dataclass
class Trial:
    """Every stage at work on three brokers."""

    brokers: list[Broker]
    cluster: Cluster
    random: Random
    report: Callable[[str], None]
    workers: list[Run] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def begin(self, web: Web) -> None:
        pushed = self.cluster.run("labels", "push", web.pack)
        assert pushed.code == 0, pushed.err
        self.workers = [
            self.cluster.work(stage, state=f"state-{at}") for at, stage in enumerate(STAGES)
        ]
        for worker in self.workers:
            wait_until(lambda: is_ready(worker))  # noqa: B023

    def fail_one(self, fault: str, archive: Path) -> None:
        """One broker dies somewhere in a replay; all go on without it, and it comes back."""
        self.report(f"{fault}: {archive.name}")
        sent = self.cluster.count(topics.PAGES)
        replay = self.cluster.start("replay", archive)
        enough = sent + self.random.randrange(100)
        wait_calmly(lambda: self.cluster.count(topics.PAGES) >= enough or not replay.running)
        joining = self._joined_by_another() if fault == "rebalance" else None
        victim = self._victim(fault)
        before = self.cluster.offsets()
        victim.kill()
        self._await_at_work(before, f"{fault}, broker {self.brokers.index(victim) + 1}")
        assert replay.end().code == 0, replay.said
        victim.start(180)
        if joining is not None:
            wait_until(lambda: is_ready(joining))
            assert stop(joining).code == 0, joining.said

    def fail_two(self, archive: Path) -> None:
        """With two of three gone everything waits and says so; then it goes on."""
        self.report(f"two of three: {archive.name}")
        before = self.cluster.offsets()
        gone = self._two_that_are_needed()
        replay = self.cluster.start("replay", archive)
        for broker in gone:
            broker.kill()
        for worker in self.workers:
            wait_until(lambda: is_waiting(worker))  # noqa: B023
        assert replay.running
        for broker in gone:
            broker.begin()
        for broker in gone:
            broker.await_ready(180)
        self._await_at_work(before, "two of three")
        assert replay.end().code == 0, replay.said

    def end(self, web: Web) -> None:
        """Nothing is lost, and nothing told that an undisturbed run does not tell."""
        self.cluster.await_done()
        state = self.cluster.state()
        assert state.alerts.keys() == web.wanted.alerts.keys()
        assert state.verdicts == web.wanted.verdicts
        assert state.dead == web.wanted.dead
        for worker in self.workers:
            ended = stop(worker)
            assert ended.code == 0, ended.err
            assert "Traceback" not in ended.err, ended.err

    def _joined_by_another(self) -> Run:
        """A worker that joins a group, which is being shared out anew when this returns."""
        another = self.cluster.work("fingerprint", state="another")
        wait_calmly(lambda: self._group_state("fingerprint") != "Stable" or is_ready(another))
        return another

    def _group_state(self, group: str) -> str:
        name = self.cluster.config.topic_prefix + group
        with admin_client(self.cluster.config) as client:
            state: str = client.describe_groups([name])[name]["group_state"]
        return state

    def _victim(self, fault: str) -> Broker:
        with admin_client(self.cluster.config) as client:
            if fault == "controller":
                quorum_of = client.describe_metadata_quorum()
                node = quorum_of["topics"][0]["partitions"][0]["leader_id"]
            elif fault in ("coordinator", "rebalance"):
                node = self._coordinator(client, "fingerprint")
            elif fault == "leader":
                node = self._leader(client, self.cluster.config.topic(topics.FINGERPRINTS), 0)
            else:
                node = self.random.randint(1, len(self.brokers))
        return self.brokers[node - 1]

    def _two_that_are_needed(self) -> list[Broker]:
        """Brokers of groups first: a worker that is idle misses nothing while its group and its
        partitions are led by the broker that is left."""
        with admin_client(self.cluster.config) as client:
            leading = [self._coordinator(client, group) for group in self.cluster.groups]
        others = self.random.sample(range(1, len(self.brokers) + 1), len(self.brokers))
        nodes = list(dict.fromkeys([*leading, *others]))
        return [self.brokers[node - 1] for node in nodes[:2]]

    def _coordinator(self, client: Any, group: str) -> int:
        """The broker of a group, which leads the partition that has its offsets."""
        name = self.cluster.config.topic_prefix + group
        count = len(client.describe_topics([OFFSETS])[0]["partitions"])
        return self._leader(client, OFFSETS, (java_hash(name) & 0x7FFFFFFF) % count)

    @staticmethod
    def _leader(client: Any, topic: str, number: int) -> int:
        found = client.describe_topics([topic])[0]["partitions"]
        return next(int(one["leader_id"]) for one in found if one["partition_index"] == number)

    def _await_at_work(self, before: dict[tuple[str, int], tuple[int, int]], what: str) -> None:
        """Every group goes on with every partition, or has nothing left there to do."""
        began = time.monotonic()

        def at_work() -> bool:
            now = self.cluster.offsets()
            return all(at > before[part][0] or at == end for part, (at, end) in now.items())

        wait_calmly(at_work, AT_WORK_SECONDS)
        self.seconds.append(time.monotonic() - began)
        self.report(f"{what}: at work again after {self.seconds[-1]:.1f} s")


def is_waiting(worker: Run) -> bool:
    """Whether the last that it said of the broker is that it is away."""
    return worker.said.rfind("broker away") > worker.said.rfind("broker back")


def java_hash(text: str) -> int:
    """`String.hashCode`, by which a group has its partition of offsets."""
    found = 0
    for character in text:
        found = (31 * found + ord(character)) & 0xFFFFFFFF
    return found


def run_rounds(
    brokers: list[Broker], directory: Path, faults: Sequence[str], seed: int, pages: int,
    report: Callable[[str], None],
) -> Sequence[float]:  # fmt: skip
    """A round for each of these faults, then one without two brokers; seconds of each."""
    random = Random(seed)
    web = make_web(directory, len(faults) + 1, pages, random)
    addresses = ",".join(broker.address for broker in brokers)
    with cluster_at(addresses, directory, **RULES) as cluster:
        cluster.groups = tuple(sorted(set(STAGES)))
        running = Trial(brokers, cluster, random, report)
        running.begin(web)
        for fault, archive in zip(faults, web.parts, strict=False):
            running.fail_one(fault, archive)
        running.fail_two(web.parts[-1])
        running.end(web)
        return running.seconds


def report(text: str) -> None:
    """Say it now, in a log as well."""
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)  # noqa: T201


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10, help="faults of one broker each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pages", type=int, default=600, help="of each round")
    args = parser.parse_args()
    random = Random(args.seed)
    faults = [random.choice(FAULTS) for _ in range(args.rounds)]
    directory = Path(tempfile.mkdtemp(prefix="reusewatch-brokers-"))
    report(f"what workers and brokers say is in {directory}; removed if all goes well")
    with quorum(directory / "brokers") as brokers:
        seconds = run_rounds(brokers, directory, faults, args.seed, args.pages, report)
    shutil.rmtree(directory)
    report(f"{len(seconds)} rounds, nothing lost; at work again after {max(seconds):.1f} s at most")
    return 0


if __name__ == "__main__":
    sys.exit(main())
