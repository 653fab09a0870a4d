"""`reusewatch alerts` and `dead-letters` as scripts read them, on a bus of known alerts."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reusewatch.streams.bus import Outgoing
from reusewatch.streams.console import csv_line
from reusewatch.streams.local import LocalBus
from reusewatch.streams.records import Alert, DeadLetter
from reusewatch.streams.wire import alert_message, dead_letter_message, withdrawal
from tests.command import Done, ended, read_lines, run, start
from tests.streams.made_alerts import donors, made

EVIL = "=HYPERLINK(1)"
ALERTS: list[Alert] = [
    made(0, figure=3.0, donors=donors("https://b.example/1")),
    made(1, figure=9.0, donors=donors("https://b.example/2"), severity="info"),
    made(2, figure=5.0, donors=donors("https://c.example/2"), kind="near-duplicate"),
    made(3, figure=0.25, url=None, prefix="https://a.example/p/", kind="bad-neighborhood",
         state="closed", site=EVIL),
]  # fmt: skip
LETTERS = [
    DeadLetter(reason=reason, source=source, offset=number, url=None, detail="",
               at=datetime(2026, 3, 1 + number, tzinfo=UTC))
    for number, (reason, source) in enumerate(
        [("corrupt", "old/a.warc.gz"), ("too-large", "old/a.warc.gz"), ("corrupt", "b.warc.gz")]
    )
]  # fmt: skip


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("known")
    bus = LocalBus(directory / "bus")
    outlet = bus.outlet()
    for alert in ALERTS:
        outlet.send(alert_message(alert))
    for letter in LETTERS:
        outlet.send(dead_letter_message(letter))
    outlet.close()
    return directory


def asked(directory: Path, *arguments: str) -> Done:
    done = run(*arguments, "--bus", "local:bus", cwd=directory)
    assert done.code == 0, done.err
    return done


CHOSEN: dict[str, tuple[list[str], list[int]]] = {
    "limit": (["--limit", "2"], [0, 1]),
    "figure": (["--sort", "figure"], [1, 2, 0, 3]),
    "the newest": (["--sort", "time", "--reverse", "--limit", "1"], [3]),
    "until": (["--until", "2026-03-01T01:00Z"], [0, 1]),
    "severity": (["--severity", "info"], [1]),
    "donor": (["--donor", "b.example"], [0, 1]),
    "state": (["--state", "closed"], [3]),
    "several": (["--kind", "duplicate", "--donor", "b.example", "--sort", "figure"], [1, 0]),
}


@pytest.mark.parametrize(("flags", "wanted"), CHOSEN.values(), ids=CHOSEN)
def test_alerts_are_chosen_and_ordered(
    flags: list[str], wanted: list[int], directory: Path
) -> None:
    done = asked(directory, "alerts", "--json", *flags)
    assert [one["id"] for one in done.objects] == [ALERTS[number].id for number in wanted]


def test_rows_have_a_header_and_csv_no_formula(directory: Path) -> None:
    names, *rows = (line.split("\t") for line in asked(directory, "alerts").out.splitlines())
    assert names[:6] == ["id", "kind", "severity", "subject", "donor", "figure"]
    assert [row[5] for row in rows] == ["3", "9", "5", "0.25"]
    assert rows[0][6] == "2026-03-01T00:00:00Z"
    sheet = list(csv.DictReader(io.StringIO(asked(directory, "alerts", "--csv").out)))
    assert list(sheet[0]) == names
    assert [one["site"] for one in sheet] == ["a.example"] * 3 + ["'" + EVIL]


@pytest.mark.parametrize("form", ["--json", "--csv"])
def test_who_follows_is_told_what_was_withdrawn_of_what_was_shown(
    tmp_path: Path, form: str
) -> None:
    bus = LocalBus(tmp_path / "bus")

    def put(*messages: Outgoing) -> None:
        outlet = bus.outlet()
        outlet.send(*messages)
        outlet.close()

    put(alert_message(ALERTS[0]), alert_message(ALERTS[2]))
    words = ("alerts", "--follow", "--kind", "duplicate", "--limit", "3", form)
    process = start(*words, "--bus", "local:bus", cwd=tmp_path)
    first = read_lines(process, 1 if form == "--json" else 2)[-1]
    assert ALERTS[0].id in first
    put(withdrawal(ALERTS[2].id), withdrawal(ALERTS[0].id, "duplicate"), alert_message(ALERTS[1]))
    done = ended(process)
    gone, then = done.out.splitlines()
    assert ALERTS[1].id in then
    if form == "--json":
        told = json.loads(gone)
        assert (told["id"], told["state"], told["kind"]) == (
            ALERTS[0].id, "withdrawn", "duplicate",
        )  # fmt: skip
    else:
        assert gone.startswith(f"{ALERTS[0].id},duplicate,,,,,")
        assert gone.endswith("Z,withdrawn,,")


def test_what_fits_nothing_prints_nothing(directory: Path) -> None:
    for form in ([], ["--csv"], ["--json"]):
        assert asked(directory, "alerts", "--site", "nobody.example", *form).out == ""


@pytest.mark.parametrize("site", ["www.a.example", "https://www.a.example/p", "A.example"])
def test_a_host_in_place_of_a_registered_domain_is_told_which_one(
    directory: Path, site: str
) -> None:
    done = asked(directory, "alerts", "--site", site)
    assert f"--site {site}: a registered domain is expected; here it is a.example" in done.err
    assert "registered" not in asked(directory, "alerts", "--site", "a.example").err


def test_help_says_which_time_is_meant(directory: Path) -> None:
    for words in (["alerts"], ["alerts", "summary"]):
        said = " ".join(run(*words, "--help", cwd=directory).out.split())
        assert "--since and --until are about when it was detected" in said


def test_wrong_choices_name_the_right_ones(directory: Path) -> None:
    for flag, right in {"--severity": "critical", "--state": "closed", "--sort": "figure"}.items():
        done = run("alerts", flag, "odd", cwd=directory)
        assert (done.code, done.out) == (2, "")
        assert right in done.err
    assert run("alerts", "--follow", "--sort", "time", cwd=directory).code == 2


def test_a_choice_before_another_verb_is_not_passed_over(directory: Path) -> None:
    done = run("alerts", "--kind", "duplicate", "summary", "--bus", "local:bus", cwd=directory)
    assert (done.code, done.out) == (2, "")
    assert "stands behind summary" in done.err


def test_a_summary_says_who_has_pages_of_whom(directory: Path) -> None:
    done = asked(directory, "alerts", "summary", "--json")
    assert done.objects == [
        {"site": "a.example", "donor_site": "b.example", "pages": 2, "kinds": {"duplicate": 2},
         "originals": {}},
        {"site": "a.example", "donor_site": "c.example", "pages": 1,
         "kinds": {"near-duplicate": 1}, "originals": {}},
    ]  # fmt: skip
    rows = asked(directory, "alerts", "summary", "--limit", "1")
    assert rows.out.splitlines() == [
        "site\tdonor_site\tpages\tkinds\toriginals", "a.example\tb.example\t2\t2 duplicate\t",
    ]  # fmt: skip
    assert "1 bad-neighborhood" in rows.err
    before = run("alerts", "--bus", "local:bus", "summary", "--json", cwd=directory)
    assert before.objects == done.objects


def test_a_summary_of_nothing_names_the_bus(tmp_path: Path) -> None:
    LocalBus(tmp_path / "bus").outlet().close()
    done = run("alerts", "summary", "--bus", "local:bus", cwd=tmp_path)
    assert (done.code, done.out) == (0, "")
    assert "on local:bus" in done.err


def test_dead_letters_are_chosen(directory: Path) -> None:
    def offsets(*flags: str) -> list[int]:
        return [x["offset"] for x in asked(directory, "dead-letters", "--json", *flags).objects]

    assert offsets("--reason", "corrupt") == [0, 2]
    assert offsets("--source", "old/") == [0, 1]
    assert offsets("--since", "2026-03-02") == [1, 2]
    assert offsets("--since", "2026-03-02", "--limit", "1") == [1]
    header = asked(directory, "dead-letters").out.splitlines()[0]
    assert header == "reason\tsource\toffset\turl\tdetail\tat"


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_of_a_stranger_is_a_formula(begin: str) -> None:
    (cell,), *rest = csv.reader(io.StringIO(csv_line([f"{begin}1\nx"])))
    assert cell.startswith("'")
    assert not rest
