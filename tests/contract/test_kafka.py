"""Topics, keys, headers and values as any Kafka client sees them."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaConsumer, TopicPartition

from tests.command import Done, ended, read_lines, run, start
from tests.contract.tables import (
    ALERT,
    CHECK,
    CLOUD_EVENT,
    DEMO_ALERTS,
    DEMO_CONFIG,
    DEMO_PACK,
    FOUND_DAMAGE,
    INTERRUPTED,
    OK,
    TIME,
    TOPICS,
    Tried,
    only_objects,
    valid,
)
from tests.deployed import free_port

# A fixture that waits for what never comes says so soon.
pytestmark = pytest.mark.timeout(300)


@dataclass(frozen=True)
class OnKafka:
    """The demo's archive, replayed through a broker with one worker of each stage."""

    broker: str
    prefix: str
    directory: Path
    codes: dict[str, int]

    def run(self, *arguments: str) -> Done:
        """A command on these topics."""
        return on_kafka(*arguments, broker=self.broker, prefix=self.prefix, cwd=self.directory)

    def messages(self, topic: str) -> list[Any]:
        """Everything on a topic, as any Kafka client sees it."""
        consumer = KafkaConsumer(bootstrap_servers=self.broker, enable_auto_commit=False)
        try:
            name = self.prefix + topic
            parts = [TopicPartition(name, n) for n in consumer.partitions_for_topic(name) or ()]
            consumer.assign(parts)
            consumer.seek_to_beginning(*parts)
            ends = consumer.end_offsets(parts)
            found: list[Any] = []
            while any(consumer.position(part) < end for part, end in ends.items()):
                for batch in consumer.poll(timeout_ms=500).values():
                    found += batch
            return found
        finally:
            consumer.close()


def bus_flags(broker: str, prefix: str) -> tuple[str, ...]:
    return ("--bus", f"kafka://{broker}", "--topic-prefix", prefix)


def on_kafka(*arguments: str, broker: str, prefix: str, cwd: Path) -> Done:
    return run(*arguments, *bus_flags(broker, prefix), cwd=cwd)


@pytest.fixture(scope="module")
def kafka(broker: str, tried: Tried) -> OnKafka:
    prefix = f"contract-{free_port()}."
    flags = bus_flags(broker, prefix)
    codes = {}
    created = run("topics", "create", "--partitions", "2", *flags, cwd=tried.directory)
    assert created.code == OK, created.err
    pushed = run("labels", "push", DEMO_PACK, "--state", "desk", *flags, cwd=tried.directory)
    assert pushed.code == OK, pushed.err
    stages = ("fingerprint", "index", "neighborhoods")
    working = {
        stage: start("work", stage, "--metrics-port", "0", "--state", stage, *DEMO_CONFIG,
                     *flags, cwd=tried.directory)
        for stage in stages
    }  # fmt: skip
    try:
        replayed = run("replay", ".demo/web.warc.gz", *flags, "--json", cwd=tried.directory)
        codes["replay"] = replayed.code
        following = start("alerts", "--json", "--follow", *flags, cwd=tried.directory)
        try:
            read_lines(following, DEMO_ALERTS)
        finally:
            following.send_signal(signal.SIGINT)
            codes["follow"] = ended(following).code
    finally:
        for stage, process in working.items():
            process.send_signal(signal.SIGTERM)
            done = ended(process)
            codes[stage] = done.code
            assert done.out == "", "workers report on stderr"
    return OnKafka(broker, prefix, tried.directory, codes)


def test_workers_that_are_told_to_stop_end_with_0(kafka: OnKafka) -> None:
    expected = {"replay": OK, "follow": INTERRUPTED, "fingerprint": OK, "index": OK,
                "neighborhoods": OK}  # fmt: skip
    assert kafka.codes == expected


