"""A crawl that is steered: what was found bad is kept out of, but for a share, and comes back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from reusewatch.streams.bus import Outgoing
from reusewatch.streams.kafka import KafkaBus, KafkaConfig
from reusewatch.streams.local import LocalBus
from reusewatch.streams.records import Alert, Direction
from reusewatch.streams.wire import alert_message
from tests.crawler.live.crawls import run
from tests.crawler.live.own import arguments, stats_of
from tests.crawler.live.site import Answer, Site, serving
from tests.streams.steering.test_places import bad

BAD = 40
# Follows every link; one of them says that it is to be sent whatever was found.
SPIDER = """
import scrapy

class Own(scrapy.Spider):
    name = "own"
    custom_settings = {"ADDONS": {"reusewatch.crawler.addon.ReuseWatch": 500}}

    def __init__(self, urls, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = urls.split()

    def parse(self, response):
        for link in response.css("a::attr(href)").getall():
            meta = {"reusewatch_steer": False} if "wanted" in link else {}
            yield response.follow(link, meta=meta)
"""


@pytest.fixture
def site() -> Iterator[Site]:
    links = ["/bad/wanted", *(f"/bad/{i}" for i in range(BAD)), "/good/1", "/good/2"]
    index = "".join(f'<a href="{link}">x</a>' for link in links)
    answers = {link: Answer(f"<html><p>Words of {link}.".encode()) for link in links}
    with serving(Site({"/": Answer(f"<html>{index}".encode())} | answers)) as served:
        yield served


def found(site: Site, **given: object) -> Alert:
    """A finding of what stands below /bad/."""
    told = replace(bad(prefix=site.url("/bad/")), detected_at=datetime.now(UTC))
    return replace(told, **given)


def told(directory: Path, *messages: Outgoing) -> None:
    outlet = LocalBus(directory / "state").outlet()
    for message in messages:
        outlet.send(message)
    outlet.flush()


def fetched_below(site: Site, path: str) -> int:
    return sum(count for asked, count in site.paths().items() if asked.startswith(path))


def crawl(site: Site, directory: Path, **settings: object) -> tuple[dict[str, str], str]:
    asked = arguments(
        directory, [site.url("/")], SPIDER, LOG_LEVEL="DEBUG", RETRY_ENABLED=False, **settings
    )
    code, _, err = run(asked, directory)
    assert code == 0, err
    return stats_of(err), err


def test_requests_to_a_bad_place_are_dropped_counted_and_logged(site: Site, tmp_path: Path) -> None:
    alert = found(site)
    told(tmp_path, alert_message(alert))
    stats, err = crawl(site, tmp_path, REUSEWATCH_STEER="on", REUSEWATCH_STEER_SAMPLED=0)
    assert fetched_below(site, "/good/") == 2
    assert fetched_below(site, "/bad/") == 1  # the one that is wanted
    assert stats["steer/dropped/bad-neighborhood"] == str(BAD)
    assert f"alert {alert.id}" in err


def test_a_dry_run_says_what_it_would_have_done(site: Site, tmp_path: Path) -> None:
    told(tmp_path, alert_message(found(site)))
    stats, _ = crawl(site, tmp_path, REUSEWATCH_STEER="dry-run", REUSEWATCH_STEER_SAMPLED=0)
    assert fetched_below(site, "/bad/") == BAD + 1
    assert stats["steer/would-be-dropped/bad-neighborhood"] == str(BAD)


def test_without_the_setting_nothing_is_steered(site: Site, tmp_path: Path) -> None:
    told(tmp_path, alert_message(found(site)))
    stats, _ = crawl(site, tmp_path)
    assert fetched_below(site, "/bad/") == BAD + 1
    assert not [name for name in stats if name.startswith("steer")]


@pytest.mark.parametrize(
    ("given", "settings"),
    [
        ({"direction": Direction(original="unknown"), "severity": "info"}, {}),
        ({}, {"REUSEWATCH_STEER_ACTIONS": '{"bad-neighborhood": "lower"}'}),
    ],
)
def test_what_is_not_sure_or_not_to_be_dropped_comes_last(
    site: Site, tmp_path: Path, given: dict[str, object], settings: dict[str, object]
) -> None:
    told(tmp_path, alert_message(found(site, **given)))
    stats, _ = crawl(
        site, tmp_path, REUSEWATCH_STEER="on", REUSEWATCH_STEER_SAMPLED=0, CONCURRENT_REQUESTS=1,
        **settings,
    )  # fmt: skip
    assert fetched_below(site, "/bad/") == BAD + 1
    assert stats["steer/lowered/bad-neighborhood"] == str(BAD)
    asked = [path for _, path in site.asked if path not in ("/", "/bad/wanted")]
    assert sorted(asked[:2]) == ["/good/1", "/good/2"]


def test_a_place_that_was_cleaned_comes_back(site: Site, tmp_path: Path) -> None:
    told(tmp_path, alert_message(found(site)), alert_message(found(site, state="closed")))
    stats, _ = crawl(site, tmp_path, REUSEWATCH_STEER="on")
    assert fetched_below(site, "/bad/") == BAD + 1
    assert not [name for name in stats if name.startswith("steer")]


def test_findings_come_from_a_broker(site: Site, tmp_path: Path, kafka_config: KafkaConfig) -> None:
    outlet = KafkaBus(kafka_config).outlet()
    outlet.send(alert_message(found(site)))
    outlet.flush()
    stats, _ = crawl(
        site, tmp_path, REUSEWATCH_STEER="on", REUSEWATCH_STEER_SAMPLED=0,
        REUSEWATCH_BUS=f"kafka://{kafka_config.bootstrap_servers[0]}",
        REUSEWATCH_TOPIC_PREFIX=kafka_config.topic_prefix,
    )  # fmt: skip
    assert fetched_below(site, "/bad/") == 1
    assert stats["steer/dropped/bad-neighborhood"] == str(BAD)


@pytest.mark.parametrize(
    "wrong", [{"REUSEWATCH_STEER": "maybe"}, {"REUSEWATCH_STEER_SAMPLED": "many"}]
)
def test_a_wrong_setting_is_told_before_anything_is_fetched(
    site: Site, tmp_path: Path, wrong: dict[str, object]
) -> None:
    code, _, err = run(arguments(tmp_path, [site.url("/")], SPIDER, **wrong), tmp_path)
    assert code != 0
    assert "REUSEWATCH_STEER" in err
    assert not site.asked
