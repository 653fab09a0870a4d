"""An upgrade that changes the hash scheme: what was stored before is refused and stays, says what
to do, and with that the labels are there again, and what they find.

The state of before is made by the program itself, in a process whose scheme has an older name.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import Done, environment, run

OLD, NEW = "xxh3-2-public", "xxh3-3-public"
_OLD = """
import sys
import reusewatch.detector.hashing as hashing
hashing._VERSION = "xxh3-2"
from reusewatch.crawler.__main__ import main
for line in sys.argv[1:]:
    sys.argv = ["reusewatch", *line.split()]
    try:
        main()
    except SystemExit as end:
        assert not end.code, line
"""
SITES = ("--tree", "site=http://a.example/", "--tree", "copy=http://b.example/")
PARAGRAPH = (
    "How a garden is laid out is told in many books, and this one begins with {0}, what {0} "
)
PARAGRAPH += (
    "is made of, who paid for {0} when it was new, and what {0} lacks since the last summer."
)


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the state of before: a bus that pages were judged on, a pack in force."""
    directory = tmp_path_factory.mktemp("upgrade")
    for name, words in (("site", ("soil", "a fence")), ("copy", ("a fence", "a gate"))):
        (directory / name).mkdir()
        text = "".join(f"<p>{PARAGRAPH.format(word)}</p>" for word in words)
        (directory / name / "page.html").write_text(text)
    subprocess.run(
        [sys.executable, "-c", _OLD, "labels build ours site=http://a.example/ -o old.pack",
         "labels push old.pack", f"replay {' '.join(SITES)}"],
        cwd=directory, env=environment(), check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    return directory


def refused(done: Done) -> None:
    assert (done.code, done.out) == (2, "")
    assert f"was made with hash scheme {OLD}, this process uses {NEW}" in done.err
    assert "begin anew beside it" in done.err
    assert "`reusewatch labels migrate` builds label packs again" in done.err


@pytest.mark.parametrize(
    "verb",
    [("replay", *SITES), ("clusters",), ("neighborhoods",), ("labels", "push", "old.pack"),
     ("labels", "preview", "old.pack")],
)  # fmt: skip
def test_state_of_before_is_refused_with_what_to_do(before: Path, verb: tuple[str, ...]) -> None:
    refused(run(*verb, cwd=before))


def test_what_was_found_before_is_still_shown(before: Path) -> None:
    alerts = run("alerts", "--json", cwd=before).objects
    assert alerts
    assert {alert["scheme"] for alert in alerts} == {OLD}
    (label,) = run("labels", "show", "--json", cwd=before).objects
    assert (label["name"], label["scheme"]) == ("ours", OLD)


@pytest.mark.parametrize("name", ["old.pack", "ours"])
def test_a_pack_is_migrated_by_its_file_or_its_label(before: Path, name: str) -> None:
    (done,) = run("labels", "migrate", name, "-o", f"{name}.new", "--json", cwd=before).objects
    assert (done["scheme"], done["before"], done["labels"]) == (NEW, OLD, ["ours"])
    (now,) = run("labels", "show", f"{name}.new", "--json", cwd=before).objects
    (then,) = run("labels", "show", "old.pack", "--json", cwd=before).objects
    for field in ("name", "files", "chunks", "grams", "pages", "gram_share"):
        assert now[field] == then[field]
    assert now["scheme"] == NEW
    again = run("labels", "migrate", f"{name}.new", "-o", "x.pack", cwd=before)
    assert again.code == 2
    assert "already" in again.err


def test_beside_it_all_begins_anew_and_the_pages_stand_side_by_side(before: Path) -> None:
    bus = ("--bus", "local:next")
    assert run("labels", "migrate", "old.pack", "-o", "next.pack", cwd=before).code == 0
    assert run("labels", "push", "next.pack", *bus, cwd=before).code == 0
    assert run("replay", *SITES, *bus, cwd=before).code == 0
    alerts = run("alerts", "--kind", "labeled-content", *bus, "--json", cwd=before).objects
    (alert,) = [one for one in alerts if one["site"] == "b.example"]
    assert {row["donor"] for row in alert["evidence"]} == {"http://a.example/page.html"}
    shown = run("alerts", "show", alert["id"], *bus, cwd=before)
    assert "there: http://a.example/page.html" in shown.out
    assert "[1]  How a garden is laid out" in shown.out
    one = alert["evidence"][0]
    assert f"are bytes {one['donor_start']}–{one['donor_end']} of http://a.example" in shown.out


def test_a_source_that_is_not_here_is_named_before_anything_is_built(
    before: Path, tmp_path: Path
) -> None:
    done = run("labels", "migrate", before / "old.pack", "-o", "x.pack", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "site=http://a.example/: ours was built of it, and it is not here" in done.err
    given = run("labels", "migrate", before / "old.pack", f"{before / 'site'}=http://a.example/",
                "-o", "x.pack", "--json", cwd=tmp_path)  # fmt: skip
    assert given.objects[0]["distinct"] == 2
