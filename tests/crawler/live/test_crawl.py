"""The verb `crawl`, as a process, against a real site."""

from __future__ import annotations

import asyncio
import gzip
import re
import signal
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import Request
from scrapy.utils.test import get_crawler

from reusewatch.crawler.live.guard import ALLOW, EVERYWHERE, Guard
from reusewatch.crawler.live.manners import own_user_agent
from reusewatch.crawler.live.sample import Sample
from reusewatch.crawler.verbs.crawl import between_requests
from reusewatch.streams import topics
from reusewatch.streams.bus import Bus
from reusewatch.streams.kafka import KafkaBus, KafkaConfig
from reusewatch.streams.local import LocalBus
from reusewatch.streams.local.spools import is_locked, spools_of
from reusewatch.streams.records import Page
from reusewatch.streams.verbs import topic_views
from reusewatch.streams.wire import read_page
from tests.command import run as reusewatch
from tests.crawler.live.crawls import (
    ALLOWED,
    crawl_arguments,
    ended,
    run,
    started,
    summary_of,
    until,
)
from tests.crawler.live.site import HOME, OTHER, Answer, Site, demo_site, serving


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(demo_site()) as served:
        yield served


def pages_of(bus: Bus) -> list[Page]:
    return [read_page(message) for message in bus.read(topics.PAGES)]


def test_a_site_is_crawled_and_judged_on_the_local_bus(site: Site, tmp_path: Path) -> None:
    code, out, err = run(crawl_arguments("local:state", site.url()), tmp_path)
    assert code == 0, err
    shown = summary_of(out)
    assert shown["skipped"] == {"content-type": 1, "robots": 1}
    assert shown["records"] == len(site.asked) == shown["pages"] + 2
    verdicts = {verdict.url for verdict in topic_views.verdicts(LocalBus(tmp_path / "state"))}
    assert verdicts == {site.url(p) for p in site.paths()} - {
        site.url("/robots.txt"),
        site.url("/dot"),
    }
    assert not site.paths()["/secret"], "robots.txt forbids it"
    assert max(site.paths().values()) == 1


def test_copies_on_two_sites_are_found_while_crawling(site: Site, tmp_path: Path) -> None:
    urls = (site.url(), site.url(host=OTHER))
    code, out, err = run(crawl_arguments("local:state", *urls), tmp_path)
    assert code == 0, err
    alerts = list(topic_views.alerts(LocalBus(tmp_path / "state")))
    assert summary_of(out)["alerts"] == len(alerts) >= 70
    assert {host for host, _ in site.asked} == {HOME, OTHER}


def test_every_fetch_is_one_page_on_kafka(
    site: Site, tmp_path: Path, kafka_config: KafkaConfig
) -> None:
    bus = f"kafka://{kafka_config.bootstrap_servers[0]}"
    flags = ("--allow-private", "--topic-prefix", kafka_config.topic_prefix)
    began = datetime.now(UTC)
    code, out, err = run(crawl_arguments(bus, site.url(), flags=flags), tmp_path)
    assert code == 0, err
    pages = {page.url: page for page in pages_of(KafkaBus(kafka_config))}
    asked = set(site.paths()) - {"/robots.txt", "/dot"}
    assert set(pages) == {site.url(path) for path in asked}
    assert summary_of(out)["pages"] == len(pages_of(KafkaBus(kafka_config))) == len(asked)
    assert summary_of(out)["alerts"] is None
    for page in pages.values():
        assert page.ip == HOME
        assert page.status == site.answers.get(page.url.partition(str(site.port))[2], GONE).status
        assert began <= page.fetched_at <= began + timedelta(minutes=2)
        assert (page.origin.source, page.origin.offset) == ("scrapy:reusewatch", None)
    moved, packed = pages[site.url("/moved")], pages[site.url("/packed")]
    assert (moved.status, moved.charset, moved.charset_from) == (302, "windows-1252", "header")
    assert moved.body == site.answers["/moved"].body
    assert packed.body == b"<html><p>Packed words, then unpacked."


GONE = Answer(status=404)


def test_a_limit_is_a_limit(site: Site, tmp_path: Path) -> None:
    flags = ("--allow-private", "--limit-pages", "7")
    code, out, err = run(crawl_arguments("local:state", site.url(), flags=flags), tmp_path)
    assert code == 0, err
    assert summary_of(out)["pages"] == 7
    assert len(site.asked) == 8, "the pages and robots.txt"


