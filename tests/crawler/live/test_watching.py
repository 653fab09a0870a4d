"""A crawl's own metrics: what Scrapy and the tap count, under a closed set of names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace

import pytest
from prometheus_client.parser import text_string_to_metric_families
from scrapy import Spider
from scrapy.settings import Settings as ScrapySettings
from scrapy.utils.test import get_crawler

from reusewatch.crawler.addon import ReuseWatch
from reusewatch.crawler.live.fetched import SKIPPED
from reusewatch.crawler.live.project import resolved
from reusewatch.crawler.live.steer import SAVED as STEER_SAVED
from reusewatch.crawler.live.url_traps import SAVED as TRAPS_SAVED
from reusewatch.crawler.live.watching import _SAVED, _STATS, CrawlWatch, Pulse
from reusewatch.streams.running.crawl_metrics import DECLARED, DROPS
from reusewatch.streams.settings import Settings, SettingsError, resolve

FIGURES = {"responses": 7, "pages": 4, "lost": 1, "dead_letters": 0, "skipped": {"robots": 2}}


def watch(
    bus: str = "kafka://127.0.0.1:1", port: int = 0, own_port: int | None = None
) -> CrawlWatch:
    crawler = get_crawler(Spider)
    stats = {"downloader/request_count": 9, "dupefilter/filtered": 5, "scheduler/enqueued": 12,
             "scheduler/dequeued": 9, "reusewatch/steer/dropped/mirror-host": 6,
             "reusewatch/traps/would-be-dropped": 3, "reusewatch/steered/saved": 4,
             "reusewatch/traps/saved": 1}  # fmt: skip
    # Scrapy makes a crawler's own stats when the crawl begins.
    made = SimpleNamespace(stats=SimpleNamespace(get_value=stats.get), settings=crawler.settings)
    pulse = Pulse()
    pulse.beat()
    return CrawlWatch(
        made,  # type: ignore[arg-type]
        Settings(bus=bus, metrics_port=port, crawl_metrics_port=own_port),
        figures=lambda: FIGURES, waiting=lambda: 3, opened=lambda: True, pulse=pulse,
    )  # fmt: skip


@pytest.fixture
def served() -> Iterator[CrawlWatch]:
    made = watch()
    made.open(pytest.fail)
    yield made
    made.close()


def get(port: int, path: str) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def _said(labels: Mapping[str, str]) -> str | None:
    """What a sample is of: a reason, a kind and what was done; None of those without."""
    if "kind" in labels:
        return f"{labels['kind']} {labels['done']}"
    return labels.get("reason")


def test_a_crawl_serves_what_it_counts(served: CrawlWatch) -> None:
    assert served.port is not None
    status, text = get(served.port, "/metrics")
    assert status == 200
    found = {
        (sample.name, _said(sample.labels)): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith("reusewatch_")
        and (sample.value or not sample.name.endswith("steered_total"))
    }
    last = found.pop(("reusewatch_crawl_last_response_timestamp_seconds", None))
    assert last > 1_700_000_000
    assert {name for name, _ in found} | {"reusewatch_crawl_last_response_timestamp_seconds"} == {
        one.name for one in DECLARED
    }
    steered = {key: found.pop(key) for key in list(found) if key[0].endswith("steered_total")}
    assert steered == {("reusewatch_crawl_steered_total", "mirror-host dropped"): 6,
                       ("reusewatch_crawl_steered_total", "url-trap would-drop"): 3}  # fmt: skip
    drops = {reason: found.pop(("reusewatch_crawl_drops_total", reason)) for reason in DROPS}
    assert {reason: n for reason, n in drops.items() if n} == {"duplicate-request": 5, "robots": 2}
    assert {name.removeprefix("reusewatch_crawl_"): n for (name, _), n in found.items()} == {
        "requests_total": 9, "responses_total": 7, "pages_total": 4, "lost_total": 1,
        "dead_letters_total": 0, "waiting": 3, "scheduled": 3, "saved_total": 5,
    }  # fmt: skip
    assert get(served.port, "/readyz") == (200, "ready\n")
    assert get(served.port, "/healthz") == (200, "ok\n")


def test_every_reason_has_its_source() -> None:
    assert DROPS.keys() == SKIPPED | _STATS.keys()


def test_a_port_that_is_taken_costs_the_metrics_alone(served: CrawlWatch) -> None:
    said: list[str] = []
    other = watch(port=served.port or 0)
    other.open(said.append)
    assert other.port is None
    assert len(said) == 1
    assert said[0].endswith("the crawl goes on without")


def test_on_a_local_bus_a_crawl_has_a_port_of_its_own(tmp_path: Path) -> None:
    made = watch(bus=f"local:{tmp_path}", own_port=0)
    made.open(pytest.fail)
    assert made.port
    assert get(made.port, "/readyz") == (200, "ready\n")
    made.close()


def test_the_port_of_its_own_is_no_matter_of_a_project_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("REUSEWATCH_CRAWL_METRICS_PORT", "9470")
    assert resolve().settings.crawl_metrics_port == 9470
    assert resolved(ScrapySettings()).settings.crawl_metrics_port == 9470
    given = ScrapySettings({"REUSEWATCH_CRAWL_METRICS_PORT": 9471})
    assert resolved(given).settings.crawl_metrics_port == 9471


@pytest.mark.parametrize("wrong", ["many", "-1", "65536"])
def test_a_port_that_can_be_none_is_told(wrong: str) -> None:
    with pytest.raises(SettingsError, match="REUSEWATCH_CRAWL_METRICS_PORT"):
        ReuseWatch().update_settings(ScrapySettings({"REUSEWATCH_CRAWL_METRICS_PORT": wrong}))


def test_what_steering_saved_is_read_by_the_names_that_it_is_counted_under() -> None:
    assert _SAVED == (STEER_SAVED, TRAPS_SAVED)


def test_on_a_local_bus_the_process_that_judges_serves() -> None:
    made = watch(bus="local:.reusewatch")
    made.open(pytest.fail)
    assert made.port is None
