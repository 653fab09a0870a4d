"""The add-on in a project of somebody else: `scrapy runspider` with one line of settings."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings as ScrapySettings

from reusewatch.crawler.addon import TAP_ORDER, ReuseWatch
from reusewatch.crawler.live.project import capacity, resolved
from reusewatch.crawler.live.tap import Tap
from reusewatch.streams import topics
from reusewatch.streams.kafka import KafkaBus, KafkaConfig, create_topics
from reusewatch.streams.local import LocalBus
from reusewatch.streams.settings import SettingsError
from reusewatch.streams.verbs import topic_views
from reusewatch.streams.wire import read_page
from tests.broker import quick_config
from tests.crawler.live.crawls import crawl_arguments, ended, run, started
from tests.crawler.live.own import PROJECT, arguments, stats_of
from tests.crawler.live.site import Answer, Site, demo_site, serving
from tests.deployed import Broker

SELECT = "twisted.internet.selectreactor.SelectReactor"


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(demo_site()) as served:
        yield served


@pytest.mark.parametrize("reactor", [None, SELECT])
def test_one_line_puts_every_response_on_the_bus_once(
    site: Site, tmp_path: Path, kafka_config: KafkaConfig, reactor: str | None
) -> None:
    site.answers["/broken"] = Answer(b"<html>sorry", 503)
    paths = ["/moved", "/packed", "/none", "/dot", "/broken"]
    extra = {"TWISTED_REACTOR": reactor} if reactor else {}
    code, _, err = run(
        arguments(
            tmp_path, [site.url(path) for path in paths],
            REUSEWATCH_BUS=f"kafka://{kafka_config.bootstrap_servers[0]}",
            REUSEWATCH_TOPIC_PREFIX=kafka_config.topic_prefix, ROBOTSTXT_OBEY=True,
            LOG_LEVEL="DEBUG", **extra,
        ),
        tmp_path,
    )  # fmt: skip
    assert code == 0, err
    assert "[kafka." not in err, "a page in each of three lines"
    pages = [read_page(message) for message in KafkaBus(kafka_config).read(topics.PAGES)]
    found = sorted((page.url.partition(str(site.port))[2], page.status) for page in pages)
    # A redirect and what it leads to, an error page, and each try of the one that is tried again.
    assert found == [
        ("/broken", 503), ("/broken", 503), ("/broken", 503),
        ("/moved", 302), ("/none", 404), ("/packed", 200), ("/target", 200),
    ]  # fmt: skip
    assert {page.origin.source for page in pages} == {"scrapy:own"}
    assert b"unpacked" in next(page.body for page in pages if page.url.endswith("/packed"))
    stats = stats_of(err)
    assert stats["responses"] == str(len(site.asked))
    assert (stats["pages"], stats["dead_letters"], stats["not_safe"]) == ("7", "0", "0")
    assert (stats["skipped/content-type"], stats["skipped/robots"]) == ("1", "1")


def test_cached_responses_are_no_new_pages(site: Site, tmp_path: Path) -> None:
    asked = arguments(tmp_path, [site.url("/target")], HTTPCACHE_ENABLED=True, HTTPCACHE_DIR="c")
    first, second = (stats_of(run(asked, tmp_path)[2]) for _ in range(2))
    assert first["pages"] == "1"
    assert (second["pages"], second["skipped/cached"]) == ("0", "1")
    assert site.paths()["/target"] == 1


def test_it_steps_aside(site: Site, tmp_path: Path) -> None:
    asked = arguments(tmp_path, [site.url("/target")], REUSEWATCH_ENABLED=False)
    code, _, err = run(asked, tmp_path)
    assert code == 0
    assert set(stats_of(err)) == {"finish_reason"}
    assert not (tmp_path / "state").exists()


def test_a_bus_that_is_away_closes_the_spider_before_any_request(
    site: Site, tmp_path: Path
) -> None:
    asked = arguments(
        tmp_path, [site.url()], REUSEWATCH_BUS="kafka://127.0.0.1:9", REUSEWATCH_ON_TROUBLE="stop"
    )
    code, _, err = run(asked, tmp_path)
    assert code == 3, err
    assert "Closing spider (reusewatch: no Kafka broker at 127.0.0.1:9" in err
    assert not site.asked


WITH_A_SINK = (
    PROJECT
    + """
import reusewatch.crawler.live.tap
from reusewatch.streams.bus import BusBroken
real = reusewatch.crawler.live.tap.open_live_sink

def open_live_sink(*args, **kwargs):
    sink = real(*args, **kwargs)
    put, taken = sink.put, []
    def slow_or_broken(page):
        taken.append(page)
        HOW
        put(page)
    sink.put = slow_or_broken
    return sink

