"""`labels build`: a file is the same page whether it is named itself or found in a directory.

A pack that cannot be written is 3, whichever command was to write it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.command import run

PARAGRAPH = "How a garden is laid out is told in many books, and this one begins with the soil: "
PARAGRAPH += "what it is made of, and what it lacks."
_BARE = ("--no-grams", "--no-places")


def built(cwd: Path, *sources: object) -> dict[str, Any]:
    done = run("labels", "build", "known", *sources, "-o", "known.pack", "--json", cwd=cwd)
    assert done.code == 0, done.err
    (summary,) = done.objects
    return {name: summary[name] for name in ("pages", "chunks", "distinct", "files", "version")}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README", PARAGRAPH),
        ("about", f"<!doctype html><p>{PARAGRAPH}</p>"),
        ("notes.md", f"# Notes\n\n{PARAGRAPH}"),
        ("page.htm", f"<p>{PARAGRAPH}</p>"),
    ],
)
def test_a_file_named_and_a_file_found_are_the_same_page(
    tmp_path: Path, name: str, text: str
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / name).write_text(text)
    found, named = (built(tmp_path, x, "--no-places") for x in (folder, folder / name))
    assert found == named
    assert (found["pages"], found["distinct"]) == (1, 1)


def test_what_was_crawled_is_labeled_as_from_its_source(tmp_path: Path) -> None:
    """The same pack, by its version; of a part, if one is named; in chunks of one kind only."""
    for name, word in (("one", "soil"), ("two", "rain")):
        (tmp_path / name).mkdir()
        text = PARAGRAPH.replace("soil", word)
        (tmp_path / name / "page.html").write_text(f"<p>{text}</p><p>short</p>")
    trees = [f"--tree={name}=http://www.{name}.example/" for name in ("one", "two")]
    assert run("replay", *trees, cwd=tmp_path).code == 0
    of_one = built(tmp_path, "one=http://www.one.example/", *_BARE)

    def from_bus(*chosen: object) -> dict[str, Any]:
        done = run("labels", "build", "known", "--from-bus", *_BARE, *chosen, "-o", "b.pack",
                   "--json", cwd=tmp_path)  # fmt: skip
        assert done.code == 0, done.err
        return {name: done.objects[0][name] for name in of_one}

    assert from_bus("--site", "one.example") == of_one
    assert from_bus("--under", "http://www.one.example/") == of_one
    assert from_bus()["distinct"] == 2
    refused = run("labels", "build", "known", "--from-bus", "--chunks", "raw", "-o", "b.pack",
                  cwd=tmp_path)  # fmt: skip
    assert refused.code == 2
    assert "have text chunks" in refused.err


def test_a_crawl_suggests_the_home_and_takes_none(tmp_path: Path) -> None:
    for site, texts in (("a", 3), ("b", 1)):
        (tmp_path / site).mkdir()
        for at in range(texts):
            text = PARAGRAPH.replace("soil", f"soil of {site} {at}")
            (tmp_path / site / f"{at}.html").write_text(f"<p>{text}</p>")
    trees = [f"{site}=http://www.{site}.example/" for site in "ab"]
    build = ("labels", "build", "known", *trees, "-o", "p.pack")
    told = run(*build, cwd=tmp_path).err
    assert "a.example (3 of 4 paragraphs), b.example (1 of 4 paragraphs)" in told
    assert "again with --home a.example" in told
    assert "--home" not in run(*build, "--home", "a.example", cwd=tmp_path).err
    (summary,) = run(*build, "--json", cwd=tmp_path).objects
    assert summary["suggested_homes"] == ["a.example", "b.example"]
    assert summary["sites"] == {"a.example": 3, "b.example": 1}
    shown = run("labels", "show", "p.pack", "--json", cwd=tmp_path).objects[0]
    assert (shown["homes"], shown["pages"]) == ([], 4)


@pytest.mark.parametrize("share", ["1/8", "2", "much", "1/0"])
def test_a_share_of_grams_that_finds_little_is_refused(tmp_path: Path, share: str) -> None:
    (tmp_path / "page.html").write_text(f"<p>{PARAGRAPH}</p>")
    done = run("labels", "build", "known", "page.html", "--gram-share", share, "-o", "x.pack",
               cwd=tmp_path)  # fmt: skip
    assert done.code == 2
    assert f"--gram-share {share}: a share from 1/4 to 1" in done.err


@pytest.mark.parametrize(
    "verb", [("build", "known", "site"), ("discover", "--tree", "site=http://a.example/")]
)
def test_a_pack_that_cannot_be_written_is_3(tmp_path: Path, verb: tuple[str, ...]) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "page.html").write_text(f"<p>{PARAGRAPH}</p>")
    (tmp_path / "file").touch()
    done = run("labels", *verb, "-o", "file/x.pack", cwd=tmp_path)
    assert (done.code, done.out) == (3, ""), done.err
    assert done.err.startswith("reusewatch: file")
    assert "written" in done.err
