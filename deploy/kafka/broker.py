"""Kafka brokers on this machine: KRaft nodes on loopback, each in its own process and directory.

Tests, benchmarks and try-outs use them; `python deploy/kafka/broker.py` runs one until Ctrl-C, and
`--brokers 3` runs a quorum of three. They are real brokers with small memory, and no place for data
that matters. The jars come from `make broker`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIBS = HERE.parents[1] / ".kafka" / "libs"
CLUSTER = "cmV1c2V3YXRjaC1sb2NhbA"
READY = "Kafka Server started"

# Small: 170 MB instead of 350. Quick: after kill -9 the old session must expire first.
SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "num.network.threads": "2",
    "num.io.threads": "4",
    "background.threads": "2",
    "auto.create.topics.enable": "false",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "2",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "broker.session.timeout.ms": "1000",
    "broker.heartbeat.interval.ms": "200",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "log.cleaner.threads": "1",
    "log.cleaner.backoff.ms": "300",
    "log.initial.task.delay.ms": "100",
}

# What three brokers are set to in production. A busy machine must not expire a broker that lives.
THREE = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "share.coordinator.state.topic.replication.factor": "3",
    "share.coordinator.state.topic.min.isr": "2",
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
}

# Dies with its parent, also if that is killed: a broker that nobody ends would stay for ever.
DIE_WITH_PARENT = (
    "import ctypes, os, sys; libc = ctypes.CDLL(None); "
    "hasattr(libc, 'prctl') and libc.prctl(1, 9); os.execvp(sys.argv[1], sys.argv[1:])"
)


class BrokerFailed(Exception):
    """The broker did not start, or its jars are missing."""


@dataclass(frozen=True, slots=True)
class Listener:
    """A further listener: its protocol (SASL_PLAINTEXT, SSL, SASL_SSL) and who may log in."""

    protocol: str
    settings: Mapping[str, str] = field(default_factory=dict)


def free_port() -> int:
    """A port of the loopback interface that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def java(main: str, *args: str, heap: str = "128m", options: Sequence[str] = ()) -> list[str]:
    """The command that runs a class of the jars."""
    if not (LIBS / "kafka_2.13-4.3.1.jar").exists():
        raise BrokerFailed(f"no Kafka broker in {LIBS}: run `make broker`")
    return [
        "java", f"-Xmx{heap}", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
        f"-Dlog4j2.configurationFile={HERE / 'log4j2.properties'}", *options,
        "-cp", f"{LIBS}/*", main, *args,
    ]  # fmt: skip


