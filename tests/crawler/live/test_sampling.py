"""The sample of a host: its sitemap's pages before links, each once, and as many as there are."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from scrapy.http import Request
from scrapy.utils.test import get_crawler

from reusewatch.crawler.live.guard import ALLOW, EVERYWHERE, Guard
from reusewatch.crawler.live.sample import Sample
from reusewatch.crawler.spiders.sites import Sites
from reusewatch.crawler.spiders.waiting import MOST_BYTES, MOST_SECONDS
from reusewatch.streams.urls import site_of_url
from tests.crawler.live.crawls import crawl_arguments, run, summary_of
from tests.crawler.live.site import HOME, OTHER, Answer, Site, serving

SAMPLE = ("--allow-private", "--sitemaps", "--sample", "4")
NAMED = ("/named/1", "/named/2")


def page(*paths: str) -> Answer:
    return Answer("".join(f'<a href="{path}">x</a>' for path in paths).encode())


def text(body: str) -> Answer:
    return Answer(body.encode(), headers=(("Content-Type", "text/plain"),))


def sitemap(*urls: str) -> Answer:
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return Answer(f"<urlset>{entries}</urlset>".encode(), headers=(("Content-Type", "text/xml"),))


def moved(url: str) -> Answer:
    return Answer(b"", 302, (("Content-Type", "text/html"), ("Location", url)))


def linked_site() -> Site:
    """Ten linked pages that link to each other, and no sitemap."""
    links = [f"/linked/{n}" for n in range(10)]
    return Site({path: page("/", *links) for path in ["/", *links, *NAMED]})


def fetched(site: Site, host: str = HOME) -> list[str]:
    """The pages that a host was asked for, in order."""
    return [path for at, path in site.asked if at == host and "." not in path]


def crawl(site: Site, cwd: Path, *flags: str, host: str = HOME) -> dict[str, object]:
    arguments = crawl_arguments("local:state", site.url(host=host), flags=(*SAMPLE, *flags))
    code, out, err = run(arguments, cwd)
    assert code == 0, err
    return summary_of(out)


def test_what_a_sitemap_names_comes_before_links(tmp_path: Path) -> None:
    with serving(linked_site()) as site:
        odd = ("http://[", "http://", "http://h:x/", "mailto:a@h.example", "no", "//h")
        site.answers["/sitemap.xml"] = sitemap(*odd, *map(site.url, (*NAMED, NAMED[0], "/")))
        # Its sitemap is another host's: all of its sample is for links.
        crawl(site, tmp_path, site.url(host=OTHER))
    assert fetched(site)[0] == "/"
    assert set(fetched(site)) == {"/", *NAMED, "/linked/0"}
    assert sorted(fetched(site, OTHER)) == ["/", *(f"/linked/{n}" for n in range(3))]


def test_a_host_whose_sitemaps_cannot_be_had_is_sampled_by_links(tmp_path: Path) -> None:
    with serving(linked_site()) as site:
        away = ("http://127.0.0.3:1/map.xml", "http://offsite.example/map.xml", "/none.xml")
        lines = "".join(f"Sitemap: {url}\n" for url in away)
        site.answers["/robots.txt"] = text(lines)
        crawl(site, tmp_path)
    assert sorted(fetched(site)) == ["/", *(f"/linked/{n}" for n in range(3))]


def test_a_crawl_that_ends_meanwhile_goes_on_with_what_is_named(tmp_path: Path) -> None:
    with serving(linked_site()) as site:
        site.answers["/sitemap.xml"] = sitemap(*map(site.url, NAMED))
        crawl(site, tmp_path, "--job", "job", "--limit-pages", "1")
        assert fetched(site) == ["/"]
        crawl(site, tmp_path, "--job", "job")
    assert set(fetched(site)) == {"/", *NAMED, "/linked/0"}


def test_a_page_counts_once_in_a_sample() -> None:
    sample = Sample(2)
    urls = ["http://h.example/?a=1&b=2", "http://h.example/?b=2&a=1", "http://h.example/2"]
    assert [sample.take(url) for url in urls] == [True, True, True]
    assert not sample.take("http://h.example/3")


def test_links_of_other_sites_fill_half_of_a_sample() -> None:
    sample = Sample(4)
    stranger, own = "http://stranger.example/", "http://www.h.example/"
    gone = [sample.take(f"http://h.example/none/{n}", stranger) for n in range(9)]
    assert gone == [True, True] + [False] * 7
    assert sample.take("http://h.example/none/0", stranger)
    assert [sample.take(f"http://h.example/{n}", own) for n in range(3)] == [True, True, False]
    assert Sample(1).take("http://h.example/", stranger)


def test_what_redirects_lead_to_counts_where_it_stands(tmp_path: Path) -> None:
    """A stranger sends the crawl to a host again and again; within a host redirects are free."""
    with serving(Site({"/robots.txt": text("")})) as site:
        away = {f"/away/{n}": moved(site.url(f"/none/{n}", OTHER)) for n in range(5)}
        links = "".join(f"<a href={path}>x</a>" for path in (*away, "/here"))
        site.answers |= {"/": Answer(links.encode()), "/here": moved("/there"), **away}
        site.answers["/there"] = Answer(b"<p>there")
        flags = ("--allow-private", "--sample", "8", "--other-sites")
        code, _, err = run(crawl_arguments("local:state", site.url(), flags=flags), tmp_path)
    assert code == 0, err
    assert len(set(fetched(site, OTHER))) == 4 == len(fetched(site, OTHER))
    assert "/there" in fetched(site)


def limited(site: Site, cwd: Path) -> dict[str, object]:
    flags = ("--allow-private", "--other-sites", "--limit-pages", "120")
    code, out, err = run(crawl_arguments("local:state", site.url(), flags=flags), cwd)
    assert code == 0, err
    return summary_of(out)


REAL = [f"/real/{n}" for n in range(30)]


def test_junk_links_to_other_sites_leave_half_of_the_limit(tmp_path: Path) -> None:
    with serving(Site({"/robots.txt": text("")})) as site:
        site.answers |= dict.fromkeys(REAL, Answer(b"<p>real"))
        # The junk of a comment comes before the site's own links.
        junk = [site.url(f"/junk/{n}", OTHER) for n in range(4000)]
        site.answers["/"] = page(*junk, *REAL)
        summary = limited(site, tmp_path)
    assert set(REAL) <= set(fetched(site))
    assert len(fetched(site, OTHER)) == 60
    assert 91 <= summary["pages"] <= 120
    assert summary["cut"]["others"] > 0


def test_strangers_links_to_pages_that_are_not_there_leave_half_of_the_limit(
    tmp_path: Path,
) -> None:
    with serving(Site({"/robots.txt": text("")})) as site:
        none = [site.url(f"/none/{n}") for n in range(4000)]
        # What the stranger links to is nearer to the start than the site's own pages.
        site.answers |= {
            "/": page(site.url("/stranger", OTHER), "/list"), "/list": page("/more"),
            "/more": page(*REAL), "/stranger": page(*none),
            **dict.fromkeys(REAL, Answer(b"<p>real")),
        }  # fmt: skip
        limited(site, tmp_path)
    assert set(REAL) <= set(fetched(site))


def test_a_redirect_is_asked_in_the_turn_of_where_it_leads() -> None:
    guard = Guard(get_crawler(settings_dict={ALLOW: list(EVERYWHERE)}))
    request = Request("http://127.0.0.2/", meta={"download_slot": "127.0.0.1"})
    asyncio.run(guard.process_request(request))
    assert request.meta["download_slot"] == "127.0.0.2"


def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    spider = Sites(("http://h.example/",), depth=None, other_sites=False, sitemaps=True)
    spider._set_crawler(get_crawler(Sites))
    stats = spider.crawler.stats
    with spider._waiting.room(MOST_BYTES - 1) as first, spider._waiting.room(2) as second:
        assert (first, second) == (True, False)
    with spider._waiting.room(MOST_BYTES) as again:
        assert again
    assert stats.get_value("reusewatch/waiting_cut") == 1
    assert spider._waiting.holds(site_of_url("http://www.h.example/"))
    assert not spider._waiting.holds("other.example")
    end = time.monotonic() + MOST_SECONDS
    monkeypatch.setattr(time, "monotonic", lambda: end)
    assert not spider._waiting.holds("h.example")
    assert not spider._waiting.holds("h.example")
    assert stats.get_value("reusewatch/waiting_cut") == 2