reusewatch.crawler.live.tap.open_live_sink = open_live_sink
"""
)


def test_a_bus_slower_than_the_crawl_slows_it(site: Site, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    # Opening the pipe waits for somebody to write into it.
    script = WITH_A_SINK.replace("HOW", f"len(taken) == 1 and open({str(gate)!r}).close()")
    paths = [f"{path}?{number}" for number in range(10) for path in ("/target", "/packed", "/none")]
    urls = [site.url(path) for path in paths]
    queue, concurrent = 3, 4
    asked = arguments(
        tmp_path, urls, script, REUSEWATCH_QUEUE_RESPONSES=queue, CONCURRENT_REQUESTS=concurrent,
    )  # fmt: skip
    with started(asked, tmp_path) as process:
        # One in the sink's hands, the queue, and the requests that wait: while the sink stands
        # still, the reactor goes on until it has all of these, and sends no more.
        site.wait_for(1 + queue + concurrent)
        gate.write_text("")
        assert len(site.asked) == 1 + queue + concurrent
        code, _, err = ended(process)
    assert code == 0, err
    stats = stats_of(err)
    assert stats["pages"] == str(len(paths)) == str(len(site.asked))
    assert int(stats["queue_peak"]) <= queue


def test_a_bus_that_breaks_stops_the_crawl_and_says_so(site: Site, tmp_path: Path) -> None:
    how = "if len(taken) == 3: raise BusBroken('the disk is full')"
    script = WITH_A_SINK.replace("HOW", how)
    urls = [site.url(f"/target?{number}") for number in range(200)]
    asked = arguments(tmp_path, urls, script, CONCURRENT_REQUESTS=2)
    code, _, err = run(asked, tmp_path)
    assert code == 1, err
    stats = stats_of(err)
    assert stats["finish_reason"] == "'reusewatch: the disk is full'"
    assert err.splitlines()[-1].startswith("reusewatch: the disk is full; ")
    assert "responses may not be on the bus" in err
    assert len(site.asked) < len(urls)
    safe = len(list(topic_views.verdicts(LocalBus(tmp_path / "state"))))
    assert int(stats["responses"]) - safe <= int(stats["not_safe"])


def test_who_gives_up_on_a_broker_that_is_gone_is_told(tmp_path: Path) -> None:
    with Broker() as broker, serving(demo_site(), held=True) as site:
        config = quick_config(broker.address)
        create_topics(config)
        flags = ("--allow-private", "--topic-prefix", config.topic_prefix)
        asked = crawl_arguments(f"kafka://{broker.address}", site.url(), flags=flags)
        with started(asked, tmp_path) as process:
            site.wait_for(2)
            broker.kill()
            site.gate.set()
            site.wait_for(20)
            process.send_signal(signal.SIGINT)
            code, out, err = ended(process)
    assert code == 3, err
    assert "responses may not be on the bus" in err
    assert not out


def settings(**given: object) -> ScrapySettings:
    return ScrapySettings({f"REUSEWATCH_{name}": value for name, value in given.items()})


def test_a_setting_that_is_none_is_named() -> None:
    with pytest.raises(SettingsError, match="REUSEWATCH_BUSS: there is no setting buss"):
        ReuseWatch().update_settings(settings(BUSS="local:x"))
    with pytest.raises(SettingsError, match="REUSEWATCH_QUEUE_RESPONSES"):
        ReuseWatch().update_settings(settings(QUEUE_RESPONSES=0))


@pytest.mark.parametrize("reactor", [None, SELECT])
def test_a_misspelt_setting_is_one_line_and_no_crawl(
    site: Site, tmp_path: Path, reactor: str | None
) -> None:
    extra = {"TWISTED_REACTOR": reactor} if reactor else {}
    asked = arguments(
        tmp_path, [site.url()], REUSEWATCH_BUSS="local:x", LOG_LEVEL="WARNING", **extra
    )
    code, out, err = run(asked, tmp_path)
    assert code == 1, err
    (line,) = err.splitlines()
    assert "REUSEWATCH_BUSS: there is no setting buss, did you mean bus?" in line
    assert "Traceback" not in out + err
    assert not site.asked


def test_a_secret_is_not_taken_from_a_project(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match="REUSEWATCH_KAFKA_PASSWORD is a secret"):
        resolved(settings(KAFKA_PASSWORD="hunter2"))
    monkeypatch.setenv("REUSEWATCH_KAFKA_PASSWORD", "hunter2")
    assert resolved(settings()).settings.kafka_password == "hunter2"


def test_a_project_goes_before_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("REUSEWATCH_BUS", "local:from-environment")
    monkeypatch.setenv("REUSEWATCH_WORKERS", "2")
    file = tmp_path / "own.toml"
    file.write_text('bus = "local:from-file"\ncommit_seconds = 7\n')
    found = resolved(settings(BUS="local:from-project", CONFIG=str(file)))
    assert (found.settings.bus, found.origins["bus"]) == ("local:from-project", "REUSEWATCH_BUS")
    assert (found.settings.workers, found.settings.commit_seconds) == (2, 7)
    assert capacity(settings(QUEUE_RESPONSES="9")).items == 9


def test_the_tap_is_put_nearest_the_downloader_unless_placed() -> None:
    made = settings()
    ReuseWatch().update_settings(made)
    assert made["DOWNLOADER_MIDDLEWARES"][Tap] == TAP_ORDER
    placed = settings()
    placed.set("DOWNLOADER_MIDDLEWARES", {"reusewatch.crawler.live.tap.Tap": 700})
    ReuseWatch().update_settings(placed)
    assert (
        placed["DOWNLOADER_MIDDLEWARES"].getpriority("reusewatch.crawler.live.tap.Tap") is not None
    )
    with pytest.raises(NotConfigured):
        ReuseWatch().update_settings(settings(ENABLED="0"))
