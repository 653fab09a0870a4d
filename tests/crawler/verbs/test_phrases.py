"""`phrases` and `cover` over a small web: a site that slices and dices others, among innocent ones.

All in this process: the pages are replayed onto a bus once, and then asked about.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reusewatch.crawler.cli import app
from reusewatch.crawler.exit_codes import code_of

SLICER, DOCS = "www.slicer.example", "docs.example"
SLICED, SOURCES, PAGES, MANUAL, MIRRORS = 40, 20, 3, 12, 8
SENTENCES, WORDS = 30, 20
FOOTER = "all rights reserved whoever reads this agrees to what nobody ever reads to the end"


class Web:
    """What is written where, by host and name; drawn, the same each time."""

    def __init__(self) -> None:
        self._draw = random.Random(2005)
        self.pages: dict[tuple[str, str], str] = {}
        known = []
        for site in range(SOURCES):
            for number in range(PAGES):
                own = [self._sentence() for _ in range(12)]
                known += own[:1]
                self._put(f"www.source{site}.example", number, [*own, FOOTER])
        for number in range(SLICED):
            self._put(SLICER, number, self._draw.sample(known, SENTENCES))
        menu = self._sentence()
        for number in range(MANUAL):
            self._put(DOCS, number, [menu, *(self._sentence() for _ in range(12))])
        copied = self.pages["www.source0.example", "0.html"]
        for site in range(MIRRORS):
            self.pages[f"mirror{site}.example", "0.html"] = copied

    def _sentence(self) -> str:
        return " ".join(f"w{self._draw.randrange(5000)}" for _ in range(WORDS))

    def _put(self, host: str, number: int, sentences: list[str]) -> None:
        self.pages[host, f"{number}.html"] = "".join(f"<p>{one}.</p>" for one in sentences)


def url(host: str, number: int = 0) -> str:
    return f"https://{host}/{number}.html"


@pytest.fixture(scope="module")
def web() -> Web:
    return Web()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, web: Web) -> Path:
    """A directory with the pages, and a bus that has them."""
    found = tmp_path_factory.mktemp("phrases")
    trees = set()
    for (host, name), body in web.pages.items():
        (found / host).mkdir(exist_ok=True)
        (found / host / name).write_text(body)
        trees.add(f"--tree={found / host}=https://{host}/")
    # What judges pages as they come is not asked here.
    config = found / "reusewatch.toml"
    config.write_text('grams = "none"\nevidence_pairs = 0\n')
    bus = ("--bus", f"local:{found / 'bus'}", "--config", str(config))
    assert ended("replay", *sorted(trees), *bus) == 0
    return found


def ended(*arguments: str) -> int:
    """A command in this process; how it ended."""
    try:
        app([*arguments], prog_name="reusewatch")
    except SystemExit as end:
        return int(end.code or 0)
    except Exception as error:
        code = code_of(error)
        if code is None:
            raise
        return code
    return 0


Asked = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def asked(place: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    """What a command prints of the bus."""

    def ask(*arguments: str, bus: Path = place / "bus") -> list[dict[str, Any]]:
        capsys.readouterr()
        assert ended(*arguments, "--bus", f"local:{bus}", "--json") == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return ask


def test_popular_phrases_are_told_in_words_that_stand_on_pages(asked: Asked, web: Web) -> None:
    rows = asked("phrases", "--top", "30")
    assert len(rows) == 30
    assert [row["documents"] for row in rows] == sorted(
        (row["documents"] for row in rows), reverse=True
    )
    texts = [" ".join(one.replace(".</p><p>", " ").split()) for one in web.pages.values()]
    for row in rows:
        assert len(row["phrase"].split()) == 5
        assert 5 <= row["documents"] <= sum(row["phrase"] in text for text in texts)
        assert 1 <= row["sites"] <= row["documents"]
    footers = [row for row in rows if row["phrase"] in FOOTER]
    assert max(row["sites"] for row in footers) > 5


def test_a_page_that_is_copied_whole_makes_nothing_popular(asked: Asked, web: Web) -> None:
    """Eight mirrors and their original are one class."""
    words = web.pages["www.source0.example", "0.html"]
    own = words.split(".</p><p>")[1:12]
    told = [row["phrase"] for row in asked("phrases", "--top", "1000")]
    assert len(told) > 30
    assert not [phrase for phrase in told if any(phrase in one for one in own)]


def test_only_the_host_that_slices_has_many_popular_phrases(asked: Asked) -> None:
    (found,) = asked("phrases", "--hosts")
    assert found["host"] == SLICER
    assert found["alike"] is True
    assert (found["pages"], found["deviation"] < 15, found["mean"] > 50) == (SLICED, True, True)


def test_a_sliced_page_is_covered_by_many_pages_of_others(asked: Asked) -> None:
    (sliced,) = asked("cover", url(SLICER, 7))
    assert sliced["url"] == url(SLICER, 7)
    assert sliced["popular_shingles"] > 50
    counts = [donor["count"] for donor in sliced["donors"]]
    assert (len(counts), sum(counts)) == (sliced["size"], sliced["popular_shingles"])
    assert sliced["size"] >= 10
    assert sliced["foreign"] > sliced["popular_shingles"] / 2
    assert sliced["foreign"] == sum(one["count"] for one in sliced["donors"] if one["foreign"])
    assert all(one["foreign"] == (SLICER not in one["url"]) for one in sliced["donors"])
    (plain,) = asked("cover", url(SLICER, 7), "--foreign", "none")
    assert plain["popular_shingles"] == sliced["popular_shingles"]
    assert plain["size"] < sliced["size"]
    (innocent,) = asked("cover", url(DOCS, 3))
    assert innocent["popular_shingles"] < 30
    assert innocent["foreign"] == 0


def test_no_copy_of_a_page_covers_it(asked: Asked) -> None:
    (found,) = asked("cover", url("mirror3.example"), "--foreign", "ip")
    assert found["popular_shingles"] > 0
    assert not [one for one in found["donors"] if "mirror" in one["url"]]
    assert url("www.source0.example") not in [one["url"] for one in found["donors"]]


def test_words_come_from_another_page_where_one_is_gone(
    asked: Asked, place: Path, web: Web, tmp_path: Path
) -> None:
    before = asked("phrases", "--top", "5")
    changed = [place / SLICER / f"{number}.html" for number in range(SLICED - 3, SLICED)]
    kept = tmp_path / "kept"
    shutil.copytree(place / SLICER, kept)
    try:
        for page in changed:
            page.write_text("<p>nothing of what it was")
        assert asked("phrases", "--top", "5") == before
        for host in {host for host, _ in web.pages}:
            (place / host).rename(tmp_path / host)
        gone = asked("phrases", "--top", "5")
        assert [row["phrase"] for row in gone] == [None] * 5
        assert [{**row, "phrase": None} for row in before] == gone
    finally:
        for moved in tmp_path.glob("*.example"):
            moved.rename(place / moved.name)
        shutil.rmtree(place / SLICER)
        shutil.copytree(kept, place / SLICER)


def test_of_a_large_bus_the_last_fetches_are_taken_and_the_rest_is_counted(
    asked: Asked, place: Path, capsys: pytest.CaptureFixture[str], web: Web
) -> None:
    assert asked("phrases", "--pages", "4") == []  # of most blocks nothing is left
    assert ended("phrases", "--hosts", "--pages", "100", "--bus", f"local:{place / 'bus'}") == 0
    total = len(web.pages)
    assert f"{total - 100} older ones were passed over" in capsys.readouterr().err


def test_what_is_not_there_is_said(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bus = f"local:{place / 'bus'}"
    assert ended("cover", "https://nobody.example/", "--bus", bus) == 2
    assert ended("cover", "ftp://nobody.example/", "--bus", bus) == 2
    assert ended("cover", url(SLICER), "--foreign", "all", "--bus", bus) == 2
    assert ended("phrases", "--bus", f"local:{tmp_path / 'none'}") == 3
    assert capsys.readouterr().out == ""
