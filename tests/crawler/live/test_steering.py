"""A crawl that is steered: what was found bad is kept out of, but for a share, and comes back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace
from scrapy import Spider
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Request
from scrapy.settings import Settings as ScrapySettings
from scrapy.utils.test import get_crawler

from reusewatch.crawler.addon import ReuseWatch
from reusewatch.crawler.live.steer import Steer
from reusewatch.streams.bus import Message, Outgoing, Partition
from reusewatch.streams.kafka import KafkaBus, KafkaConfig
from reusewatch.streams.local import LocalBus
from reusewatch.streams.records import Alert, Direction
from reusewatch.streams.settings import SettingsError
from reusewatch.streams.steering.places import Places
from reusewatch.streams.wire import alert_message
from tests.crawler.live.crawls import run
from tests.crawler.live.own import FOLLOWING, arguments, stats_of
from tests.crawler.live.site import Answer, Site, serving
from tests.streams.made_alerts import bad

BAD = 40
# Follows every link; one of them says that it is to be sent whatever was found.


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
    with closing(LocalBus(directory / "state").outlet()) as outlet:
        outlet.send(*messages)


def fetched_below(site: Site, path: str) -> int:
    return sum(count for asked, count in site.paths().items() if asked.startswith(path))


def crawl(site: Site, directory: Path, **settings: object) -> tuple[dict[str, str], str]:
    asked = arguments(
        directory, [site.url("/")], FOLLOWING, LOG_LEVEL="DEBUG", RETRY_ENABLED=False, **settings
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


def steered(site: Site, alert: Alert, **settings: object) -> Steer:
    """The middleware in a crawl that has not begun, with this finding known."""
    whole = {"REUSEWATCH_STEER": "on", "REUSEWATCH_STEER_SAMPLED": 0, **settings}
    made = Steer(get_crawler(settings_dict=whole))
    places = Places(unsure=True, narrow=True)
    sent = alert_message(alert)
    places.take(Message(Partition(sent.topic, 0), 0, sent.key, sent.value, tuple(sent.headers), 0))
    made.steering.hold(places.at(datetime.now(UTC)))
    return made


def scheduled(steer: Steer, request: Request) -> bool:
    """Whether a request comes to the scheduler."""
    try:
        steer._scheduled(request, Spider("own"))
    except IgnoreRequest:
        return False
    return True


def counted(steer: Steer) -> dict[str, object]:
    stats, own = steer._crawler.stats.get_stats(), "reusewatch/steer/"
    return {name.removeprefix(own): n for name, n in stats.items() if name.startswith(own)}


def promised(steer: Steer) -> dict[str, object]:
    """The stats that scripts may rely on."""
    stats, own = steer._crawler.stats.get_stats(), "reusewatch/steered/"
    return {name.removeprefix(own): n for name, n in stats.items() if name.startswith(own)}


def test_a_dry_run_says_what_it_would_have_done(site: Site) -> None:
    steer = steered(site, found(site), REUSEWATCH_STEER="dry-run")
    request = Request(site.url("/bad/1"))
    assert scheduled(steer, request)
    assert steer.process_request(request) is None
    assert counted(steer) == {"would-be-dropped": 1, "would-be-dropped/bad-neighborhood": 1}
    assert promised(steer) == {"would_drop": 1}


def test_a_link_that_is_met_again_saves_nothing_more(site: Site) -> None:
    steer = steered(site, found(site))
    for path in ("/bad/1", "/bad/2", "/bad/1", "/good/1", "/bad/1"):
        scheduled(steer, Request(site.url(path)))
    assert promised(steer) == {"dropped": 4, "saved": 2}


def test_what_is_let_through_is_counted(site: Site) -> None:
    steer = steered(site, found(site), REUSEWATCH_STEER_SAMPLED=1)
    assert scheduled(steer, Request(site.url("/bad/1")))
    assert promised(steer) == {"let_through": 1}


def test_robots_of_a_bad_host_are_asked_for(site: Site) -> None:
    steer = steered(site, found(site, prefix=site.url("/")))
    assert steer.process_request(Request(site.url("/robots.txt"))) is None
    with pytest.raises(IgnoreRequest):
        steer.process_request(Request(site.url("/robots.html")))


def test_without_the_setting_nothing_is_steered(site: Site) -> None:
    with pytest.raises(NotConfigured):
        steered(site, found(site), REUSEWATCH_STEER="off")


@pytest.mark.parametrize(
    ("given", "settings"),
    [
        ({"direction": Direction(original="unknown"), "severity": "info"}, {}),
        ({}, {"REUSEWATCH_STEER_ACTIONS": '{"bad-neighborhood": "lower"}'}),
    ],
)
def test_what_is_not_sure_or_not_to_be_dropped_comes_last(
    site: Site, given: dict[str, object], settings: dict[str, object]
) -> None:
    steer = steered(site, found(site, **given), **settings)
    bad_one, good_one = Request(site.url("/bad/1")), Request(site.url("/good/1"))
    assert scheduled(steer, bad_one)
    assert scheduled(steer, good_one)
    assert bad_one.priority < -100 < good_one.priority
    # It was lowered already, and is sent when its turn comes.
    assert steer.process_request(bad_one) is None
    # One that waited before anything was found is put back once.
    waited = Request(site.url("/bad/2"))
    again = steer.process_request(waited)
    assert again is not None
    assert (again.priority, again.dont_filter) == (bad_one.priority, True)
    assert scheduled(steer, again)
    assert steer.process_request(again) is None
    assert counted(steer) == {"lowered": 2, "lowered/bad-neighborhood": 2}


def test_what_waits_in_a_queue_is_dropped_when_its_place_is_found_bad(site: Site) -> None:
    steer = steered(site, found(site))
    with pytest.raises(IgnoreRequest, match="bad-neighborhood, alert"):
        steer.process_request(Request(site.url("/bad/1")))
    for passes in (
        Request(site.url("/bad/1"), dont_filter=True),
        Request(site.url("/bad/1"), meta={"reusewatch_steer": False}),
    ):
        assert scheduled(steer, passes)
        assert steer.process_request(passes) is None


def test_a_place_that_was_cleaned_comes_back(site: Site) -> None:
    steer = steered(site, found(site, state="closed"))
    assert scheduled(steer, Request(site.url("/bad/1")))
    assert counted(steer) == {}


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
def test_a_wrong_setting_is_told_before_anything_is_fetched(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match="REUSEWATCH_STEER"):
        ReuseWatch().update_settings(ScrapySettings(wrong))
