"""What a worker says of itself over HTTP: names, and that they are really set."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from reusewatch.detector.mean_and_deviation import PAPER_PAGES
from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing, Partition, Unreachable
from reusewatch.streams.local import LocalBus
from reusewatch.streams.running.local_sink import LocalSink
from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.running.serving import Health
from reusewatch.streams.running.worker import Pace, Worker
from reusewatch.streams.settings import Settings
from tests.pages import SCHEME, Fetch, page_of
from tests.streams.memory_bus import MemoryBus
from tests.streams.running.asked import no_prefixes
from tests.streams.stages.making import blocks_of, index_stage, inlet_of, work_off, worker_of

# A copy, its original, and a page of its own.
FETCHES = [Fetch(0, 0, 1, 7), Fetch(1, 1, 2, 7), Fetch(2, 2, 3, 8)]
PART = {"topic": topics.FINGERPRINTS, "partition": "0"}


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    bus = MemoryBus({topics.FINGERPRINTS: 1})
    for block in blocks_of(FETCHES, 1):
        bus.append(block)
    bus.append(Outgoing(topics.FINGERPRINTS, "k", b"garbage"))
    made = worker_of(index_stage(), bus, snapshots=tmp_path, pace=Pace(1e-9, 1e-9))
    yield made
    made.abandon()


@pytest.fixture
def health(worker: Worker) -> Iterator[Health]:
    served = Health(worker._record._meters, "127.0.0.1", 0, worker, prefixes=no_prefixes())
    yield served
    served.close()


def get(health: Health, path: str) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", health.port, timeout=10)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def samples(health: Health) -> list[Sample]:
    status, text = get(health, "/metrics")
    assert status == 200
    return [s for family in text_string_to_metric_families(text) for s in family.samples]


def value(found: list[Sample], name: str, **labels: str) -> float:
    values = [
        sample.value
        for sample in found
        if sample.name == f"reusewatch_{name}" and labels.items() <= sample.labels.items()
    ]
    assert len(values) == 1, (name, labels, values)
    return values[0]


def test_everything_that_operators_need_is_there_and_set(worker: Worker, health: Health) -> None:
    began = time.time()
    work_off(worker)
    worker.step(0)
    found = samples(health)
    topic = {"topic": topics.FINGERPRINTS}
    assert value(found, "records_in_total", **topic) == 4
    assert value(found, "bytes_in_total", **topic) > 100
    assert value(found, "pages_total") == 3
    assert value(found, "records_out_total", topic=topics.VERDICTS) == 3
    assert value(found, "bytes_out_total", topic=topics.VERDICTS) > 100
    assert value(found, "records_out_total", topic=topics.ALERTS) == 1
    assert value(found, "alerts_total", kind="duplicate") == 1
    assert value(found, "dead_letters_total", reason="malformed-message") == 1
    assert value(found, "batch_seconds_count") >= 2
    assert value(found, "latency_seconds_count") == 4
    assert value(found, "commit_seconds_count") >= 1
    assert value(found, "snapshot_seconds_count") >= 1
    assert value(found, "snapshot_timestamp_seconds") >= began
    assert value(found, "lag_records", **PART) == 0
    assert value(found, "lag_seconds", **PART) == 0
    assert value(found, "last_progress_timestamp_seconds", **PART) >= began
    assert value(found, "state_rows") == 3
    assert value(found, "state_bytes") > 100
    assert value(found, "rebalances_total", reason="assigned") == 1
    assert value(found, "recovery_records") == 0
    assert value(found, "state_limit_rows") >= 3
    assert value(found, "findings_total", finding="duplicate") == 1
    assert value(found, "alert_seconds_count") == 1
    ends = [value(found, "window_timestamp_seconds", end=end) for end in ("oldest", "newest")]
    assert 0 < ends[0] < ends[1] < time.time()
    assert value(found, "threshold_ratio", figure="contains") == PAPER_PAGES
    assert value(found, "mean_ratio", figure="contains") == 0
    assert value(found, "deviation_ratio", figure="contains") == 0
    assert value(found, "ready") == 1
    assert value(found, "build_info", scheme=SCHEME.name, stage="index") == 1


def test_lag_is_shown_while_it_waits_and_gone_with_its_partition(
    worker: Worker, health: Health
) -> None:
    worker.step(0)  # three of four
    found = samples(health)
    assert value(found, "lag_records", **PART) == 1
    assert value(found, "lag_seconds", **PART) >= 0
    inlet_of(worker).lose([Partition(topics.FINGERPRINTS, 0)])
    found = samples(health)
    assert not [s for s in found if s.labels.get("partition")]
    assert value(found, "rebalances_total", reason="revoked") == 1
    assert value(found, "ready") == 0


def test_a_restart_knows_the_age_of_its_snapshot(worker: Worker, tmp_path: Path) -> None:
    work_off(worker)
    worker.commit(snapshot=True)
    written = max(path.stat().st_mtime for path in tmp_path.glob("*.snapshot"))
    bus = inlet_of(worker).bus
    again = worker_of(index_stage(), bus, snapshots=tmp_path)
    again.step(0)
    meters = again._record._meters
    assert meters.snapshot_time.labels("index")._value.get() == pytest.approx(written)
    again.abandon()


def test_ready_and_healthy(worker: Worker, health: Health) -> None:
    assert get(health, "/readyz") == (503, "not ready\n")
    work_off(worker)
    assert get(health, "/readyz") == (200, "ready\n")
    assert get(health, "/healthz") == (200, "ok\n")
    worker._lag, worker._moved_at = 5, time.monotonic() - 1000
    status, text = get(health, "/healthz")
    assert (status, "5 messages waiting" in text) == (503, True)
    assert get(health, "/metrics?name[]=x")[0] == 200
    assert get(health, "/else")[0] == 404


def test_a_port_that_is_taken_is_said(health: Health, worker: Worker) -> None:
    with pytest.raises(Unreachable, match=f"127.0.0.1:{health.port}.*--metrics-port"):
        Health(worker._record._meters, "127.0.0.1", health.port, worker, prefixes=no_prefixes())


def test_a_local_replay_serves_where_it_is_asked_to(tmp_path: Path) -> None:
    said: list[str] = []
    found = Settings(bus=f"local:{tmp_path}", metrics_port=0)
    sink = LocalSink(LocalBus(tmp_path), found, read_origin=None, say=said.append)
    for fetch in FETCHES:
        sink.put(page_of(fetch))
    sink.checkpoint()
    assert sink._health is not None
    assert f":{sink._health.port}/metrics" in said[0]
    status, text = get(sink._health, "/metrics")
    assert status == 200
    assert 'reusewatch_pages_total{stage="index"} 3.0' in text
    sink.close()


def test_names_keep_the_rules_of_prometheus(worker: Worker, health: Health) -> None:
    """What `promtool check metrics` looks at: help, units, endings, no type in the name."""
    work_off(worker)
    status, text = get(health, "/metrics")
    assert status == 200
    for family in text_string_to_metric_families(text):
        if not family.name.startswith("reusewatch_"):
            continue
        assert family.documentation.endswith("."), family.name
        assert re.fullmatch(r"[a-z][a-z0-9_]*", family.name)
        names = {sample.name for sample in family.samples}
        if family.type == "counter":
            assert all(name.endswith(("_total", "_created")) for name in names), names
        else:
            assert not family.name.endswith(("_total", "_count", "_sum", "_bucket"))
        assert not re.search(
            r"milli|micro|minute|hour|kilo|mega|_ms|_mb|gauge|counter", family.name
        )
        if family.type == "histogram":
            assert family.name.endswith(("_seconds", "_shingles"))


def test_no_label_comes_from_a_page() -> None:
    meters = Meters("index", SCHEME.name)
    declared = {
        label for metric in vars(meters).values() for label in getattr(metric, "_labelnames", ())
    }
    assert declared <= {
            "stage", "topic", "partition", "reason", "event", "finding", "kind", "unit", "version",
            "figure", "end",
        }  # fmt: skip
