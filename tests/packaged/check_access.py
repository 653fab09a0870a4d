"""What each role may do, by the table of `deploy/README.md`, on a real broker that asks: with these
rights, and no others, each does its work. `make packaged` runs this.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from kafka.admin import (
    ACL,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourceType,
)

from reusewatch.crawler.demo.truth import LABEL
from reusewatch.streams.kafka.admin import admin_client
from reusewatch.streams.running.sinks import open_sink
from reusewatch.streams.settings import Settings
from tests.broker import quick_config
from tests.command import ROOT
from tests.deployed import Broker, Listener
from tests.end_to_end.runs import run, wait_until
from tests.end_to_end.workers import Cluster, is_ready, stop, wait_calmly
from tests.pages import Fetch, page_of
from tests.streams.made_alerts import made

PREFIX = "crawl."
# For each login, where its role stands in the table.
ROLES = {
    "crawl": "crawl, `replay`",
    "fingerprint": "`work fingerprint`",
    "index": "`work index`",
    "neighborhoods": "`work neighborhoods`",
    "labels": "`labels push`, `remove`, `rollback`",
    "analyst": "analysts: `alerts`, `verdicts`, `dead-letters`",
    "notify": "`notify`",
    "topics": "`topics create`",
    "doctor": "`doctor`",
    "nobody": "",
}
JAAS = "org.apache.kafka.common.security.plain.PlainLoginModule required"
ASKS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    # Whoever has no login: the broker itself, and this test.
    "super.users": "User:ANONYMOUS",
    "allow.everyone.if.no.acl.found": "false",
}


@dataclass(frozen=True, slots=True)
class Right:
    """One of the table. A name with `…` stands for all that begin so; None is every one."""

    operation: str
    kind: ResourceType
    name: str | None


def rights(role: str) -> Iterator[Right]:
    """What the table says of a role."""
    text = (ROOT / "deploy" / "README.md").read_text("utf-8").partition("## Who may do what")[2]
    text = text.partition("\n## ")[0]
    (row,) = [line for line in text.splitlines() if line.startswith(f"| {role} |")]
    _, _, topics, groups, _ = (cell.strip() for cell in row.split("|"))
    for cell, kind in ((topics, ResourceType.TOPIC), (groups, ResourceType.GROUP)):
        for operations, names in re.findall(r"([A-Z_, ]+) on ((?:all|(?:T`[^`]+`(?:, )?)+))", cell):
            for operation in operations.split(", "):
                for name in re.findall(r"T`([^`]+)`", names) or [None]:
                    yield Right(operation.strip(), kind, name)


def acl(login: str, right: Right) -> ACL:
    name = right.name
    kind = ACLResourcePatternType.LITERAL
    if name is not None and name.endswith("…"):
        kind, name = ACLResourcePatternType.PREFIXED, name.removesuffix("…")
    where = ResourcePattern(right.kind, "*" if name is None else PREFIX + name, kind)
    operation = ACLOperation[right.operation]
    return ACL(f"User:{login}", "*", operation, ACLPermissionType.ALLOW, where)


@pytest.fixture(scope="module")
def guarded() -> Iterator[Broker]:
    users = " ".join(f'user_{name}="secret"' for name in ROLES)
    listener = Listener("SASL_PLAINTEXT", {
        "sasl.enabled.mechanisms": "PLAIN", "plain.sasl.jaas.config": f"{JAAS} {users};",
    })  # fmt: skip
    with Broker(listeners={"SASL": listener}, settings=ASKS) as broker:
        config = quick_config(broker.address, topic_prefix=PREFIX)
        with admin_client(config) as admin:
            given = [acl(login, one) for login, role in ROLES.items() if role
                     for one in rights(role)]  # fmt: skip
            admin.create_acls(given)
        yield broker


@dataclass
class Logins:
    """Commands, each by a login of its own."""

    address: str
    cluster: Cluster

    def settings(self, login: str) -> Mapping[str, object]:
        return {
            "bus": f"kafka://{self.address}", "topic_prefix": PREFIX, "kafka_security": "sasl",
            "kafka_sasl": "PLAIN", "kafka_username": login, "kafka_password": "secret",
            "commit_seconds": 0.2, "kafka_session_seconds": 6, "settle_seconds": 0.5,
            "kafka_partitions": 3,
        }  # fmt: skip

    def run(self, login: str, *words: object) -> tuple[int, str, str]:
        done = run(*words, cwd=self.cluster.directory, **self.settings(login))
        return done.code, done.out, done.err


@pytest.fixture
def logins(guarded: Broker, tmp_path: Path) -> Iterator[Logins]:
    config = quick_config(guarded.address, topic_prefix=PREFIX)
    cluster = Cluster(guarded.address, tmp_path, config)
    try:
        yield Logins(guarded.address_of("SASL"), cluster)
    finally:
        cluster.end_all()


def test_the_table_has_rights_of_every_role() -> None:
    found = {login: list(rights(role)) for login, role in ROLES.items() if role}
    assert all(found.values())
    assert Right("READ", ResourceType.GROUP, "notify-…") in found["notify"]
    assert Right("WRITE", ResourceType.TOPIC, "dead-letters") in found["crawl"]


def test_each_role_does_its_work_with_the_rights_of_the_table(logins: Logins) -> None:
    cluster = logins.cluster
    told: dict[str, tuple[int, str, str]] = {}
    told["topics"] = logins.run("topics", "topics", "create", "--partitions", 3)
    assert run("demo", "--dir", "demo", cwd=cluster.directory).code == 0
    told["labels"] = logins.run("labels", "labels", "push", f"demo/{LABEL}.pack")
    assert {login: one for login, one in told.items() if one[0]} == {}
    for words in (["replay", "demo/web.warc.gz"], ["alerts"], ["work", "index"], ["doctor"]):
        code, out, err = logins.run("nobody", *words)
        assert (code in (1, 2, 3), "Traceback" in err) == (True, False), (words, out + err)
    workers = {}
    for stage in ("fingerprint", "index", "neighborhoods"):
        cluster.settings = dict(logins.settings(stage))
        cluster.address, plain = logins.address, cluster.address
        workers[stage] = cluster.work(stage, state=f"state-{stage}")
        cluster.address = plain
    for worker in workers.values():
        wait_until(lambda: is_ready(worker))  # noqa: B023
    told["crawl"] = logins.run("crawl", "replay", "demo/web.warc.gz")
    assert told["crawl"][0] == 0, told["crawl"]
    wait_calmly(cluster.done)
    wait_calmly(lambda: cluster.count("alerts"))
    for verb in ("alerts", "verdicts", "dead-letters"):
        code, out, err = logins.run("analyst", verb, "--json")
        assert (code, bool(out)) == (0, verb != "dead-letters"), err
    code, out, err = logins.run("doctor", "doctor")
    assert (code, "this login may DESCRIBE" in out) == (0, True), out + err
    cluster.settings = dict(logins.settings("notify"))
    cluster.address = logins.address
    sending = cluster.start("notify", "--exec", "tee -a sent.jsonl", "--name", "one")
    wait_until(lambda: (cluster.directory / "sent.jsonl").exists() or not sending.running)
    assert sending.running, sending.said
    sending.tell(signal.SIGTERM)
    assert sending.end(30).code in (0, 130), sending.said
    ended = {stage: stop(worker) for stage, worker in workers.items()}
    assert {stage: one.code for stage, one in ended.items()} == dict.fromkeys(ended, 0), ended
    assert os.path.getsize(cluster.directory / "sent.jsonl") > 0


def test_a_crawl_that_may_tell_no_trap_brings_its_pages(logins: Logins) -> None:
    code, _, err = logins.run("topics", "topics", "create", "--partitions", 3)
    assert code == 0, err
    given = dict(logins.settings("crawl"))
    sink = open_sink(msgspec.convert(given, Settings, strict=False), say=print)
    before = logins.cluster.count("pages")
    sink.report(made(1))
    sink.put(page_of(Fetch(1, 1, 1, 1)))
    sink.report(made(2))
    sink.close()
    assert logins.cluster.count("pages") == before + 1
    assert sink.untold == 2
    assert sink.remark is not None
    assert "2 alerts of crawl traps were refused" in sink.remark
