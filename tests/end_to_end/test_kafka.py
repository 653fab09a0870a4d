"""The same pages through a real broker: the same alerts as locally, whoever is killed or leaves."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from reusewatch.streams import topics
from tests.end_to_end.conftest import Crawl
from tests.end_to_end.runs import Run, wait_until
from tests.end_to_end.test_kills import KILLS, SEED
from tests.end_to_end.workers import Cluster, cluster_at, is_ready, stop, wait_calmly


@pytest.fixture
def cluster(broker: str, tmp_path: Path) -> Iterator[Cluster]:
    with cluster_at(broker, tmp_path) as found:
        yield found


def check(cluster: Cluster, crawl: Crawl) -> None:
    """Everything committed, a verdict for every page, the alerts of the local replay."""
    state = cluster.state()
    assert set(state.alerts) == crawl.ids
    assert set(state.verdicts) == set(crawl.wanted.verdicts)
    assert len(state.dead) == len(crawl.wanted.dead)


def test_workers_find_what_a_local_replay_finds_and_say_it_once(
    cluster: Cluster, crawl: Crawl
) -> None:
    workers = [cluster.work(stage) for stage in ("fingerprint", "fingerprint", "index")]
    replay = cluster.run("replay", crawl.archive, "--json")
    assert replay.code == 1, replay.err
    assert replay.objects[0]["pages"] == len(crawl.fetches)
    assert replay.objects[0]["alerts"] is None
    cluster.await_done()
    check(cluster, crawl)
    sent = cluster.count(topics.ALERTS)
    # Each in ten seconds, the one after the other or not.
    began = time.monotonic()
    for worker in workers:
        worker.tell(signal.SIGTERM)
    for worker in workers:
        ended = worker.end(30)
        assert ended.code == 0, ended.err
    assert time.monotonic() - began < 10
    # Started again it goes on where it was: nothing is said again.
    index = cluster.work("index")
    index.await_said("at work")
    again = cluster.run("replay", crawl.archive)
    assert again.code == 1, again.err
    fingerprint = cluster.work("fingerprint")
    cluster.await_done()
    assert stop(index).code == 0
    assert stop(fingerprint).code == 0
    assert cluster.count(topics.ALERTS) == sent
    check(cluster, crawl)


def test_an_index_that_lost_its_state_rebuilds_it_in_silence(
    cluster: Cluster, crawl: Crawl
) -> None:
    assert cluster.run("replay", crawl.archive).code == 1
    workers = [cluster.work("fingerprint"), cluster.work("index")]
    wait_calmly(lambda: cluster.count(topics.FINGERPRINTS))
    cluster.await_done()
    sent, verdicts = cluster.count(topics.ALERTS), cluster.count(topics.VERDICTS)
    assert [stop(worker).code for worker in workers] == [0, 0]
    elsewhere = cluster.work("index", state="elsewhere")
    snapshots = cluster.directory / "elsewhere" / "snapshots"
    elsewhere.await_said("at work")
    wait_until(lambda: is_ready(elsewhere))
    assert stop(elsewhere).code == 0
    assert list(snapshots.glob("index-*.snapshot"))
    assert (cluster.count(topics.ALERTS), cluster.count(topics.VERDICTS)) == (sent, verdicts)
    check(cluster, crawl)


@pytest.mark.parametrize("stage", ["fingerprint", "index"])
def test_workers_killed_at_any_moment(cluster: Cluster, crawl: Crawl, stage: str) -> None:
    random = Random(SEED)
    workers = {name: cluster.work(name) for name in ("fingerprint", "index")}
    replay = cluster.start("replay", crawl.archive)
    written = {"fingerprint": topics.FINGERPRINTS, "index": topics.VERDICTS}[stage]
    for _ in range(max(KILLS // 4, 2)):
        enough = cluster.count(written) + random.randrange(8)
        wait_calmly(lambda: cluster.count(written) > enough or is_quiet(cluster, replay))  # noqa: B023
        workers[stage].tell(signal.SIGKILL)
        workers[stage].end()
        workers[stage] = cluster.work(stage)
    assert replay.end().code == 1, replay.said
    cluster.await_done()
    for worker in workers.values():
        worker.await_said("at work")
        ended = stop(worker)
        assert ended.code == 0, ended.err
    check(cluster, crawl)


def is_quiet(cluster: Cluster, replay: Run) -> bool:
    return not replay.running and cluster.done()


def test_a_second_index_stands_by_and_takes_over(cluster: Cluster, crawl: Crawl) -> None:
    first = cluster.work("index", state="first")
    wait_until(lambda: is_ready(first))
    second = cluster.work("index", state="second")
    second.await_said("standing by")
    fingerprint = cluster.work("fingerprint")
    assert cluster.run("replay", crawl.archive).code == 1
    cluster.await_done()
    assert not is_ready(second)
    check(cluster, crawl)
    sent = cluster.count(topics.ALERTS)
    first.tell(signal.SIGKILL)
    first.end()
    wait_until(lambda: is_ready(second))
    second.await_said("recovered")
    assert second.said.index("standing by") < second.said.index("took over")
    assert cluster.run("replay", crawl.archive).code == 1
    cluster.await_done()
    assert stop(second).code == 0, second.said
    assert stop(fingerprint).code == 0
    assert cluster.count(topics.ALERTS) == sent
    check(cluster, crawl)
