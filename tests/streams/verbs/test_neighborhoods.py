"""What `neighborhoods` tells of two stages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from reusewatch.detector.errors import SchemeMismatch
from reusewatch.streams.bus import Unreachable
from reusewatch.streams.questions import MOST_ROWS, Parameters, Unanswered, number
from reusewatch.streams.running.asking import Answered, Ask
from reusewatch.streams.settings import Settings
from reusewatch.streams.stages.errors import Incompatible
from reusewatch.streams.stages.reusing import Reusing
from reusewatch.streams.verbs.copied_prefixes import Counting, with_reused
from reusewatch.streams.verbs.neighborhoods import worst
from tests.pages import SCHEME

LABELED = {"prefix": "http://labeled.example/", "files": 9, "badness": 0.5, "open": True}
SCRAPER = {"prefix": "http://scraper.example/", "files": 9, "badness": 0.0, "open": False}
COPIES = {
    "http://scraper.example/": {"reused": 6, "files": 8, "open": True},
    "http://a.example/": {"reused": 0, "files": None},
}


def test_a_scraper_of_what_nobody_labeled_is_before_what_is_not_bad() -> None:
    harmless = {"prefix": "http://a.example/", "files": 90, "badness": 0.0, "open": False}
    rows = worst(with_reused([harmless, SCRAPER, LABELED], COPIES), 3)
    assert [row["prefix"] for row in rows] == [
        LABELED["prefix"], SCRAPER["prefix"], harmless["prefix"],
    ]  # fmt: skip
    assert [(row["reused"], row["reused_of"]) for row in rows] == [(None, None), (6, 8), (0, None)]
    assert [row["open"] for row in rows] == [True, True, False]


class Sites:
    """So many sites with a copy and an original each, as the index counts them."""

    def __init__(self, count: int) -> None:
        self._reusing = Reusing(SCHEME, min_files=10, threshold=0.3, least_new=20)
        for site in range(count):
            self._reusing.note(2 * site, SCHEME.of_text(f"s{site:04}.example"), "first-seen")
        self._count = count
        self.asked: list[Parameters] = []

    def ask(self, name: str, parameters: Parameters) -> Answered:
        assert name == "reused"
        self.asked.append(parameters)
        alone = "also" in parameters and "top" not in parameters
        found = self._reusing.counted(
            self._pages_of, min_files=1, top=0 if alone else number(parameters, "top", 10),
            under=parameters.get("under", ""), named=parameters.get("also", "").split(),
        )  # fmt: skip
        rows = [{"prefix": one.prefix, "files": one.files, "reused": one.reused} for one in found]
        return Answered(datetime.now(UTC), rows)

    def _pages_of(self, sites: set[int]) -> Iterator[tuple[int, int, str]]:
        for at in range(self._count):
            name = f"s{at:04}.example"
            if (site := SCHEME.of_text(name)) in sites:
                for page in (2 * at, 2 * at + 1):
                    yield site, page, f"http://{name}/{page % 2}/{page}"


def told(counting: Counting, *prefixes: str) -> list[tuple[int | None, int | None]]:
    rows = with_reused([{"prefix": one, "open": False} for one in prefixes], counting.of(prefixes))
    return [(row["reused"], row["reused_of"]) for row in rows]


@pytest.mark.parametrize("under", [None, "http://s0701.example/"])
def test_copies_of_what_is_shown_are_counted_however_many_sites_have_some(
    under: str | None,
) -> None:
    sites = Sites(MOST_ROWS)
    counting = Counting(sites.ask, pytest.fail, under)
    shown = ("http://s0701.example/", "http://s0701.example/0/", "http://s0701.example/1/")
    assert told(counting, *shown) == [(1, 2), (1, 1), (0, 1 if under is None else None)]
    assert len(sites.asked) == (2 if under is None else 1)
    assert told(counting, "http://other.example/") == [(0, None)]


def test_copies_of_more_than_an_answer_has_are_counted_with_several_questions() -> None:
    count = 2 * MOST_ROWS + 1
    sites = Sites(count)
    prefixes = [f"http://s{site:04}.example/" for site in range(count)]
    assert told(Counting(sites.ask, pytest.fail, None), *prefixes) == [(1, 2)] * count
    assert len(sites.asked) > 2


def test_as_many_prefixes_with_copies_are_asked_for_as_are_shown() -> None:
    sites = Sites(MOST_ROWS + 5)
    assert len(Counting(sites.ask, pytest.fail, None, top=MOST_ROWS + 5).counts) == MOST_ROWS + 5


@pytest.mark.parametrize(
    "error",
    [
        Unreachable("why"),
        Unanswered("why"),
        Incompatible("why"),
        SchemeMismatch("state", found="fnv", wanted="xxh"),
    ],
)
def test_where_nobody_counts_copies_that_is_said(error: Exception) -> None:
    said: list[str] = []

    def ask(name: str, parameters: Parameters) -> Answered:
        raise error

    assert told(Counting(ask, said.append, None), "http://s0701.example/") == [(None, None)]
    assert said == [f"copies of what nobody labeled are not counted: {error}"]


def test_who_does_not_answer_is_named_with_the_option_for_it() -> None:
    ask = Ask(Settings(), "index", "127.0.0.1:1", option="--index-at")
    with pytest.raises(Unreachable, match="with --index-at HOST:PORT"):
        ask("reused", {})