def test_depth_0_is_the_start_urls(site: Site, tmp_path: Path) -> None:
    flags = ("--allow-private", "--depth", "0")
    _, out, _ = run(crawl_arguments("local:state", site.url(), flags=flags), tmp_path)
    assert summary_of(out)["pages"] == 1


def test_it_stays_on_the_sites_of_its_start_urls(tmp_path: Path) -> None:
    away = f"http://{OTHER}:{{port}}/away"
    site = Site(
        {
            "/": Answer(headers=(("Content-Type", "text/html"), ("Location", away)), status=302),
            "/links": Answer(b"<html><a href=/next>n</a>"),
            "/away": Answer(b"<html>other people's"),
        }
    )
    with serving(site):
        urls = (site.url(), site.url("/links"))
        run(crawl_arguments("local:a", *urls), tmp_path)
        assert {host for host, _ in site.asked} == {HOME}
        run(crawl_arguments("local:b", *urls, flags=("--allow-private", "--other-sites")), tmp_path)
        assert (OTHER, "/away") in site.asked


def test_ctrl_c_keeps_what_was_taken(site: Site, tmp_path: Path) -> None:
    with started(crawl_arguments("local:state", site.url()), tmp_path) as process:
        site.wait_for(20)
        process.send_signal(signal.SIGINT)
        code, out, err = ended(process)
    assert code == 130, err
    shown = summary_of(out)
    assert shown["records"] == len(site.asked)
    # What is not judged yet when it leaves is judged all the same.
    until(lambda: not is_locked(tmp_path / "state"))
    verdicts = list(topic_views.verdicts(LocalBus(tmp_path / "state")))
    assert len(verdicts) == shown["pages"] > 0


def test_sigterm_ends_gracefully(tmp_path: Path) -> None:
    asked = demo_site()
    with (
        serving(asked, held=True),
        started(crawl_arguments("local:state", asked.url()), tmp_path) as process,
    ):
        asked.wait_for(2)
        process.send_signal(signal.SIGTERM)
        asked.gate.set()
        code, out, err = ended(process)
    assert code == 0, err
    until(lambda: not is_locked(tmp_path / "state"))
    verdicts = list(topic_views.verdicts(LocalBus(tmp_path / "state")))
    assert len(verdicts) == summary_of(out)["pages"] == len(asked.asked) - 1


def test_ctrl_c_twice_waits_for_nobody(tmp_path: Path) -> None:
    with serving(demo_site(), held=True) as asked:
        flags = (*ALLOWED, "--log-level", "INFO")
        arguments = crawl_arguments("local:state", asked.url(), flags=flags)
        with started(arguments, tmp_path) as process:
            assert process.stderr is not None
            asked.wait_for(2)
            process.send_signal(signal.SIGINT)
            while "Closing spider (shutdown)" not in (line := process.stderr.readline()):
                assert line, "it ended"
            process.send_signal(signal.SIGINT)
            code, _, err = ended(process)
        assert not asked.gate.is_set(), "it waited for the page"
    assert code == 130, err
    assert err.splitlines()[-1] == "interrupted twice: what the bus had not taken is lost"
    until(lambda: not is_locked(tmp_path / "state"))


@pytest.mark.parametrize("robots", [404, 503])
def test_a_robots_txt_that_cannot_be_had_forbids_everything(robots: int, tmp_path: Path) -> None:
    answers = {"/robots.txt": Answer(status=robots), "/": Answer(b"<p>here", status=200)}
    reachable, job = robots < 500, (*ALLOWED, "--job", "job")
    with serving(Site(answers)) as site:
        code, out, err = run(crawl_arguments("local:state", site.url(), flags=job), tmp_path)
        assert (site.paths()["/"], code) == ((1, 0) if reachable else (0, 1)), err
        assert summary_of(out)["robots"] == ({} if reachable else {"unreachable": 1})
        told = f"{site.url()} was not fetched: {UNREACHABLE}: it answered 503"
        assert (told in err) is not reachable
        # A job that goes on asks again what only a robots.txt that was away had kept out.
        site.answers["/robots.txt"] = Answer(status=404)
        code, _, err = run(crawl_arguments("local:state", site.url(), flags=job), tmp_path)
        assert (site.paths()["/"], code) == (1, 0), err


