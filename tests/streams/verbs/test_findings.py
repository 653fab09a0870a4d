"""`reusewatch verdicts` on a bus of known verdicts."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from reusewatch.streams.local import LocalBus
from reusewatch.streams.records import Exact, Verdict
from reusewatch.streams.wire import verdict_message
from tests.command import Done, at_terminal, run

PLAIN = Verdict(
    id="0" * 16, url="https://a.example/0", site="a.example", exact=Exact(), detector="d",
    fetched_at=datetime(2020, 3, 1, tzinfo=UTC), scheme="public",
)  # fmt: skip
VERDICTS = [
    PLAIN,
    msgspec.structs.replace(
        PLAIN, id="1" * 16, url="https://a.example/1", contains=0.2, labels=("wiki", "news")
    ),
    msgspec.structs.replace(PLAIN, id="2" * 16, url="=a", site="b.example"),
]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("known")
    outlet = LocalBus(directory / "bus").outlet()
    for verdict in VERDICTS:
        outlet.send(verdict_message(verdict))
    outlet.close()
    return directory


def asked(directory: Path, *flags: str) -> Done:
    done = run("verdicts", *flags, "--bus", "local:bus", cwd=directory)
    assert done.code == 0, done.err
    return done


def day(days: int) -> str:
    return f"{datetime.now(UTC) + timedelta(days=days):%Y-%m-%d}"


@pytest.mark.parametrize(
    ("flags", "wanted"),
    [
        (["--since", day(-1)], [0, 1, 2]),
        (["--since", day(2)], []),
        (["--until", day(-2)], []),
        (["--until", day(1), "--limit", "2"], [0, 1]),
        (["--site", "b.example", "--limit", "2"], [2]),
    ],
)
def test_verdicts_are_chosen_by_when_the_page_was_judged(
    flags: list[str], wanted: list[int], directory: Path
) -> None:
    found = asked(directory, "--json", *flags).objects
    assert [one["url"] for one in found] == [VERDICTS[number].url for number in wanted]


def test_rows_name_the_labels_of_a_page(directory: Path) -> None:
    names, plain, labeled, _ = csv.reader(io.StringIO(asked(directory, "--csv").out))
    assert names == ["url", "fetched_at", "finding", "of", "labels", "contains"]
    assert plain[2:] == ["-", "", "", ""]
    assert labeled[2:] == ["labeled", "", "wiki, news", "0.2"]


def test_a_url_in_a_spreadsheet_is_no_formula(directory: Path) -> None:
    assert asked(directory, "--csv", "--site", "b.example").out.splitlines()[1].startswith("'=a")


def test_a_person_sees_the_labels_and_their_share(directory: Path) -> None:
    code, table = at_terminal("verdicts", "--bus", "local:bus", cwd=directory, columns=120)
    assert code == 0
    assert all(text in table for text in ("labels", "wiki", "news", "20%"))


def test_without_a_verdict_the_bus_is_named(directory: Path) -> None:
    done = asked(directory, "--until", day(-2))
    assert (done.out, done.err) == ("", "no such verdicts on local:bus\n")