class Broker:
    """One node. The same ports and data over all its starts, until `close`."""

    def __init__(
        self,
        directory: Path | None = None,
        *,
        port: int | None = None,
        listeners: Mapping[str, Listener] | None = None,
        settings: Mapping[str, str] | None = None,
        users: Mapping[str, str] | None = None,
    ) -> None:
        self._kept = directory is not None
        self.directory = directory or Path(tempfile.mkdtemp(prefix="reusewatch-broker-"))
        self.directory.mkdir(parents=True, exist_ok=True)
        self._process: subprocess.Popen[bytes] | None = None
        self._log_begin = 0
        self._listeners = dict(listeners or {})
        names = ["PLAINTEXT", "CONTROLLER", *self._listeners]
        self._ports = {name: free_port() for name in names}
        if port is not None:
            self._ports["PLAINTEXT"] = port
        self._users = dict(users or {})
        self._settings = dict(settings or {})
        self.log = self.directory / "broker.log"

    @property
    def address(self) -> str:
        """Where clients without a password connect."""
        return self.address_of("PLAINTEXT")

    def address_of(self, listener: str) -> str:
        """Where clients of this listener connect."""
        return f"127.0.0.1:{self._ports[listener]}"

    @property
    def running(self) -> bool:
        """Whether its process lives."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        """Its process, while it runs."""
        return self._process.pid if self._process is not None and self.running else None

    def start(self, timeout: float = 60.0) -> Broker:
        """Start, formatting the directory at first; return when it answers."""
        self.begin()
        self.await_ready(timeout)
        return self

    def begin(self) -> None:
        """Start, and return at once: a member of a quorum answers only when others run, too."""
        config = self.directory / "server.properties"
        config.write_text("".join(f"{k}={v}\n" for k, v in self._properties().items()))
        if not (self.directory / "data" / "meta.properties").exists():
            self._format(config)
        self._log_begin = self.log.stat().st_size if self.log.exists() else 0
        command = java("kafka.Kafka", str(config), heap="256m")
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", DIE_WITH_PARENT, *command],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.directory,
                # A Ctrl-C is for who started it, and what needs the broker to end well comes first.
                start_new_session=True,
            )  # fmt: skip

    def join(self, node: int, voters: Sequence[Broker]) -> None:
        """Be this node of a quorum; before the first start."""
        numbered = enumerate(voters, 1)
        self._settings |= {
            **THREE,
            "node.id": str(node),
            "controller.quorum.voters": ",".join(
                f"{number}@{voter.address_of('CONTROLLER')}" for number, voter in numbered
            ),
        }

    def stop(self, timeout: float = 30.0) -> None:
        """End it as an operator would (SIGTERM); its data stays."""
        self._end(signal.SIGTERM, timeout)

    def kill(self) -> None:
        """End it as a failing machine would (SIGKILL); its data stays."""
        self._end(signal.SIGKILL, 30.0)

    def pause(self) -> None:
        """Let it hang: connections stay open, nothing is answered."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    def close(self) -> None:
        """End it for good. A directory of its own is removed."""
        if self.running:
            self.kill()
        if not self._kept:
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Broker:
        return self if self.running else self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def tail(self, lines: int = 40) -> str:
        """The end of its log, for messages."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    def _properties(self) -> dict[str, str]:
        protocols = {name: one.protocol for name, one in self._listeners.items()}
        protocols |= {"PLAINTEXT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT"}
        at = {name: f"{name}://{self.address_of(name)}" for name in self._ports}
        own: dict[str, str] = {}
        for name, one in self._listeners.items():
            own |= {f"listener.name.{name.lower()}.{k}": v for k, v in one.settings.items()}
        return {
            **SETTINGS,
            "listeners": ",".join(at.values()),
            "advertised.listeners": ",".join(v for k, v in at.items() if k != "CONTROLLER"),
            "listener.security.protocol.map": ",".join(f"{k}:{v}" for k, v in protocols.items()),
            "controller.quorum.voters": f"1@{self.address_of('CONTROLLER')}",
            "log.dirs": str(self.directory / "data"),
            **own,
            **self._settings,
        }

    def _format(self, config: Path) -> None:
        scram = [
            argument
            for user, password in self._users.items()
            for kind in ("SCRAM-SHA-256", "SCRAM-SHA-512")
            for argument in ("--add-scram", f"{kind}=[name={user},password={password}]")
        ]
        command = java(
            "kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", str(config), *scram
        )
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise BrokerFailed(f"the broker's directory: {done.stdout}{done.stderr}")

    def await_ready(self, timeout: float = 60.0) -> None:
        """Return when it answers."""
        end = time.monotonic() + timeout
        while READY not in self.log.read_bytes()[self._log_begin :].decode(errors="replace"):
            if not self.running or time.monotonic() > end:
                tail = self.tail()
                self._end(signal.SIGKILL, 30.0)
                raise BrokerFailed(f"the broker did not start; the end of its log:\n{tail}")
            time.sleep(0.02)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self.running:
            os.kill(self._process.pid, number)

    def _end(self, number: signal.Signals, timeout: float) -> None:
        if self._process is None:
            return
        self._signal(signal.SIGCONT)
        self._signal(number)
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None


@contextlib.contextmanager
def quorum(directory: Path | None = None, port: int | None = None) -> Iterator[list[Broker]]:
    """Three brokers that answer, of one cluster; ended and removed after."""
    brokers = [
        Broker(directory and directory / str(at), port=port and port + at) for at in range(3)
    ]
    with contextlib.ExitStack() as ended:
        for node, broker in enumerate(brokers, 1):
            ended.callback(broker.close)
            broker.join(node, brokers)
            broker.begin()
        for broker in brokers:
            broker.await_ready()
        yield brokers


def main() -> int:
    """Run brokers until Ctrl-C or SIGTERM."""
    parser = argparse.ArgumentParser(description="Kafka brokers on loopback, until Ctrl-C.")
    parser.add_argument("--port", type=int, default=9092, help="of three: and the next two")
    parser.add_argument("--data", type=Path, help="keep its data here (default: a temporary place)")
    parser.add_argument("--brokers", type=int, choices=(1, 3), default=1)
    args = parser.parse_args()
    # As Ctrl-C, so that the brokers are ended and their temporary directories removed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with contextlib.ExitStack() as ended:
            if args.brokers == 1:
                brokers = [ended.enter_context(Broker(args.data, port=args.port))]
            else:
                brokers = ended.enter_context(quorum(args.data, args.port))
            print(f"kafka://{','.join(one.address for one in brokers)}", flush=True)  # noqa: T201
            with contextlib.suppress(KeyboardInterrupt):
                signal.pause()
            # Ctrl-C comes to a whole group, and a second one must not stop the cleaning up.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
    except BrokerFailed as failed:
        print(failed, file=sys.stderr)  # noqa: T201
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