def test_a_start_url_that_answers_with_trouble_is_named(tmp_path: Path) -> None:
    with serving(Site({"/": Answer(b"<p>later", status=503)})) as site:
        code, _, err = run(crawl_arguments("local:state", site.url()), tmp_path)
    assert code == 1
    assert f"reusewatch: {site.url()} was not fetched: it answered 503" in err


def test_a_broker_that_is_not_there_is_told_before_any_request(site: Site, tmp_path: Path) -> None:
    code, out, err = run(crawl_arguments("kafka://127.0.0.1:9", site.url()), tmp_path)
    assert code == 3, err
    assert "no Kafka broker at 127.0.0.1:9" in err
    assert not out
    assert not site.asked


def test_a_bus_that_somebody_has_is_crawled_onto_and_waited_for(site: Site, tmp_path: Path) -> None:
    holder = LocalBus(tmp_path / "state")
    holder.lock("replays")
    with started(crawl_arguments("local:state", site.url("/target")), tmp_path) as process:
        until(lambda: [s for s in spools_of(tmp_path / "state") if not s.is_written()])
        assert not list(topic_views.verdicts(LocalBus(tmp_path / "state")))
        holder.close()
        code, out, err = ended(process)
    assert code == 0, err
    verdicts = list(topic_views.verdicts(LocalBus(tmp_path / "state")))
    assert len(verdicts) == summary_of(out)["pages"] == 1


def test_topics_that_are_missing_are_told_before_any_request(
    site: Site, tmp_path: Path, broker: str
) -> None:
    flags = ("--allow-private", "--topic-prefix", "nobody-made.")
    code, _, err = run(crawl_arguments(f"kafka://{broker}", site.url(), flags=flags), tmp_path)
    assert code == 2, err
    assert "nobody-made.pages" in err
    assert "--topic-prefix" in err
    assert not site.asked


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "127.1", "[::1]"])
def test_this_machine_is_not_crawled_unless_allowed(site: Site, tmp_path: Path, host: str) -> None:
    code, _, err = run(crawl_arguments("local:state", site.url(host=host), flags=()), tmp_path)
    assert code in (1, 2), err
    assert "--allow-private" in err or "not allowed" in err
    assert not site.asked


def test_a_redirect_to_where_it_may_not_go_is_not_followed(tmp_path: Path) -> None:
    inside = f"http://{OTHER}:{{port}}/inside"
    headers = (("Content-Type", "text/html"), ("Location", inside))
    meta = f'<html><meta http-equiv=refresh content="0; url={inside}2">'
    with serving(Site({"/": Answer(status=302, headers=headers), "/links": Answer()})) as site:
        site.answers["/links"] = Answer(meta.replace("{port}", str(site.port)).encode())
        urls = (site.url(), site.url("/links"))
        flags = ("--allow-network", "127.0.0.1/32", "--other-sites")
        code, out, err = run(crawl_arguments("local:state", *urls, flags=flags), tmp_path)
    assert code == 1, err
    assert summary_of(out)["refused"] == 2
    assert "127.0.0.2" in err
    assert (OTHER, "/inside") not in site.asked


def test_a_redirect_that_leads_inside_is_counted_on_one_site_too(tmp_path: Path) -> None:
    headers = (("Content-Type", "text/html"), ("Location", f"http://{OTHER}:{{port}}/inside"))
    with serving(Site({"/": Answer(status=302, headers=headers)})) as site:
        flags = ("--allow-network", "127.0.0.1/32")
        _, out, err = run(crawl_arguments("local:state", site.url(), flags=flags), tmp_path)
    assert (summary_of(out)["refused"], summary_of(out)["offsite"]) == (1, 1), err
    assert {host for host, _ in site.asked} == {HOME}


