"""`similar`: pages of the window like a file, standard input or a URL."""

from __future__ import annotations

import subprocess

import pytest

from tests.command import COMMAND, environment, run
from tests.contract.tables import OK, WRONG_USE, Tried, only_objects

pytestmark = pytest.mark.timeout(300)

ASKED = "https://www.fern-and-rye.example/articles/2.html"
MIRROR = "https://mirror.pagefarm.example/fern-and-rye.example/articles/2.html"
FIELDS = {"url", "mwo", "b", "c"}


def answers(tried: Tried, *arguments: str) -> list[dict[str, object]]:
    done = tried.run("similar", *arguments, "--json")
    assert done.code == OK, done.err
    assert "candidates" in done.err
    only = [one for one in done.objects if one.keys() >= FIELDS]
    assert len(only) == len(done.objects)
    return only


def test_pages_like_one_of_the_window_are_ranked(tried: Tried) -> None:
    found = answers(tried, ASKED)
    assert found[0]["url"] == MIRROR
    assert (found[0]["b"], found[0]["c"]) == (6, 384)
    assert ASKED not in [one["url"] for one in found]
    values = [one["mwo"] for one in found]
    assert values == sorted(values, reverse=True)
    assert all(value >= 0.75 for value in values)


def test_a_file_is_asked_with_and_its_words_are_told(tried: Tried) -> None:
    archive = str(tried.directory / ".demo" / "web.warc.gz")
    (view,) = only_objects(
        run("fingerprint", archive, "--url", ASKED, "--json", cwd=tried.directory), set()
    )
    page = tried.directory / "asked.txt"
    page.write_text(view["text"])
    found = answers(tried, str(page), "--threshold", "0.6", "--top", "2")
    assert len(found) == 2
    terms = found[0]["terms"]
    assert isinstance(terms, list)
    assert all(term["word"] in view["text"].lower() for term in terms if term["word"])
    assert any(term["word"] for term in terms)
    done = subprocess.run(
        [*COMMAND, "similar", "-", "--threshold", "0.6", "--bus", tried.bus],
        cwd=tried.directory, env=environment(), input=page.read_bytes(), capture_output=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == OK
    assert str(found[0]["url"]) in done.stdout.decode()


@pytest.mark.parametrize(
    "arguments", [["http://nowhere.example/"], ["nowhere.html"], [ASKED, "--threshold", "7"]]
)
def test_what_cannot_be_asked_is_2(tried: Tried, arguments: list[str]) -> None:
    done = tried.run("similar", *arguments)
    assert (done.code, done.out) == (WRONG_USE, "")
    assert "Traceback" not in done.err
