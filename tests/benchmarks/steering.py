"""How soon what is found has its effect on the crawl that it is found in.

`steer_response_seconds_local` is the time from a response to its effect, on a local bus: the
longest of the findings of `reusewatch demo --live`. `steer_finding_seconds_kafka` is the time from
a finding to its effect, on Kafka with workers of default settings: the longest of a crawl of the
same web. Both are measured by the crawl itself, in the process that asks for pages.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reusewatch.crawler.demo.local_web import LocalWeb
from reusewatch.streams.settings import Settings
from tests.benchmarks.kafka import running_broker
from tests.benchmarks.rows import Bench, Family, Row
from tests.command import run
from tests.crawler.live.crawls import summary_of
from tests.end_to_end.steered import crawl_of, judging

_LOCAL, _KAFKA = "steer_response_seconds_local", "steer_finding_seconds_kafka"


def _row(name: str, since: str, summary: Mapping[str, Any]) -> Row:
    seconds = summary["steer_seconds"]
    return Row(name, seconds[f"{since}_most"], "s", {
        "measures": f"from a {since} to its effect on the crawl, the longest",
        "seconds": seconds, "steered": summary["steered"],
    })  # fmt: skip


def _local(directory: Path) -> Mapping[str, Any]:
    done = run("demo", "--live", "--json", cwd=directory)
    if done.code:
        raise RuntimeError(done.err)
    found: Mapping[str, Any] = json.loads(done.out)
    return found


def _kafka(bench: Bench, directory: Path) -> Mapping[str, Any]:
    commit_seconds = Settings().commit_seconds
    web = LocalWeb()
    with (
        running_broker(bench) as (address, _),
        judging(address, directory, commit_seconds=commit_seconds) as cluster,
        web.served(),
    ):
        return summary_of(crawl_of(web, cluster).out)


def measure(bench: Bench, names: Sequence[str]) -> list[Row]:
    """A crawl for each."""
    rows = []
    for name in names:
        with tempfile.TemporaryDirectory() as directory:
            if name == _LOCAL:
                rows.append(_row(name, "response", _local(Path(directory))))
            else:
                rows.append(_row(name, "finding", _kafka(bench, Path(directory))))
    return rows


FAMILY = Family((_LOCAL, _KAFKA), measure)