def test_on_kafka_the_same_alerts_are_found(kafka: OnKafka, tried: Tried) -> None:
    # Donors and their evidence may differ with the order of arrival, and the page on which
    # discovered content is shown; what is found may not.
    changing = {"detected_at", "donors", "figure", "evidence"}
    discovered = {"url", "site", "fetched_at"}

    def what(alerts: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
        return {
            one["id"]: {
                name: one[name]
                for name in ALERT - changing
                if one["kind"] != "discovered-content" or name not in discovered
            }
            for one in alerts
        }

    here = only_objects(kafka.run("alerts", "--json"), ALERT)
    assert what(here) == what(tried.demo.objects)
    assert len(here) == DEMO_ALERTS


def test_on_kafka_the_same_phrases_are_popular(kafka: OnKafka, tried: Tried) -> None:
    # The words are read from a page: which ones can be read from here is another matter.
    here, there = (bus.run("phrases", "--json").objects for bus in (tried, kafka))
    figures = ("hash", "documents", "sites")
    assert [[one[name] for name in figures] for one in here] == [
        [one[name] for name in figures] for one in there
    ]
    assert len(here) == 20


def test_topics_have_the_names_keys_and_headers_of_the_contract(kafka: OnKafka) -> None:
    for topic, (key, schema, content_type) in TOPICS.items():
        for message in kafka.messages(topic):
            headers = dict(message.headers)
            assert headers["schema"].decode() == schema
            assert headers["content-type"].decode() == content_type
            if key is not None and message.value is not None:
                assert json.loads(message.value)[key] == message.key.decode()


def test_pages_are_keyed_by_registered_domain(kafka: OnKafka) -> None:
    keys = {message.key.decode() for message in kafka.messages("pages")}
    assert {"pagefarm.example", "harbour-gazette.example"} <= keys
    assert not any(key.startswith("www.") for key in keys)


def test_alerts_are_cloud_events(kafka: OnKafka) -> None:
    alerts = [message for message in kafka.messages("alerts") if message.value is not None]
    assert len(alerts) >= DEMO_ALERTS
    for message in alerts:
        headers = {name: value.decode() for name, value in message.headers}
        assert headers.keys() >= CLOUD_EVENT
        assert headers["ce_specversion"] == "1.0"
        assert headers["ce_id"] == message.key.decode()
        kind = json.loads(message.value)["kind"]
        assert headers["ce_type"] == f"reusewatch.alert.{kind}"
        stage = "neighborhoods" if kind in ("bad-neighborhood", "crawl-trap") else "index"
        assert headers["ce_source"] == f"/reusewatch/{stage}"
        assert TIME.fullmatch(headers["ce_time"])


def test_values_on_kafka_are_as_their_schemas_say(kafka: OnKafka) -> None:
    for topic, name in (("verdicts", "verdict"), ("alerts", "alert")):
        values = [m.value for m in kafka.messages(topic) if m.value is not None]
        assert values
        valid(name, list(map(json.loads, values)))


def test_topics_are_made_once_and_checked(kafka: OnKafka) -> None:
    again = only_objects(kafka.run("topics", "create", "--json"), {"topic", "created"})
    assert {one["topic"] for one in again} >= {kafka.prefix + name for name in (*TOPICS, "labels")}
    assert not any(one["created"] for one in again)
    checks = only_objects(kafka.run("topics", "check", "--json", "--partitions", "2"), CHECK)
    assert all(one["ok"] for one in checks)
    assert only_objects(
        run("doctor", "--json", *bus_flags(kafka.broker, kafka.prefix), cwd=kafka.directory,
            REUSEWATCH_KAFKA_PARTITIONS="2"),
        CHECK,
    )  # fmt: skip


def test_topics_that_are_missing_are_1_with_what_to_do(kafka: OnKafka) -> None:
    done = on_kafka(
        "topics", "check", "--json", broker=kafka.broker, prefix="none.", cwd=kafka.directory
    )
    assert done.code == FOUND_DAMAGE
    wrong = [one for one in done.objects if not one["ok"]]
    assert wrong
    assert all(one.keys() >= CHECK for one in wrong)
    assert all(one["do"] for one in wrong)
