"""Real workers on a real broker, seen by a real Prometheus; what goes wrong reaches a webhook."""

from __future__ import annotations

import math
import os
import re
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest

from deploy.watching.rules import ALERTING, RECORDED
from reusewatch.crawler.demo.brand import whole_web
from reusewatch.crawler.demo.truth import LABEL
from reusewatch.detector.labels.pack import open_pack
from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.labels import changes
from reusewatch.streams.labels.pushing import Desk
from reusewatch.streams.labels.store import LabelStore
from reusewatch.streams.running.crawl_metrics import DROPS, CrawlMeters
from reusewatch.streams.running.crawl_port import CrawlFigures
from reusewatch.streams.wire import page_message
from tests.deployed import free_port
from tests.end_to_end.runs import Run, run, wait_until
from tests.end_to_end.workers import Cluster, answer, cluster_at, is_ready, wait_calmly
from tests.monitors import program
from tests.pages import SCHEME, Fetch, page_of
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


@dataclass
class Watched:
    """Everything at work: the stages, a second fingerprint worker of another machine, a crawl."""

    cluster: Cluster
    monitors: Monitors
    demo: Path
    workers: dict[str, Run]
    index_port: int
    crawl: list[CrawlFigures]

    def told(self, name: str, **labels: str) -> list[Any]:
        """What operations were told of a rule, firing with these labels."""
        wanted = (labels | {"alertname": name}).items()
        return [
            one for one in self.monitors.told.of("operations") if wanted <= one["labels"].items()
        ]


def test_the_demo_is_seen_and_what_goes_wrong_is_told(cluster: Cluster, monitors: Monitors) -> None:
    with at_work(cluster, monitors) as watched:
        replay_the_demo(watched)
        every_query_has_an_answer(monitors)
        every_rule_is_sound(monitors)
        series_are_few_and_say_nothing_of_pages(monitors)
        promtool_finds_nothing(watched.workers["index"])
        assert monitors.firing() == set()
        poison_and_a_crawl_that_loses_pages(watched)
        nobody_who_judges(watched)
        labels_apart_and_an_old_snapshot(watched)
        assert monitors.told.of("findings") == []


@contextmanager
def at_work(cluster: Cluster, monitors: Monitors) -> Iterator[Watched]:
    demo = the_demo(cluster)
    push_labels(cluster, demo / f"{LABEL}.pack")
    port = free_port()
    workers = {stage: cluster.work(stage) for stage in ("fingerprint", "neighborhoods")}
    workers["behind"] = cluster.work("fingerprint", state="behind")
    workers["index"] = work_index(cluster, port)
    for worker in workers.values():
        wait_until(lambda: is_ready(worker))  # noqa: B023
    crawl = [CrawlFigures(requests=9, responses=8, pages=7, last_response=1.8e9)]
    with served(CrawlMeters(lambda: crawl[-1])) as crawl_port:
        targets = [*map(address_of, workers.values()), f"127.0.0.1:{crawl_port}"]
        monitors.start(targets)
        wait_until(lambda: len(monitors.query('up{job="reusewatch"} == 1')) == len(targets))
        yield Watched(cluster, monitors, demo, workers, port, crawl)


def work_index(cluster: Cluster, port: int) -> Run:
    return cluster.start("work", "index", "--metrics-port", port, "--state", "state")


def replay_the_demo(watched: Watched) -> None:
    assert watched.cluster.run("replay", watched.demo / "web.warc.gz").code == 0
    judged = 'sum(reusewatch_pages_total{stage=~"index|neighborhoods"})'
    every = 2 * len(whole_web())
    wait_until(lambda: [n for _, n in watched.monitors.query(judged)] == [every])
    wait_until(lambda: watched.monitors.query('reusewatch_alerts_total{kind="quilt"} > 0'))


def poison_and_a_crawl_that_loses_pages(watched: Watched) -> None:
    send(watched.cluster, [Outgoing(topics.PAGES, str(n), b"no page") for n in range(POISON)])
    watched.crawl.append(CrawlFigures(requests=9, responses=8, pages=7, lost=1))
    wait_until(lambda: watched.told("ReusewatchDeadLetters", stage="fingerprint"))
    wait_until(lambda: watched.told("ReusewatchCrawlLosesPages"))


def nobody_who_judges(watched: Watched) -> None:
    watched.workers["index"].process.kill()
    address = f"127.0.0.1:{watched.index_port}"
    wait_until(lambda: watched.told("ReusewatchDown", instance=address))
    # On a slow machine other stages may have been late before.
    wait_until(lambda: watched.told("ReusewatchNobodyJudges", stage="index"))
    silent = watched.told("ReusewatchNobodyJudges", stage="index")[0]
    assert silent["annotations"]["runbook_url"] == "deploy/README.md#reusewatchnobodyjudges"


def labels_apart_and_an_old_snapshot(watched: Watched) -> None:
    """A process that hangs holds one machine's labels; the index saved nothing for an hour."""
    cluster = watched.cluster
    for snapshot in cluster.directory.glob("state/**/*.snapshot"):
        os.utime(snapshot, (time.time() - 3600,) * 2)
    cluster.settings["snapshot_seconds"] = 3600
    index = work_index(cluster, watched.index_port)
    wait_until(lambda: is_ready(index))
    behind = next(cluster.directory.glob("behind/**/lock"))
    with LabelStore(behind.parent).locked():
        store = LabelStore(cluster.directory / "pushed")
        desk = Desk(cluster.bus, store, SCHEME, lambda _: None)
        desk.change(lambda table, scheme, now: changes.remove(table, LABEL, scheme, now))
        # A version is shown with the pages that it was held against, of every worker.
        pages = (page_message(page_of(Fetch(n, n, n, n))) for n in count())

        def both_are_told() -> bool:
            send(cluster, list(islice(pages, 50)))
            old = watched.told("ReusewatchSnapshotOld", stage="index")
            return bool(old and watched.told("ReusewatchLabelsDiffer"))

        wait_calmly(both_are_told)


def send(cluster: Cluster, messages: Iterable[Outgoing]) -> None:
    outlet = cluster.bus.outlet()
    for message in messages:
        outlet.send(message)
    outlet.close()


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
    assert len(counts) == len(STAGES) + 2
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