def test_hostile_pages_and_sitemaps_cost_little(site: Site, tmp_path: Path) -> None:
    (tmp_path / "reusewatch.toml").write_text(f"max_body_bytes = {4 << 20}\n")
    packed = (("Content-Type", "text/html"), ("Content-Encoding", "gzip"))
    xml = (("Content-Type", "application/xml"),)
    names = [site.url(path) for path in ("/map.xml", "/bomb.xml.gz", "/many.xml")]
    # First those that the first page links to, too: a sample is for what a sitemap names.
    paths = ["/bomb", "/deep", "/links", "/nul", "/good", *(f"/s/{i}" for i in range(50_001))]
    many = "".join(f"<url><loc>{site.url(path)}</loc></url>" for path in paths)
    bomb = gzip.compress(b"<urlset>" + b" " * (51 << 20))
    site.answers |= {
        "/robots.txt": Answer(b"Sitemap: /map.xml\n", headers=(("Content-Type", "text/plain"),)),
        "/map.xml": Answer(
            f"<sitemapindex>{''.join(f'<sitemap><loc>{n}</loc></sitemap>' for n in names)}"
            "</sitemapindex>".encode(), headers=xml,
        ),
        "/bomb.xml.gz": Answer(bomb, headers=xml),
        "/many.xml": Answer(f"<urlset>{many}</urlset>".encode(), headers=xml),
        "/": Answer(b"<a href=/bomb>b<a href=/deep>d<a href=/links>l<a href=/nul>n<a href=/good>g"),
        "/bomb": Answer(gzip.compress(b" " * (5 << 20)), headers=packed),
        "/deep": Answer(b"<div>" * 100_000),
        "/links": Answer(b"".join(b"<a href=/x/%d>x" % i for i in range(6_000))),
        "/nul": Answer(b"\0\xff<a href='\0//\xfe['>x" * 99),
        "/good": Answer(b"<p>good"),
    }  # fmt: skip
    flags = ("--allow-private", "--sitemaps", "--sample", "20")
    code, out, err = run(crawl_arguments("local:state", site.url(), flags=flags), tmp_path)
    assert code == 1, err
    shown = summary_of(out)
    assert (shown["cut"], shown["dead_letters"]) == ({"links": 1, "sitemaps": 2}, 1)
    assert "/good" in site.paths()
    assert len(site.asked) <= 20 + 2 + len(names)
    assert "Traceback" not in err


def test_what_cannot_be_decoded_is_a_dead_letter(tmp_path: Path) -> None:
    lying = (("Content-Type", "text/html"), ("Content-Encoding", "br"))
    with serving(Site({"/": Answer(b"\x00\x01\xfe not brotli" * 20, headers=lying)})) as site:
        code, out, err = run(crawl_arguments("local:state", site.url()), tmp_path)
    assert code == 1, err
    assert summary_of(out)["dead_letters"] == 1
    [letter] = topic_views.dead_letters(LocalBus(tmp_path / "state"))
    assert (letter.reason, letter.source, letter.url) == (
        "bad-encoding", "scrapy:reusewatch", site.url(),
    )  # fmt: skip


def test_a_page_over_the_limit_is_a_dead_letter(tmp_path: Path) -> None:
    (tmp_path / "reusewatch.toml").write_text("max_body_bytes = 1000\n")
    with serving(Site({"/": Answer(b"<html>" + b"x " * 1000)})) as site:
        code, out, err = run(crawl_arguments("local:state", site.url()), tmp_path)
    assert code == 1, err
    assert summary_of(out)["pages"] == 0
    [letter] = topic_views.dead_letters(LocalBus(tmp_path / "state"))
    assert letter.reason == "too-large"
    assert "larger than download max size" in err
    assert "Traceback" not in err


PROGRESS = r"\d+ responses, \d+ pages.*"
UNREACHABLE = "robots.txt cannot be had, so nothing is allowed"
REFUSED = "Connection was refused by other side: 111: Connection refused."


def test_a_start_url_that_does_not_answer_is_named(site: Site, tmp_path: Path) -> None:
    closed = "http://127.0.0.1:9/"
    code, out, err = run(crawl_arguments("local:state", closed, site.url("/dot")), tmp_path)
    assert code == 1
    # This line says it. What Scrapy says of it, a traceback of 30 lines, would hide it.
    told = [line for line in err.splitlines() if not re.fullmatch(PROGRESS, line)]
    assert told == [f"reusewatch: {closed} was not fetched: {UNREACHABLE}: {REFUSED}"]
    assert summary_of(out)["records"] == 2


@pytest.mark.parametrize(
    "arguments",
    [["example.org"], ["ftp://example.org/"], ["http://a.example", "--allow-network", "nowhere"],
     ["http://a.example", "--log-level", "LOUD"], ["http://a.example"],
     ["http://a.example", "--contact", "me"], ["http://a.example", "--user-agent", "me"],
     ["http://127.0.0.1:1", "--rate", "0"], ["http://127.0.0.1:1", "--steer", "x"],
     []],
)  # fmt: skip
def test_wrong_usage_is_2(arguments: list[str], tmp_path: Path) -> None:
    code, _, err = run(["-m", "reusewatch.crawler", "crawl", *arguments], tmp_path)
    assert code == 2, err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("delay", "rate", "seconds"),
    [(None, None, 1.0), (0.0, None, 0.0), (3.0, None, 3.0), (None, 4.0, 0.25), (2.0, 4.0, 2.0),
     (0.1, 4.0, 0.25), (0.0, 4.0, 0.25)],
)  # fmt: skip
def test_of_a_delay_and_a_rate_the_slower_holds(
    delay: float | None, rate: float | None, seconds: float
) -> None:
    assert between_requests(delay, rate) == seconds


