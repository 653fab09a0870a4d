"""A crawl of a local web on a real broker, with workers: what is there is found, the crawl keeps
out of what is bad while it runs, and comes back when that was cleaned."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reusewatch.crawler.demo.live_truth import findings
from reusewatch.crawler.demo.local_web import (
    FARM,
    FREE_PAGES,
    GAZETTE,
    HOBBY,
    MIRROR,
    SCRAPER,
    TELLER,
    LocalWeb,
)
from reusewatch.streams.kafka import KafkaBus
from reusewatch.streams.records import Alert
from reusewatch.streams.verbs import topic_views
from tests.crawler.live.crawls import run, summary_of
from tests.crawler.live.own import FOLLOWING, arguments, stats_of
from tests.end_to_end.steered import crawl_of, judging
from tests.end_to_end.workers import Cluster, wait_calmly

GOOD = ((GAZETTE, "/"), (MIRROR, "/"), (FREE_PAGES, HOBBY), (SCRAPER, "/"), (FARM, "/"))


@pytest.fixture
def cluster(broker: str, tmp_path: Path) -> Iterator[Cluster]:
    with judging(broker, tmp_path) as found:
        yield found


def alerts_of(bus: KafkaBus) -> list[Alert]:
    return list(topic_views.alerts(bus))


def test_what_is_bad_costs_few_requests_until_it_is_clean(cluster: Cluster, tmp_path: Path) -> None:
    web = LocalWeb()
    with web.served():
        done = crawl_of(web, cluster)
        for host, under in GOOD:
            fetched, there = web.fetched(host, under)
            assert fetched == there
        bad, there = web.fetched(FREE_PAGES, TELLER)
        assert bad < 0.7 * there
        summary = summary_of(done.out)
        assert summary["steered"]["dropped"] >= there - bad
        assert summary["steer_seconds"].keys() >= {"response_median", "finding_median"}
        wait_calmly(lambda: findings(alerts_of(cluster.bus)) == web.wanted())

        web.clean(FREE_PAGES, TELLER)
        crawl(cluster, web, tmp_path, REUSEWATCH_STEER_SAMPLED=0.6)
        hood = web.url(FREE_PAGES, TELLER)
        wait_calmly(lambda: states_of(cluster.bus)[hood] == "closed")
        web.asked.clear()
        stats = crawl(cluster, web, tmp_path)
    assert web.fetched(FREE_PAGES, TELLER) == (there, there)
    assert not [name for name in stats if name.startswith("steer/dropped")]


def states_of(bus: KafkaBus) -> dict[str, str]:
    hoods = [alert for alert in alerts_of(bus) if alert.kind == "bad-neighborhood"]
    return {alert.prefix or "": alert.state for alert in hoods}


def crawl(cluster: Cluster, web: LocalWeb, cwd: Path, **settings: object) -> dict[str, str]:
    """The bad place again, by a project with the add-on."""
    given = {
        "REUSEWATCH_BUS": f"kafka://{cluster.address}", "REUSEWATCH_STEER": "on",
        "REUSEWATCH_TOPIC_PREFIX": cluster.config.topic_prefix, **settings,
    }  # fmt: skip
    code, _, err = run(arguments(cwd, [web.url(FREE_PAGES, TELLER)], FOLLOWING, **given), cwd)
    assert code == 0, err
    return stats_of(err)
