"""The objects of `labels`, and how its commands end."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.command import ended, run, start
from tests.contract.tables import (
    DEMO_LABEL,
    DEMO_PACK,
    FOUND_DAMAGE,
    HEX,
    INTERRUPTED,
    LABEL,
    OK,
    PLANTED,
    WRONG_USE,
    Tried,
    only_objects,
)

pytestmark = pytest.mark.timeout(300)

BUILT = {
    "pack", "version", "pages", "chunks", "distinct", "short", "stopped", "repeated", "files",
    "left_out", "bytes",
}  # fmt: skip
VERIFIED = {"pack", "ok", "damage", "version", "scheme", "files", "chunks", "labels"}
IN_FORCE = {"version", "previous", "pack", "pushed", "files", "chunks", "removed"}


def test_a_pack_is_built_shown_and_verified(tried: Tried) -> None:
    done = run("labels", "build", DEMO_LABEL, ".demo/brand.warc.gz", "-o", "again.pack", "--source",
               "its site", "--json", cwd=tried.directory)  # fmt: skip
    (built,) = only_objects(done, BUILT)
    assert HEX.fullmatch(built["version"])
    (label,) = only_objects(run("labels", "show", "again.pack", "--json", cwd=tried.directory),
                            LABEL)  # fmt: skip
    assert (label["name"], label["source"], label["version"]) == (
        DEMO_LABEL, "its site", built["version"],
    )  # fmt: skip
    assert (label["files"], label["chunks"]) == (built["files"], built["distinct"])
    done = run("labels", "verify", "again.pack", "--json", cwd=tried.directory)
    (verified,) = only_objects(done, VERIFIED)
    assert (verified["ok"], verified["damage"]) == (True, [])
    assert verified["version"] == built["version"]


def test_what_is_in_force_is_shown(tried: Tried) -> None:
    (label,) = only_objects(tried.run("labels", "show", "--json"), LABEL)
    assert label["name"] == DEMO_LABEL


def test_a_push_is_foreseen(tried: Tried) -> None:
    wanted = {"pages", "labeled", "labeled_pages", "labeled_content", "threshold", "examples"}
    (seen,) = only_objects(tried.run("labels", "preview", DEMO_PACK, "--json"), wanted)
    assert seen["labeled_content"] == PLANTED["labeled-content"]
    assert seen["labeled_pages"] == PLANTED["labeled-page"]
    for one in seen["examples"]:
        assert one.keys() >= {"url", "contains", "labels"}


def test_a_pack_is_pushed_removed_and_rolled_back(tried: Tried) -> None:
    def labels(*arguments: str) -> dict[str, object]:
        done = run("labels", *arguments, "--bus", "local:desk", "--json", cwd=tried.directory)
        (summary,) = only_objects(done, IN_FORCE)
        return summary

    pushed = labels("push", DEMO_PACK)
    assert (pushed["previous"], pushed["removed"]) == (None, [])
    assert labels("remove", DEMO_LABEL)["removed"] == [DEMO_LABEL]
    assert labels("rollback")["removed"] == []


def test_people_are_told_a_version_once_and_what_each_number_counts(tried: Tried) -> None:
    pushed = run("labels", "push", DEMO_PACK, "--bus", "local:told", cwd=tried.directory)
    assert pushed.code == OK
    (version,) = [x.split()[1] for x in pushed.out.splitlines() if x.startswith("version")]
    assert (pushed.out + pushed.err).count(version) == 1
    previewed = tried.run("labels", "preview", DEMO_PACK)
    lines = [line.split(None, 2) for line in previewed.out.partition("\n\n")[0].splitlines()]
    assert [line[0] for line in lines][:3] == ["pages", "labeled", "share"]
    assert all(len(line) == 3 for line in lines)


def test_a_pack_that_is_damaged_is_1_and_said(tried: Tried) -> None:
    whole = bytearray((tried.directory / DEMO_PACK).read_bytes())
    whole[len(whole) // 2] ^= 1
    (tried.directory / "damaged.pack").write_bytes(whole)
    done = run("labels", "verify", "damaged.pack", "--json", cwd=tried.directory)
    assert done.code == FOUND_DAMAGE
    (verified,) = done.objects
    assert verified["ok"] is False
    assert verified["damage"]
    assert "damaged.pack is damaged" in done.err
    pushed = run("labels", "push", "damaged.pack", "--bus", "local:none", cwd=tried.directory)
    assert (pushed.code, pushed.out) == (FOUND_DAMAGE, "")


@pytest.mark.parametrize("verb", [("fingerprint",), ("labels", "build", "-o", "x.pack", "bank")])
def test_a_file_that_is_no_page_is_2(verb: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "prices.pdf").write_bytes(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n")
    done = run(*verb, "prices.pdf", cwd=tmp_path)
    assert (done.code, done.out) == (WRONG_USE, "")
    assert "prices.pdf is a PDF document, and no page: HTML or plain text is expected" in done.err
    assert not (tmp_path / "x.pack").exists()


def test_a_url_that_is_in_no_source_is_named(tried: Tried, tmp_path: Path) -> None:
    listed = tmp_path / "urls"
    listed.write_text("https://nobody.example/\n")
    done = run("labels", "build", "x", ".demo/brand.warc.gz", "-o", tmp_path / "x.pack", "--urls",
               listed, "--json", cwd=tried.directory)  # fmt: skip
    assert "build: no page for 1 of the listed URLs: https://nobody.example/" in done.err
    assert done.objects[0]["left_out"]["not-found"] == 1


def test_a_build_that_is_interrupted_is_130_and_leaves_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "crawl.warc")
    building = start("labels", "build", "bank", "crawl.warc", "-o", "x.pack", cwd=tmp_path)
    with (tmp_path / "crawl.warc").open("wb"):  # it has begun to read
        building.send_signal(signal.SIGINT)
        done = ended(building)
    assert (done.code, done.out) == (INTERRUPTED, "")
    assert done.err.splitlines()[-1] == "interrupted: x.pack was not written"
    assert [path.name for path in tmp_path.iterdir()] == ["crawl.warc"]


@pytest.mark.parametrize("verb", ["verify", "show", "push", "preview"])
def test_what_is_no_pack_is_2(verb: str, tmp_path: Path) -> None:
    (tmp_path / "odd.pack").write_bytes(b"no pack at all, but as long as a header would be " * 9)
    for name in ("odd.pack", "nowhere.pack"):
        done = run("labels", verb, name, cwd=tmp_path)
        assert done.code == WRONG_USE, (name, done)
        assert name in done.err
        assert "Traceback" not in done.err


@pytest.mark.parametrize("verb", ["push", "preview"])
def test_a_pack_of_another_scheme_is_2(verb: str, tried: Tried) -> None:
    done = run("labels", verb, DEMO_PACK, "--bus", "local:keyed", cwd=tried.directory,
               REUSEWATCH_HASH_KEY="0x1234")  # fmt: skip
    assert (done.code, done.out) == (WRONG_USE, "")
    assert "scheme" in done.err


def test_a_name_that_is_not_in_force_is_2(tried: Tried) -> None:
    done = run("labels", "remove", "nobody", "--bus", "local:desk-of-none", cwd=tried.directory)
    assert (done.code, done.out) == (WRONG_USE, "")
