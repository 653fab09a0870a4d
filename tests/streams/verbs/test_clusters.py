"""`reusewatch clusters`: a class of near-duplicates as people and scripts see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import run
from tests.streams.stages.test_near_order import body_of

URL = "https://www.site0.example/page.html"
EMPTY = "no two pages of the window are near-duplicates"


def replay(directory: Path, texts: list[int]) -> None:
    """Each text on a site of its own, as a tree of saved HTML."""
    trees = []
    for number, text in enumerate(texts):
        site = directory / f"site{number}"
        site.mkdir()
        (site / "page.html").write_bytes(body_of(text))
        trees += ["--tree", f"{site}=https://www.site{number}.example/"]
    assert run("replay", *trees, "--bus", "local:s", cwd=directory).code == 0


def test_the_clusters_of_a_replay_are_told(tmp_path: Path) -> None:
    replay(tmp_path, [0, 1, 10])
    done = run("clusters", "--bus", "local:s", "--json", cwd=tmp_path)
    (row,) = done.objects
    assert row.keys() >= {"cluster", "representative", "size", "sites", "diameter", "urls"}
    assert (row["size"], row["sites"], row["diameter"]) == (2, 2, 1)
    assert row["representative"] == row["urls"][0]
    shown = run("clusters", "--bus", "local:s", cwd=tmp_path)
    names, cells = (line.split("\t") for line in shown.out.splitlines())
    assert names == ["cluster", "pages", "sites", "steps", "page seen first"]
    assert cells == [row["cluster"], "2", "2", "1", row["representative"]]
    one = run("clusters", "--bus", "local:s", "--url", row["urls"][1], "--json", cwd=tmp_path)
    assert one.objects == [row]


@pytest.mark.parametrize("verb", [("clusters",), ("neighborhoods",), ("similar", URL)])
def test_more_than_a_worker_answers_with_are_read_from_the_last_snapshot(
    tmp_path: Path, verb: tuple[str, ...]
) -> None:
    replay(tmp_path, [0, 1, 10])
    done = run(*verb, "--bus", "local:s", "--top", "1001", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.objects
    assert "not counted" not in done.err


def test_nothing_to_tell_is_said(tmp_path: Path) -> None:
    replay(tmp_path, [0])
    done = run("clusters", "--bus", "local:s", "--json", cwd=tmp_path)
    assert (done.code, done.out, done.err.strip()) == (0, "", EMPTY)
    lost = run("clusters", "--bus", "local:s", "--url", "https://a.example/", cwd=tmp_path)
    assert lost.code == 2
    assert "https://a.example/: no such page is in the window" in lost.err
