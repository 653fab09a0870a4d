"""Workers that know the bank of the demo, for crawls of its local web that are steered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reusewatch.crawler.demo.brand import BRAND, brand
from reusewatch.crawler.demo.local_web import HOME, LocalWeb
from tests.command import Done
from tests.end_to_end.runs import wait_until
from tests.end_to_end.workers import Cluster, cluster_at, is_ready

STAGES = ("fingerprint", "index", "neighborhoods")


@contextmanager
def judging(broker: str, directory: Path, **settings: object) -> Iterator[Cluster]:
    """A cluster with a worker of each stage, which judge what has settled soon."""
    with cluster_at(broker, directory, settle_seconds=1, evidence_pairs=0, **settings) as found:
        (directory / "bank").mkdir()
        for number, page in enumerate(brand()):
            (directory / "bank" / f"{number}.html").write_text(page.html)
        build = ("build", "bank", "bank", "--home", BRAND, "-o", "bank.pack")
        for words in (build, ("push", "bank.pack")):
            done = found.run("labels", *words)
            assert done.code == 0, done.err
        for worker in [found.work(stage) for stage in STAGES]:
            wait_until(lambda: is_ready(worker))  # noqa: B023
        yield found


def crawl_of(web: LocalWeb, cluster: Cluster) -> Done:
    """A crawl of all of the web that may be crawled, with steering."""
    done = cluster.run(
        "crawl", web.url(HOME), "--other-sites", "--allow-network", "127.0.0.0/28",
        "--delay", "0.05", "--steer", "on", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    return done
