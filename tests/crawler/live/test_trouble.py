"""Real crawls whose bus is in trouble: no page is lost unsaid, and none is lost that was taken."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from reusewatch.streams import topics
from reusewatch.streams.kafka import KafkaBus, KafkaConfig
from reusewatch.streams.local import LocalBus
from reusewatch.streams.local.judged import read_judged
from reusewatch.streams.local.spools import is_locked
from reusewatch.streams.verbs import topic_views
from reusewatch.streams.wire import read_page
from tests.crawler.live.crawls import ended, run, started, until
from tests.crawler.live.own import PROJECT, arguments, stats_of
from tests.crawler.live.site import Site, demo_site, serving
from tests.end_to_end.test_disk_full import Disk, disk

__all__ = ["disk"]
AWAY = "kafka://127.0.0.1:9"
PEAK = """
    def closed(self, reason):
        import sys
        # Not what getrusage says: a process that was forked begins with what its parent had.
        status = open("/proc/self/status").read()
        peak = int(status.partition("VmHWM:")[2].split()[0])
        large = {"numba", "pyarrow", "numpy", "resiliparse", "fastwarc"} & set(sys.modules)
        print("PEAK", peak // 1024, sorted(large))
"""


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(demo_site()) as served:
        yield served


def urls_of(site: Site, count: int, tag: str = "") -> list[str]:
    return [site.url(f"/target?{tag}{number}") for number in range(count)]


def judged_urls(directory: Path) -> set[str]:
    return {verdict.url for verdict in topic_views.verdicts(LocalBus(directory))}


def test_two_spiders_on_one_local_bus_and_both_are_small(tmp_path: Path) -> None:
    with serving(demo_site(), held=True) as site:
        urls = [urls_of(site, 6, tag) for tag in ("a", "b")]
        asked = [arguments(tmp_path, some, PROJECT + PEAK) for some in urls]
        alone = arguments(tmp_path, urls[0], PROJECT + PEAK, REUSEWATCH_ENABLED=False)
        with started(asked[0], tmp_path) as one, started(asked[1], tmp_path) as other:
            site.wait_for(12)
            site.gate.set()
            ends = [ended(one), ended(other)]
        without = run(alone, tmp_path)
    assert [code for code, _, _ in ends] == [0, 0], ends
    assert judged_urls(tmp_path / "state") == {*urls[0], *urls[1]}
    for _, out, err in ends:
        assert (stats_of(err)["pages"], stats_of(err)["lost"]) == ("6", "0")
        assert out.split()[2:] == ["[]"], out
        assert int(out.split()[1]) - int(without[1].split()[1]) < 60


@pytest.mark.parametrize("victim", ["judge", "spider"])
def test_what_was_taken_is_judged_whoever_is_killed(tmp_path: Path, victim: str) -> None:
    state = tmp_path / "state"
    with serving(demo_site()) as site:
        urls = urls_of(site, 5)
        slow = PROJECT.replace("yield {", "self.crawler.engine.pause(); yield {")
        often = {"REUSEWATCH_COMMIT_SECONDS": 0.05}
        script = PROJECT if victim == "judge" else slow
        asked = arguments(tmp_path, urls, script, DOWNLOAD_DELAY=0.5, **often)
        with started(asked, tmp_path) as spider:
            until(lambda: read_judged(state).pages > 0)
            if victim == "judge":
                os.kill(read_judged(state).pid, signal.SIGKILL)
                code, _, err = ended(spider)
                assert code == 0, err
                assert judged_urls(state) == set(urls)
            else:
                spider.kill()
                spider.wait()
                until(lambda: not is_locked(state))
                assert judged_urls(state)
    assert judged_urls(state) <= set(urls)


def test_a_full_disk_is_waited_for(site: Site, tmp_path: Path, disk: Disk) -> None:
    disk.resize(64)
    urls = urls_of(site, 40)
    asked = arguments(tmp_path, urls, REUSEWATCH_BUS=f"local:{disk.at / 's'}", LOG_LEVEL="WARNING")
    with started(asked, tmp_path) as spider:
        assert spider.stderr is not None
        line = spider.stderr.readline()
        while "free some space" not in line:
            assert line, "it ended"
            line = spider.stderr.readline()
        disk.resize(60_000)
        code, _, err = ended(spider)
    assert code == 0, err
    assert judged_urls(disk.at / "s") == set(urls)


def test_a_directory_that_cannot_be_is_no_crawl(site: Site, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    asked = arguments(tmp_path, [site.url()], REUSEWATCH_BUS="local:file")
    code, _, err = run(asked, tmp_path)
    assert code == 3, err
    assert err.splitlines()[-1].startswith("reusewatch: file")
    assert not site.asked


def test_going_on_without_a_bus_counts_what_is_lost(site: Site, tmp_path: Path) -> None:
    asked = arguments(
        tmp_path, urls_of(site, 3), REUSEWATCH_BUS=AWAY, REUSEWATCH_ON_TROUBLE="go-on"
    )
    code, _, err = run(asked, tmp_path)
    assert code == 1, err
    assert (stats_of(err)["lost"], stats_of(err)["finish_reason"]) == ("3", "'finished'")
    assert err.splitlines()[-1] == "reusewatch: 3 responses may not be on the bus"


def test_a_broker_that_is_not_there_is_waited_for_until_ctrl_c(site: Site, tmp_path: Path) -> None:
    asked = arguments(tmp_path, [site.url()], REUSEWATCH_BUS=AWAY, LOG_LEVEL="WARNING")
    with started(asked, tmp_path) as spider:
        assert spider.stderr is not None
        assert "waiting, and Ctrl-C ends that: no Kafka broker" in spider.stderr.readline()
        spider.send_signal(signal.SIGINT)
        code, _, err = ended(spider)
    assert code == 3, err
    assert err.splitlines()[-1].endswith("0 responses may not be on the bus")
    assert not site.asked


def test_what_is_put_aside_is_sent_later(
    site: Site, tmp_path: Path, kafka_config: KafkaConfig
) -> None:
    urls = urls_of(site, 4)
    asked = arguments(tmp_path, urls, REUSEWATCH_BUS=AWAY, REUSEWATCH_ON_TROUBLE="spill")
    code, _, err = run(asked, tmp_path)
    assert code == 0, err
    assert err.splitlines()[-1].startswith("reusewatch: 4 pages are put aside, and safe")
    bus = f"kafka://{kafka_config.bootstrap_servers[0]}"
    command = ["-m", "reusewatch.crawler", "spill", "--bus", bus]
    code, out, err = run([*command, "--topic-prefix", kafka_config.topic_prefix], tmp_path)
    assert code == 0, err
    assert out.startswith("4 messages")
    pages = [read_page(message) for message in KafkaBus(kafka_config).read(topics.PAGES)]
    assert {page.url for page in pages} == set(urls)
    assert not list((tmp_path / ".reusewatch/spill/spools").iterdir())


SCRIPT = """
import atexit
from scrapy.crawler import CrawlerProcess
from own import Own
atexit.register(print, "others are called as well")
process = CrawlerProcess({"REUSEWATCH_BUS": "kafka://127.0.0.1:9", "LOG_LEVEL": "ERROR",
    "REUSEWATCH_ON_TROUBLE": "stop"})
process.crawl(Own, urls="http://127.0.0.1:9/")
process.start()
"""


def test_a_script_of_ones_own_ends_with_the_code_too(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(PROJECT)
    (tmp_path / "script.py").write_text(SCRIPT)
    code, out, err = run(["script.py"], tmp_path)
    assert code == 3, err
    assert out == "others are called as well\n"
    assert err.splitlines()[-1].startswith("reusewatch: no Kafka broker at 127.0.0.1:9")


def test_scrapy_crawl_ends_with_the_code_too(tmp_path: Path) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = project\n")
    (tmp_path / "own.py").write_text(PROJECT)
    (tmp_path / "project.py").write_text(
        f'SPIDER_MODULES = ["own"]\nREUSEWATCH_BUS = "{AWAY}"\nREUSEWATCH_ON_TROUBLE = "stop"\n'
        'LOG_LEVEL = "ERROR"\n'
    )
    asked = ["-m", "scrapy", "crawl", "own", "-a", "urls=http://127.0.0.1:9/"]
    code, _, err = run(asked, tmp_path)
    assert code == 3, err
