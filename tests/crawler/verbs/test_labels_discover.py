"""`labels discover`: exact, over trees and over a bus, and what it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.pack import open_pack
from tests.command import Done
from tests.end_to_end.runs import run

COMMON = "A paragraph that goes around from site to site, and is long enough to be somebody's own. "
COMMON += "Nobody says where it comes from."
SITES, PAGES = 4, 3


def discover(cwd: Path, *arguments: object) -> Done:
    return run("labels", "discover", *arguments, cwd=cwd)


@pytest.fixture
def trees(tmp_path: Path) -> list[str]:
    """Four sites of three pages, each with the paragraph; every site has a template besides."""
    options = []
    for site in range(SITES):
        folder = tmp_path / f"site{site}"
        folder.mkdir()
        for page in range(PAGES):
            template = f"The template of site {site}, " + "which all of its pages have, " * 5
            body = f"<p>page {page} of {site}</p><p>{COMMON}</p><p>{template}</p><p>Read more</p>"
            (folder / f"{page}.html").write_text(body)
        (folder / "same.html").write_text("<p>The same file everywhere")
        options += ["--tree", f"{folder}=http://www.site{site}.example/"]
    return options


def test_what_sites_share_is_told_exactly(tmp_path: Path, trees: list[str]) -> None:
    said = discover(tmp_path, *trees, "--pages", "2", "--sites", "2", "--json")
    assert said.code == 0, said.err
    chunk, file = said.objects
    assert (chunk["unit"], chunk["pages"], chunk["sites"]) == ("chunk", SITES * PAGES, SITES)
    assert chunk["text"] == COMMON.rstrip(".")
    assert chunk["url"].startswith("http://www.site")
    assert (file["unit"], file["pages"], file["sites"]) == ("file", SITES, SITES)


def test_over_the_threshold_means_more_pages(tmp_path: Path, trees: list[str]) -> None:
    said = discover(tmp_path, *trees, "--pages", str(SITES * PAGES), "--sites", "1")
    assert (said.code, said.out) == (0, "")


def test_a_pack_holds_what_was_found(tmp_path: Path, trees: list[str]) -> None:
    pack = tmp_path / "found.pack"
    said = discover(tmp_path, *trees, "--pages", "3", "--sites", "2", "-o", pack, "--json")
    assert said.code == 0, said.err
    (label,) = open_pack(pack, HashScheme()).labels
    assert (label.name, label.files, label.chunks) == ("discovered", 1, 1)


def test_the_pages_of_a_bus_give_the_same(tmp_path: Path, trees: list[str]) -> None:
    bus = f"local:{tmp_path / 'bus'}"
    replayed = run("replay", *trees, "--bus", bus, cwd=tmp_path)
    assert replayed.code == 0, replayed.err
    rules = ("--pages", "2", "--sites", "2", "--json")
    ours = discover(tmp_path, *rules, "--bus", bus)
    assert ours.code == 0, ours.err
    assert ours.out == discover(tmp_path, *trees, *rules).out


def test_what_a_chunk_is_follows_the_setting(tmp_path: Path, trees: list[str]) -> None:
    bus = f"local:{tmp_path / 'bus'}"
    (tmp_path / "reusewatch.toml").write_text('chunks = "raw"\n')
    replayed = run("replay", *trees, "--bus", bus, cwd=tmp_path)
    assert replayed.code == 0, replayed.err
    rules = ("--pages", "2", "--sites", "2", "--json")
    of_sources, of_bus = (
        discover(tmp_path, *trees, *rules),
        discover(tmp_path, *rules, "--bus", bus),
    )
    assert "chunk" in [row["unit"] for row in of_sources.objects]
    assert of_sources.out == of_bus.out


def test_a_stop_chunk_of_ones_own_is_not_discovered(tmp_path: Path, trees: list[str]) -> None:
    listed = f'[[chunks]]\nreason = "everybody has it"\ntexts = ["{COMMON}"]\n'
    (tmp_path / "stops.toml").write_text(listed)
    (tmp_path / "reusewatch.toml").write_text('stop_chunks = "stops.toml"\n')
    said = discover(tmp_path, *trees, "--pages", "2", "--sites", "2", "--json")
    assert [row["unit"] for row in said.objects] == ["file"], said.err


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    assert discover(tmp_path, "-").code == 2
    said = discover(tmp_path, "/nowhere.warc")
    assert said.code == 2
    assert "/nowhere.warc" in said.err
