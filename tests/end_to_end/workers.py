"""Real processes on a real broker: a replay, workers, and when all of it is done."""

from __future__ import annotations

import contextlib
import re
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, TypeVar

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from reusewatch.streams import topics
from reusewatch.streams.bus import Unreachable
from reusewatch.streams.kafka import KafkaBus, KafkaConfig
from reusewatch.streams.kafka.admin import admin_client
from reusewatch.streams.kafka.bounds import bounds
from reusewatch.streams.kafka.config import reader_settings
from tests.broker import quick_config
from tests.command import COMMAND, Done
from tests.end_to_end.runs import PATIENCE, Run, State, run, state_of

Answer = TypeVar("Answer")
QUICK: dict[str, object] = {
    "commit_seconds": 0.2, "kafka_session_seconds": 6, "kafka_gather_seconds": 0.02
}  # fmt: skip
READERS = {
    "fingerprint": topics.PAGES, "index": topics.FINGERPRINTS, "neighborhoods": topics.FINGERPRINTS
}  # fmt: skip


class Asking:
    """Clients of the tests' own, which ask how far the topics and the groups are."""

    def __init__(self, config: KafkaConfig) -> None:
        self._config = config
        self._open = contextlib.ExitStack()
        self._consumer: Any = KafkaConsumer(**reader_settings(config))
        self._open.callback(self._consumer.close)
        self._admin: Any = self._open.enter_context(admin_client(config))

    def offsets(self, groups: Sequence[str]) -> dict[tuple[str, int], tuple[int, int]]:
        """For each group and partition what it committed, and where the partition ends."""
        found: dict[tuple[str, int], tuple[int, int]] = {}
        for group in groups:
            topic, name = READERS[group], self._config.topic_prefix + group
            known = self._admin.list_group_offsets([name])[name]
            for tp, end in self.ends(topic).items():
                at = known.get(tp)
                found[group, tp.partition] = (max(0, at.offset) if at else 0, end)
        return found

    def ends(self, topic: str) -> dict[TopicPartition, int]:
        """Where the partitions of a topic end."""
        name = self._config.topic(topic)
        numbers = self._consumer.partitions_for_topic(name) or ()
        return bounds(self._consumer.end_offsets, [TopicPartition(name, n) for n in numbers])

    def close(self) -> None:
        """Disconnect."""
        self._open.close()


@dataclass
class Cluster:
    """The topics of one test, and the processes that it started."""

    address: str
    directory: Path
    config: KafkaConfig
    runs: list[Run] = field(default_factory=list)
    settings: dict[str, object] = field(default_factory=dict)
    groups: Sequence[str] = ("fingerprint", "index")
    _clients: Asking | None = None

    @property
    def bus(self) -> KafkaBus:
        return KafkaBus(self.config)

    @property
    def flags(self) -> tuple[str, ...]:
        return ("--bus", f"kafka://{self.address}", "--topic-prefix", self.config.topic_prefix)

    def run(self, *args: object) -> Done:
        return run(*args, *self.flags, cwd=self.directory, **self.settings)

    def start(self, *args: object) -> Run:
        begun = Run([*COMMAND[1:], *args, *self.flags], self.directory, **self.settings)
        self.runs.append(begun)
        return begun

    def work(self, stage: str, *, state: str = "state") -> Run:
        """A worker, at work."""
        return self.start("work", stage, "--metrics-port", 0, "--state", state)

    def end_all(self) -> None:
        for begun in self.runs:
            if begun.running:
                begun.process.kill()
            begun.process.wait()
        if self._clients is not None:
            self._clients.close()

    def done(self) -> bool:
        """Whether all groups have committed all that is on their topics."""
        return all(at == end for at, end in self.offsets().values())

    def offsets(self) -> dict[tuple[str, int], tuple[int, int]]:
        """For each group and partition what it committed, and where the partition ends."""
        return self._asked(lambda clients: clients.offsets(self.groups))

    def _ends(self, topic: str) -> dict[TopicPartition, int]:
        return self._asked(lambda clients: clients.ends(topic))

    def _asked(self, question: Callable[[Asking], Answer]) -> Answer:
        """Clients are connected once, and again after the broker was away."""
        clients, self._clients = self._clients, None
        if clients is not None:
            try:
                answer = question(clients)
            except KafkaError:
                clients.close()
            else:
                self._clients = clients
                return answer
        self._clients = Asking(self.config)
        return question(self._clients)

    def count(self, topic: str) -> int:
        """Messages on a topic, also those that compaction will remove."""
        return sum(self._ends(topic).values())

    def await_done(self, timeout: float = PATIENCE) -> None:
        wait_calmly(self.done, timeout)

    def state(self) -> State:
        return state_of(self.bus)


def wait_calmly(condition: Callable[[], object], timeout: float = PATIENCE) -> None:
    """As `wait_until`, of a condition that asks the broker."""
    end = time.monotonic() + timeout
    while True:
        # A broker that has just begun has no coordinator for the group yet.
        with contextlib.suppress(KafkaError, Unreachable):
            if condition():
                return
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.2)


@contextlib.contextmanager
def cluster_at(address: str, directory: Path, **settings: object) -> Iterator[Cluster]:
    config = quick_config(address)
    cluster = Cluster(address, directory, config, settings=QUICK | settings)
    made = cluster.run("topics", "create", "--partitions", 3, "--json")
    assert made.code == 0, made.err
    assert all(row["created"] for row in made.objects)
    try:
        yield cluster
    finally:
        cluster.end_all()


def stop(worker: Run, number: signal.Signals = signal.SIGTERM) -> Done:
    worker.tell(number)
    return worker.end(30)


def is_ready(worker: Run) -> bool:
    """What it says itself, where it says that it serves."""
    return answer(worker, "/readyz")[0] == 200


def answer(worker: Run, path: str) -> tuple[int, str]:
    """Status and text; 0 while nobody answers."""
    assert worker.running, worker.said
    found = re.search(r"http://127\.0\.0\.1:(\d+)/metrics", worker.said)
    if found is None:
        return 0, ""
    connection = HTTPConnection("127.0.0.1", int(found[1]), timeout=5)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()
    except OSError:
        return 0, ""
    finally:
        connection.close()
