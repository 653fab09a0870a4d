"""Whoever mirrors a site, and is crawled before it, cannot remove that site from a crawl."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from reusewatch.streams.steering.formats import FORMATS
from tests.end_to_end.runs import run
from tests.pages import BEGIN

DAY = timedelta(days=1)
_DRAWN = Random(3)
TEXTS = [" ".join(f"w{_DRAWN.randrange(20_000)}" for _ in range(150)) for _ in range(30)]
AUTHOR = "http://author.example/"


def archived(
    path: Path, host: str, *, day: float, texts: Sequence[str] = TEXTS, head: str = "{}",
    under: str = "essays/",
) -> Path:  # fmt: skip
    """A host's pages, a minute from one to the next; `head` is filled with a page's name."""
    records = []
    for at, text in enumerate(texts):
        name, fetched = f"{under}{at}.html", BEGIN + DAY * day + timedelta(minutes=at)
        body = f"<html><head>{head.replace('{}', name)}</head><p>{text}</p></html>"
        block = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}"
        fields = {
            "WARC-Type": "response", "WARC-Record-ID": f"<urn:uuid:{uuid4()}>",
            "WARC-Target-URI": f"http://{host}/{name}",
            "WARC-Date": f"{fetched:%Y-%m-%dT%H:%M:%SZ}",
            "Content-Type": "application/http; msgtype=response",
            "Content-Length": str(len(block)),
        }  # fmt: skip
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        records.append(gzip.compress(f"WARC/1.0\r\n{lines}\r\n{block}\r\n\r\n".encode(), 1))
    path.write_bytes(b"".join(records))
    return path


def hosts(cwd: Path, *archives: Path, **settings: object) -> list[dict[str, Any]]:
    """The alerts on prefixes that are open after a replay of these."""
    done = run("replay", *archives, "--json", cwd=cwd, **settings)
    assert done.code == 0, done.err
    found = run("alerts", "--json", cwd=cwd).objects
    return [one for one in found if one["prefix"] is not None and one["state"] == "open"]


def kept_out(cwd: Path, *flags: str) -> dict[str, str]:
    """What `prefixes` prints in each format."""
    return {form: run("prefixes", "--format", form, *flags, cwd=cwd).out for form in FORMATS}


def keeps_nobody_out(cwd: Path) -> None:
    for flags in ((), ("--info",)):
        # No rule at all: StormCrawler's file has its frame.
        for form, text in kept_out(cwd, *flags).items():
            assert "example" not in text, form


FRAMES = {
    "a mirror two days before": {"one": -2.0},
    "several mirrors": {"one": -2.0, "two": -3.0, "three": -9.0},
    "a mirror dated long ago": {"one": -4000.0},
}


@pytest.mark.parametrize("mirrors", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("original_first", [False, True])
@pytest.mark.parametrize("claims", ["", '<link rel="canonical" href="{}">'])
def test_mirrors_that_were_crawled_first_accuse_no_host(
    mirrors: dict[str, float], original_first: bool, claims: str, tmp_path: Path
) -> None:
    original = archived(tmp_path / "original.warc.gz", "author.example", day=0)
    framing = [
        archived(
            tmp_path / f"{name}.warc.gz", f"{name}.example", day=day,
            head=claims.replace("{}", f"http://{name}.example/{{}}"),
        )
        for name, day in mirrors.items()
    ]  # fmt: skip
    order = [original, *framing] if original_first else [*framing, original]
    found = hosts(tmp_path, *order)
    assert AUTHOR in {one["prefix"] for one in found}
    assert {one["severity"] for one in found} == {"info"}
    keeps_nobody_out(tmp_path)


def test_a_label_made_of_a_thief_s_copy_accuses_no_host(tmp_path: Path) -> None:
    thief = archived(tmp_path / "thief.warc.gz", "thief.example", day=-2)
    original = archived(tmp_path / "original.warc.gz", "author.example", day=0)
    for words in (("build", "stolen", thief, "-o", "a.pack", "--severity", "critical"),
                  ("push", "a.pack")):  # fmt: skip
        assert run("labels", *words, cwd=tmp_path).code == 0
    found = hosts(tmp_path, original)
    by_labels = [one for one in found if one.get("reused_by") == "labels"]
    assert {one["prefix"] for one in by_labels} == {AUTHOR, f"{AUTHOR}essays/"}
    for one in by_labels:
        assert (one["severity"], one["direction"]["original"]) == ("info", "unknown")
    keeps_nobody_out(tmp_path)


def test_a_label_with_a_home_keeps_its_copies_out_and_not_its_home(tmp_path: Path) -> None:
    original = archived(tmp_path / "original.warc.gz", "author.example", day=0)
    thief = archived(tmp_path / "thief.warc.gz", "thief.example", day=-2)
    for words in (("build", "essays", original, "--home", "author.example", "-o", "a.pack"),
                  ("push", "a.pack")):  # fmt: skip
        assert run("labels", *words, cwd=tmp_path).code == 0
    hosts(tmp_path, thief, original)
    assert kept_out(tmp_path)["prefixes"] == "http://thief.example/\n"


@pytest.mark.parametrize("original_first", [False, True])
def test_mirrors_of_what_is_owned_are_known_by_that(original_first: bool, tmp_path: Path) -> None:
    original = archived(tmp_path / "original.warc.gz", "author.example", day=0)
    mirror = archived(tmp_path / "mirror.warc.gz", "mirror.example", day=0)
    order = [original, mirror] if original_first else [mirror, original]
    found = hosts(tmp_path, *order, owned="author.example")
    told = [(one["kind"], one["prefix"], one["severity"], one["direction"]["by"]) for one in found]
    assert sorted(told) == [
        ("bad-neighborhood", "http://mirror.example/", "warning", "owned"),
        ("mirror-host", "http://mirror.example/", "warning", "owned"),
    ]
    (mirrored,) = (one for one in found if one["kind"] == "mirror-host")
    shown = run("alerts", "show", mirrored["id"], cwd=tmp_path).out
    assert "its site is owned" in shown
    assert kept_out(tmp_path)["prefixes"] == "http://mirror.example/\n"


def test_a_host_of_which_half_is_owned_is_not_framed_by_the_other_half(tmp_path: Path) -> None:
    framing = archived(tmp_path / "framing.warc.gz", "one.example", day=-2)
    mine = archived(tmp_path / "mine.warc.gz", "author.example", day=0, texts=TEXTS[:15])
    rest = archived(
        tmp_path / "rest.warc.gz", "author.example", day=0, texts=TEXTS[15:], under="guests/"
    )
    found = hosts(tmp_path, framing, mine, rest, owned="http://author.example/essays/")
    accused = {one["prefix"] for one in found if one["severity"] != "info"}
    assert not [prefix for prefix in accused if prefix.startswith(AUTHOR)]
    assert AUTHOR not in kept_out(tmp_path)["prefixes"]


@pytest.mark.parametrize("day", [-2, 0, 2])
def test_a_mirror_that_names_its_source_is_kept_out_of(day: int, tmp_path: Path) -> None:
    original = archived(tmp_path / "original.warc.gz", "author.example", day=0)
    mirror = archived(
        tmp_path / "mirror.warc.gz", "mirror.example", day=day,
        head=f'<link rel="canonical" href="{AUTHOR}{{}}">',
    )  # fmt: skip
    (alert,) = hosts(tmp_path, mirror, original)
    assert (alert["kind"], alert["severity"]) == ("mirror-host", "warning")
    assert alert["direction"]["by"] == "declared"
    assert kept_out(tmp_path)["prefixes"] == "http://mirror.example/\n"


def test_comments_that_link_to_a_mirror_declare_nothing_of_a_host(tmp_path: Path) -> None:
    mirror = archived(tmp_path / "mirror.warc.gz", "mirror.example", day=-2)
    linked = [
        f'{text}</p><p><a href="http://mirror.example/essays/{at}.html">from there</a>'
        for at, text in enumerate(TEXTS)
    ]
    original = archived(tmp_path / "original.warc.gz", "author.example", day=0, texts=linked)
    found = hosts(tmp_path, mirror, original)
    assert {one["severity"] for one in found} <= {"info"}
    keeps_nobody_out(tmp_path)


@pytest.mark.parametrize("farm_first", [True, False])
def test_cheap_domains_make_no_label_of_a_victim_s_words(farm_first: bool, tmp_path: Path) -> None:
    victim = archived(tmp_path / "victim.warc.gz", "author.example", day=0, texts=TEXTS[:1] * 2)
    farm = [
        archived(tmp_path / f"{n}.warc.gz", f"farm{n}.example", day=1, texts=TEXTS[:1] * 26)
        for n in range(5)
    ]
    order = [*farm, victim] if farm_first else [victim, *farm, victim]
    done = run("replay", *order, cwd=tmp_path, discover="label", batch_pages=16)
    assert done.code == 0, done.err
    found = run("alerts", "--json", cwd=tmp_path).objects
    assert "discovered-content" in {one["kind"] for one in found}
    assert "labeled-content" not in {one["kind"] for one in found}


@pytest.mark.parametrize("place", [0, 12, 24], ids=["first", "between", "last"])
def test_whoever_had_words_first_is_no_subject_of_their_label(place: int, tmp_path: Path) -> None:
    known = {"texts": TEXTS[:12]}
    victim = archived(tmp_path / "victim.warc.gz", "author.example", day=0, **known)
    crawled = [
        archived(tmp_path / f"{n}.warc.gz", f"copy{n}.example", day=n + 1, **known)
        for n in range(24)
    ]
    crawled.insert(place, victim)
    later = [
        archived(tmp_path / f"{name}2.warc.gz", f"{name}.example", day=90, under=under, **known)
        for under in ("essays/", "moved/")
        for name in ("author", "copy3", "copy23")
    ]
    settings = {
        "discover": "label", "discover_pages": 2, "batch_pages": 16, "contains_threshold": 0.3,
    }  # fmt: skip
    # Each goes on from the snapshot that the one before has left.
    for some in (crawled[:9], crawled[9:23], crawled[23:], later):
        done = run("replay", *some, cwd=tmp_path, **settings)
        assert done.code == 0, done.err
    found = run("alerts", "--json", cwd=tmp_path).objects
    labeled = [one for one in found if one["kind"] in ("labeled-content", "labeled-page")]
    assert {"copy3.example", "copy23.example"} <= {one["site"] for one in labeled}
    assert "author.example" not in {one["site"] for one in labeled}
    by_labels = [one for one in found if one.get("reused_by") == "labels"]
    assert by_labels
    assert AUTHOR not in {one["prefix"] for one in by_labels}
    assert {one["severity"] for one in [*labeled, *by_labels]} == {"info"}
    for text in kept_out(tmp_path).values():
        assert "author.example" not in text
