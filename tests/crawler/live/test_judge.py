"""A page is judged before its links are followed: labeled ones lead nowhere, and are tagged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from scrapy.http import Request
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from reusewatch.crawler.addon import ReuseWatch
from reusewatch.crawler.demo.brand import brand
from reusewatch.crawler.live.judge import Found, Judge
from reusewatch.streams.settings import SettingsError
from tests.command import run as reusewatch
from tests.crawler.live.crawls import run
from tests.crawler.live.own import FOLLOWING, arguments, stats_of
from tests.crawler.live.site import Answer, Site, serving


@pytest.fixture
def site() -> Iterator[Site]:
    """A page that was copied byte for byte, one that holds its text, one of its own."""
    page = brand()[0].html
    body = page.partition("<body>")[2].partition("<nav>")[2].partition("</nav>")[2]
    answers = {
        "/": Answer(b'<p>Home. <a href="/same">s</a><a href="/part">p</a><a href="/own">o</a>'),
        "/same": Answer(page.encode()),
        "/part": Answer(f'<p>Ours. <a href="/below-part">b</a>{body}'.encode()),
        "/own": Answer(b'<p>Words of its own. <a href="/below-own">b</a>'),
        "/below-part": Answer(b"<p>below"),
        "/below-own": Answer(b"<p>below"),
    }
    with serving(Site(answers)) as served:
        yield served


@pytest.fixture
def labeled(tmp_path: Path) -> Path:
    """A project's directory with the brand's pages in force on its bus."""
    pages = tmp_path / "pages"
    pages.mkdir()
    for number, page in enumerate(brand()[:3]):
        (pages / f"{number}.html").write_text(page.html)
    for words in (("build", "brand", "pages", "--output", "brand.pack"),
                  ("push", "brand.pack", "--bus", "local:state")):  # fmt: skip
        done = reusewatch("labels", *words, cwd=tmp_path)
        assert done.code == 0, done.err
    return tmp_path


def crawl(
    site: Site, directory: Path, **settings: object
) -> tuple[dict[str, str], list[dict[str, object]]]:
    asked = arguments(
        directory, [site.url("/")], FOLLOWING, REUSEWATCH_JUDGE=True,
        REUSEWATCH_CONTAINS_THRESHOLD=0.3, FEEDS='{"items.jsonl": {"format": "jsonlines"}}',
        **settings,
    )  # fmt: skip
    code, _, err = run(asked, directory)
    assert code == 0, err
    return stats_of(err), [
        json.loads(one) for one in (directory / "items.jsonl").read_text().splitlines()
    ]


def test_labeled_pages_are_tagged_and_not_followed(site: Site, labeled: Path) -> None:
    stats, items = crawl(site, labeled)
    tags = {str(item["path"]): item.get("reusewatch") for item in items}
    assert tags["own"] is None
    assert tags["same"]["kinds"] == ["labeled-content", "labeled-page"]
    assert tags["part"]["kinds"] == ["labeled-content"]
    assert tags["part"]["labels"] == ["brand"]
    # No link of the stolen page is followed; those of the other come last.
    assert {"/below-part", "/below-own"} <= site.paths().keys()
    assert stats["judge/labeled-page"] == "1"
    links = int(stats["judge/not-followed"])
    assert links == 4
    assert not [path for path in site.paths() if path.startswith("/news")]


FOUND = Found(("labeled-content",), ("brand",), 0.5, "v")


def judged(actions: str) -> Judge:
    settings = {"REUSEWATCH_JUDGE": True, "REUSEWATCH_JUDGE_ACTIONS": actions}
    return Judge(get_crawler(settings_dict=settings))


def test_what_is_wanted_is_done_with_items_and_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    request = Request("http://a.example/")
    drops = judged('{"labeled-content": ["drop", "no-follow"]}')
    assert drops._treated({"a": 1}, FOUND) is None
    assert drops._treated(request, FOUND) is None
    lowers = judged('{"labeled-content": ["lower"]}')
    assert lowers._treated({"a": 1}, FOUND) == {"a": 1}
    assert lowers._treated(request, FOUND).priority < -100


@pytest.mark.parametrize("wrong", ['{"duplicate": ["tag"]}', '{"labeled-page": ["burn"]}', "tag"])
def test_what_cannot_be_done_is_told_before_anything_is_fetched(wrong: str) -> None:
    given = {"REUSEWATCH_JUDGE": True, "REUSEWATCH_JUDGE_ACTIONS": wrong}
    with pytest.raises(SettingsError, match="REUSEWATCH_JUDGE_ACTIONS"):
        ReuseWatch().update_settings(Settings(given))


@dataclass(frozen=True)
class Fixed:
    reusewatch: object = None


def test_an_item_that_cannot_be_written_to_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    item = Fixed()
    assert judged("{}")._treated(item, FOUND) is item
    assert item.reusewatch is None
