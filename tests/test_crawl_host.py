"""A crawl host: the wheel with its base requirements, beside a project that is named `crawler`.

Such a host brings pages onto Kafka, and reads what is there; all else names the extra to install.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from reusewatch.streams import topics
from reusewatch.streams.extras import in_the_extra
from reusewatch.streams.kafka import KafkaBus, KafkaConfig
from reusewatch.streams.wire import read_page
from tests.crawler.live.site import Answer, Site, serving
from tests.installed import Installed, installed, tree_copied, wheel_of

HOW = 'pip install "reusewatch[all]"'
_SPIDER = """
import scrapy

class Own(scrapy.Spider):
    name = "own"

    def __init__(self, urls, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = urls.split()

    def parse(self, response):
        yield {"url": response.url}
"""
_FORBIDDEN = """
import importlib.util, sys
gone = sys.argv[1:]
assert not [name for name in gone if importlib.util.find_spec(name)], gone
import reusewatch.crawler.addon, reusewatch.crawler.live.tap
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """An environment with the wheel and its base requirements."""
    made = tmp_path_factory.mktemp("host")
    wheel = wheel_of(tree_copied(made / "tree"), made / "wheel")
    return installed(wheel, made / "environment")


@pytest.fixture
def project(host: Installed, tmp_path: Path) -> Path:
    """What `scrapy startproject crawler` makes, with one line of ours."""
    done = host.run("python", "-m", "scrapy", "startproject", "crawler", cwd=tmp_path)
    assert done.code == 0, done.err
    made = tmp_path / "crawler"
    (made / "crawler" / "spiders" / "own.py").write_text(_SPIDER)
    with (made / "crawler" / "settings.py").open("a") as settings:
        settings.write('ADDONS = {"reusewatch.crawler.addon.ReuseWatch": 500}\n')
    return made


@pytest.fixture
def site() -> Iterator[Site]:
    """A page in no charset that it says, a packed one, one that is not there."""
    unsaid = (("Content-Type", "text/html"),)
    answers = {
        "/unsaid": Answer("<html><p>Все счастливые семьи".encode("cp1251"), 200, unsaid),
        "/packed": Answer(
            gzip.compress(b"<html><p>Packed words."), 200, (*unsaid, ("Content-Encoding", "gzip"))
        ),
    }
    with serving(Site(answers)) as served:
        yield served


def crawl(host: Installed, project: Path, site: Site, **settings: str) -> tuple[int, str]:
    """The project's crawl of the site: its code, and its log."""
    urls = " ".join(site.url(path) for path in ("/unsaid", "/packed", "/none"))
    pairs = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    done = host.run(
        "python", "-m", "scrapy", "crawl", "own", "-a", f"urls={urls}",
        "-s", "DOWNLOAD_DELAY=0", "-s", "ROBOTSTXT_OBEY=0", *pairs, cwd=project,
    )  # fmt: skip
    return done.code, done.err


def test_the_add_on_needs_nothing_of_the_extra(host: Installed, tmp_path: Path) -> None:
    gone = sorted(in_the_extra())
    assert {"numba", "numpy", "pyarrow", "deflate", "resiliparse"} <= set(gone)
    done = host.run("python", "-c", _FORBIDDEN, *gone, cwd=tmp_path)
    assert done.code == 0, done.err


def test_a_project_named_crawler_crawls_to_kafka(
    host: Installed, project: Path, site: Site, kafka_config: KafkaConfig
) -> None:
    code, log = crawl(
        host, project, site,
        REUSEWATCH_BUS=f"kafka://{kafka_config.bootstrap_servers[0]}",
        REUSEWATCH_TOPIC_PREFIX=kafka_config.topic_prefix,
    )  # fmt: skip
    assert code == 0, log
    pages = [read_page(message) for message in KafkaBus(kafka_config).read(topics.PAGES)]
    found = {page.url.rpartition("/")[2]: page for page in pages}
    assert {name: page.status for name, page in found.items()} == {
        "unsaid": 200, "packed": 200, "none": 404,
    }, log  # fmt: skip
    # It is for the workers to detect: a crawl host has nothing that could.
    assert (found["unsaid"].charset, found["unsaid"].charset_from) == (None, None)
    assert found["packed"].body == b"<html><p>Packed words."


def test_a_local_bus_says_what_to_install(host: Installed, project: Path, site: Site) -> None:
    _, log = crawl(host, project, site, REUSEWATCH_BUS="local:state")
    (said,) = {line.partition("Closing spider (")[2] for line in log.splitlines()} - {""}
    assert said.startswith("reusewatch: a local bus (local:state) needs ")
    assert HOW in said
    assert "Traceback" not in log
    assert not site.asked


@pytest.mark.parametrize(
    "verb",
    ["replay x.warc.gz", "replay --help", "demo", "similar x.html", "labels show --json",
     "neighborhoods --top 3", "work index", "crawl http://127.0.0.1:9/ --allow-private"],
)  # fmt: skip
def test_what_is_not_installed_is_told_in_one_line(
    host: Installed, tmp_path: Path, verb: str
) -> None:
    done = host.run("reusewatch", *verb.split(), cwd=tmp_path)
    assert (done.code, done.out) == (2, ""), done.err
    assert done.err.splitlines()[-1].endswith(HOW)
    assert "Traceback" not in done.err


def test_what_a_crawl_host_can_do(
    host: Installed, tmp_path: Path, kafka_config: KafkaConfig
) -> None:
    bus = f"kafka://{kafka_config.bootstrap_servers[0]}"
    on_kafka = ("--bus", bus, "--topic-prefix", kafka_config.topic_prefix, "--json")
    for verb in (("--help",), ("--version",), ("config", "--json")):
        assert host.run("reusewatch", *verb, cwd=tmp_path).code == 0, verb
    for verb in ("alerts", "verdicts", "dead-letters"):
        done = host.run("reusewatch", verb, *on_kafka, cwd=tmp_path)
        assert (done.code, done.out) == (0, ""), done.err
    checks = host.run("reusewatch", "doctor", *on_kafka, cwd=tmp_path).objects
    assert next(row for row in checks if row["check"] == "installation")["ok"]
    local = host.run("reusewatch", "doctor", "--bus", "local:x", "--json", cwd=tmp_path)
    assert (local.code, local.err.count("Traceback")) == (1, 0)
    assert HOW in next(row for row in local.objects if row["check"] == "installation")["do"]
