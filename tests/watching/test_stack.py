"""Real workers on a real broker, seen by a real Prometheus; what goes wrong reaches a webhook."""

from __future__ import annotations

import math
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.watching.rules import ALERTING, RECORDED
from reusewatch.crawler.demo.brand import whole_web
from reusewatch.crawler.demo.truth import LABEL
from reusewatch.detector.labels.pack import open_pack
from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.labels.pushing import Desk
from reusewatch.streams.labels.store import LabelStore
from reusewatch.streams.running.crawl_metrics import DROPS, CrawlMeters
from reusewatch.streams.running.crawl_port import CrawlFigures
from tests.end_to_end.runs import Run, run, wait_until
from tests.end_to_end.workers import Cluster, answer, cluster_at, is_ready
from tests.monitors import program
from tests.pages import SCHEME
from tests.watching.serving import served
from tests.watching.stack import Monitors, Pace, monitored, panel_queries

STAGES = ("fingerprint", "index", "neighborhoods")
POISON = 60


@pytest.fixture
def cluster(broker: str, tmp_path: Path) -> Iterator[Cluster]:
    quick = {"settle_seconds": 0.5, "snapshot_seconds": 0.5}
    with cluster_at(broker, tmp_path, **quick) as found:
        yield found


@pytest.fixture
def monitors(tmp_path: Path) -> Iterator[Monitors]:
    with monitored(tmp_path / "monitors", Pace("250ms", hurried=True)) as found:
        yield found


def test_the_demo_is_seen_and_what_goes_wrong_is_told(cluster: Cluster, monitors: Monitors) -> None:
    demo = the_demo(cluster)
    push_labels(cluster, demo / f"{LABEL}.pack")
    workers = {stage: cluster.work(stage) for stage in STAGES}
    for worker in workers.values():
        wait_until(lambda: is_ready(worker))  # noqa: B023
    crawl = CrawlFigures(requests=9, responses=8, pages=7, last_response=1.8e9)
    figures = [crawl]
    with served(CrawlMeters(lambda: figures[-1])) as port:
        targets = [*map(address_of, workers.values()), f"127.0.0.1:{port}"]
        monitors.start(targets)
        wait_until(lambda: len(monitors.query('up{job="reusewatch"} == 1')) == len(targets))
        pages = whole_web()
        assert cluster.run("replay", demo / "web.warc.gz").code == 0
        judged = 'sum(reusewatch_pages_total{stage=~"index|neighborhoods"})'
        wait_until(lambda: [n for _, n in monitors.query(judged)] == [2 * len(pages)])
        wait_until(lambda: monitors.query('reusewatch_alerts_total{kind="quilt"} > 0'))
        every_query_has_an_answer(monitors)
        every_rule_is_sound(monitors)
        series_are_few_and_say_nothing_of_pages(monitors)
        promtool_finds_nothing(workers["index"])
        assert monitors.firing() == set()
        # Poison, pages that a crawl loses, and nobody who judges.
        outlet = cluster.bus.outlet()
        for number in range(POISON):
            outlet.send(Outgoing(topics.PAGES, str(number), b"no page"))
        outlet.close()
        figures.append(CrawlFigures(requests=9, responses=8, pages=7, lost=1))
        workers["index"].process.kill()
        wanted = {"ReusewatchDeadLetters", "ReusewatchCrawlLosesPages", "ReusewatchNobodyJudges",
                  "ReusewatchDown"}  # fmt: skip
        wait_until(lambda: wanted <= monitors.told.names("operations"))
        assert monitors.told.names("findings") == set()
        noticed = [one for notice in monitors.told.by["operations"] for one in notice["alerts"]]
        # Of the stage whose worker is gone; on a slow machine others may have been late before.
        silent = next(
            one for one in noticed
            if one["labels"]["alertname"] == "ReusewatchNobodyJudges"
            and one["labels"]["stage"] == "index"
        )  # fmt: skip
        assert silent["annotations"]["runbook_url"] == (
            "deploy/README.md#reusewatchnobodyjudges"
        )  # fmt: skip


def the_demo(cluster: Cluster) -> Path:
    """Its directory, with its archive and its label pack."""
    made = run("demo", "--dir", "demo", cwd=cluster.directory)
    assert made.code == 0, made.err
    return cluster.directory / "demo"


def push_labels(cluster: Cluster, pack: Path) -> None:
    store = LabelStore(cluster.directory / "pushed")
    Desk(cluster.bus, store, SCHEME, lambda _: None).push(pack, open_pack(pack, SCHEME))


def address_of(worker: Run) -> str:
    found = re.search(r"http://(127\.0\.0\.1:\d+)/metrics", worker.said)
    assert found is not None
    return found[1]


def every_query_has_an_answer(monitors: Monitors) -> None:
    unanswered = set()
    for panel, expr in (*panel_queries(), *((one.name, one.name) for one in RECORDED)):
        found = monitors.query(expr)
        if not [value for _, value in found if not math.isnan(value)]:
            unanswered.add((panel, expr, str(found)))
    assert unanswered == set()


def every_rule_is_sound(monitors: Monitors) -> None:
    groups = monitors.ask("rules")["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    assert len(rules) == len(RECORDED) + len(ALERTING)
    assert {rule["health"] for rule in rules} == {"ok"}
    # What a rule waits for has not happened: what it looks at is there.
    selectors = {
        found
        for rule in ALERTING
        for found in re.findall(r"(?:\w+:)*reusewatch_\w+(?::\w+)*(?:\{[^}]*\})?", rule.expr)
    }
    assert len(selectors) > len(ALERTING)
    assert [one for one in selectors if not monitors.query(f"count({one})")] == []


def series_are_few_and_say_nothing_of_pages(monitors: Monitors) -> None:
    counts = [value for _, value in monitors.query("scrape_samples_scraped")]
    assert len(counts) == len(STAGES) + 1
    assert max(counts) < 1000
    known = monitors.ask("series", **{"match[]": '{__name__=~"reusewatch_.+"}'})
    values = {value for series in known for value in series.values()}
    assert [value for value in values if "example" in value] == []
    assert {one["reason"] for one in known if "crawl_drops" in one["__name__"]} == set(DROPS)


def promtool_finds_nothing(worker: Run) -> None:
    _, text = answer(worker, "/metrics")
    ours = "".join(
        line for line in text.splitlines(keepends=True) if "reusewatch_" in line.split("{")[0]
    )
    done = subprocess.run(
        [program("promtool"), "check", "metrics"], input=ours, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
