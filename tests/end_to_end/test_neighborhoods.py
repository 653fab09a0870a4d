"""Neighborhoods on a real broker: one of two workers is killed; figures are those of one alone."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from reusewatch.streams import topics
from reusewatch.streams.kafka.admin import admin_client
from tests.end_to_end.runs import wait_until
from tests.end_to_end.workers import Cluster, cluster_at, is_ready, stop, wait_calmly
from tests.streams.stages.hoods import Figures, bad_site, blocks_of, figures
from tests.streams.stages.test_neighborhood_log import alone, crawl, said_by

GROUP = "neighborhoods"
RULES: dict[str, object] = {"neighborhood_files": 3, "badness_threshold": 0.5}


@pytest.fixture
def cluster(broker: str, tmp_path: Path) -> Iterator[Cluster]:
    with cluster_at(broker, tmp_path, **RULES) as found:
        yield found


def committed(cluster: Cluster) -> int:
    group = cluster.config.topic_prefix + GROUP
    with admin_client(cluster.config) as client:
        known = client.list_group_offsets([group])[group]
    return sum(max(0, at.offset) for at in known.values())


def shown(cluster: Cluster, *args: object) -> Figures:
    done = cluster.run("neighborhoods", "--top", 1000, "--json", *args)
    assert done.code == 0, done.err
    return figures(done.objects)


def test_a_worker_is_killed_and_the_other_has_all(cluster: Cluster) -> None:
    pages = crawl(1) + bad_site(30, 9)
    workers = [cluster.work(GROUP) for _ in range(2)]
    for worker in workers:
        wait_until(lambda: is_ready(worker))  # noqa: B023
    outlet = cluster.bus.outlet()
    blocks = blocks_of(pages, lambda site: outlet.partition_for(topics.FINGERPRINTS, site))
    for at, block in enumerate(blocks):
        outlet.send(block)
        if at == len(blocks) // 2:
            outlet.flush()
            wait_calmly(lambda: committed(cluster) > 5)
            workers[0].tell(signal.SIGKILL)
            workers[0].end()
    outlet.close()
    wait_calmly(lambda: committed(cluster) == len(blocks))
    wanted, states, _ = alone(pages)
    assert shown(cluster) == wanted
    assert said_by(cluster.bus).keys() == states.keys()
    assert stop(workers[1]).code == 0, workers[1].said
    # Started again it has what was there, and says nothing of it a second time.
    sent = cluster.count(topics.ALERTS)
    again = cluster.work(GROUP)
    wait_until(lambda: is_ready(again))
    assert stop(again).code == 0
    assert cluster.count(topics.ALERTS) == sent
    assert shown(cluster) == wanted
