"""A broker that goes away under load, and a stop that comes under load."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from reusewatch.streams import topics
from reusewatch.streams.blocks.format import PAGES_HEADER
from tests.deployed import Broker
from tests.end_to_end.conftest import Crawl
from tests.end_to_end.runs import wait_until
from tests.end_to_end.test_kafka import check
from tests.end_to_end.workers import Cluster, cluster_at, is_ready, stop, wait_calmly


@pytest.fixture(scope="module")
def own_broker() -> Iterator[Broker]:
    """A broker that these tests may harm."""
    with Broker() as begun:
        yield begun


@pytest.fixture
def cluster(own_broker: Broker, tmp_path: Path) -> Iterator[Cluster]:
    with cluster_at(own_broker.address, tmp_path) as found:
        yield found


@pytest.mark.parametrize("fault", ["killed", "paused"])
def test_a_broker_that_goes_away_is_waited_for(
    cluster: Cluster, own_broker: Broker, crawl: Crawl, fault: str
) -> None:
    workers = [cluster.work("fingerprint"), cluster.work("index")]
    for worker in workers:
        wait_until(lambda: is_ready(worker))  # noqa: B023
    replay = cluster.start("replay", crawl.archive)
    wait_calmly(lambda: cluster.count(topics.PAGES))
    if fault == "killed":
        own_broker.kill()
        own_broker.start()
    else:
        own_broker.pause()
        try:
            wait_until(lambda: "waiting for the broker" in workers[1].said)
        finally:
            own_broker.resume()
    assert replay.end().code == 1, replay.said
    cluster.await_done()
    for worker in workers:
        ended = stop(worker)
        assert ended.code == 0, ended.err
        assert "stopping: SIGTERM" in ended.err
    if fault == "paused":
        told = workers[1].said
        assert told.count("warning index: broker away") == told.count("info index: broker back") > 0
    check(cluster, crawl)


def test_a_stop_under_load_takes_seconds_and_nothing_is_done_twice(
    cluster: Cluster, crawl: Crawl
) -> None:
    assert cluster.run("replay", crawl.archive).code == 1
    for stage, written in (("fingerprint", topics.FINGERPRINTS), ("index", topics.VERDICTS)):
        worker = cluster.work(stage)
        wait_calmly(lambda: cluster.count(written))  # noqa: B023
        began = time.monotonic()
        ended = stop(worker)
        assert time.monotonic() - began < 10
        assert ended.code == 0, ended.err
        cluster.work(stage)
    cluster.await_done()
    blocks = cluster.bus.read(topics.FINGERPRINTS)
    pages = sum(int(dict(block.headers)[PAGES_HEADER]) for block in blocks)
    assert pages == len(crawl.fetches)
    check(cluster, crawl)


def test_a_replay_is_interrupted_though_the_broker_is_away(
    cluster: Cluster, own_broker: Broker, crawl: Crawl
) -> None:
    cluster.settings["commit_seconds"] = 0.01
    replay = cluster.start("replay", crawl.archive)
    cursors = cluster.directory / ".reusewatch" / "state" / "replays"
    wait_until(lambda: list(cursors.glob("*.json")) or not replay.running)
    own_broker.pause()
    try:
        replay.tell(signal.SIGTERM)
        ended = replay.end(60)
    finally:
        own_broker.resume()
    assert ended.code == 130, ended.err
    again = cluster.run("replay", crawl.archive, "--json")
    assert again.objects[0]["pages"] == len(crawl.fetches)
    assert cluster.count(topics.PAGES) >= len(crawl.fetches)