def test_it_says_who_it_is() -> None:
    assert own_user_agent().startswith("reusewatch/")


def test_a_sample_takes_few_pages_of_each_host(site: Site, tmp_path: Path) -> None:
    urls = (site.url(), site.url(host=OTHER))
    code, out, err = run([*crawl_arguments("local:state", *urls), "--sample", "3"], tmp_path)
    assert code == 0, err
    pages = [host for host, path in site.asked if path != "/robots.txt"]
    assert (pages.count(HOME), pages.count(OTHER)) == (3, 3)
    assert summary_of(out)["pages"] <= 6


def test_pages_that_only_a_sitemap_names_are_found(site: Site, tmp_path: Path) -> None:
    xml = (("Content-Type", "application/xml"),)
    index = f"<sitemapindex><sitemap><loc>{site.url('/one.xml.gz')}</loc></sitemap></sitemapindex>"
    hidden = [site.url(f"/hidden/{i}") for i in range(3)]
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in hidden)
    site.answers |= {
        "/robots.txt": Answer(b"Sitemap: /map.xml\n", headers=(("Content-Type", "text/plain"),)),
        "/map.xml": Answer(index.encode(), headers=xml),
        "/one.xml.gz": Answer(gzip.compress(f"<urlset>{entries}</urlset>".encode()), headers=xml),
        "/": Answer(b"<p>no links"),
    }
    code, _, err = run([*crawl_arguments("local:state", site.url()), "--sitemaps"], tmp_path)
    assert code == 0, err
    assert {f"/hidden/{i}" for i in range(3)} <= site.paths().keys()


def test_a_crawl_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    site = demo_site()
    asked = [*crawl_arguments("local:state"), "--job", "job"]
    with serving(site):
        arguments = [*asked, site.url()]
        assert run([*arguments, "--limit-pages", "20"], tmp_path)[0] == 0
        before = site.paths()
        code, _, err = run(arguments, tmp_path)
        assert code == 0, err
    again = [path for path, times in site.paths().items() if path in before and times > 1]
    assert [path for path in again if path != "/robots.txt"] == []
    assert set(site.answers) - {"/secret"} <= site.paths().keys()


def test_many_names_of_one_machine_are_asked_in_turn(tmp_path: Path) -> None:
    guard = Guard(get_crawler(settings_dict={ALLOW: list(EVERYWHERE)}))
    requests = [Request(f"http://{host}/") for host in ("127.0.0.1", "127.1", "2130706433")]
    for request in requests:
        asyncio.run(guard.process_request(request))
    assert {request.meta["download_slot"] for request in requests} == {"127.0.0.1"}


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz")), max_size=60))
def test_a_site_of_many_hosts_has_a_bound_of_its_own(asked: list[tuple[str, str]]) -> None:
    sample = Sample(2)
    for i in range(100):
        sample.take(f"http://{i}.many.example/")
    assert not sample.take("http://new.many.example/")
    taken = [(s, h) for i, (s, h) in enumerate(asked) if sample.take(f"http://{h}.{s}.example/{i}")]
    assert all(count <= 2 for count in Counter(taken).values())
    assert set(taken) == set(asked)


def test_a_robots_txt_larger_than_any_page_is_obeyed(tmp_path: Path) -> None:
    robots = b"User-agent: *\nDisallow: /\n" + b"# nothing\n" * (1 << 17)
    answers = {
        "/robots.txt": Answer(robots, headers=(("Content-Type", "text/plain"),)),
        "/": Answer(b"<p>not to be fetched"),
    }
    with serving(Site(answers)) as site:
        asked = [*crawl_arguments("local:state", site.url()), "--bus", "local:state"]
        settings = {"REUSEWATCH_MAX_BODY_BYTES": str(1 << 16)}
        done = reusewatch(*asked[2:], cwd=tmp_path, **settings)
    assert site.paths().keys() == {"/robots.txt"}, done.err
