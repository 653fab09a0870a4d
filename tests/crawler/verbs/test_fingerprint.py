"""`reusewatch fingerprint`: the fields that scripts rely on, for files and for archives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reusewatch.detector.hashing import HashScheme, hex_of
from reusewatch.detector.scanning.readable import Readable
from reusewatch.detector.sketching.fingerprint import Document
from reusewatch.streams.verbs.fingerprint_view import view_of
from tests.command import ROOT, Done
from tests.command import run as run_command
from tests.pages import Fetch, body_of, write_warc

FIELDS = {
    "url", "charset", "title", "tokens", "text", "blocks", "links", "file_hash", "identity_hash",
    "supershingles", "simhash", "terms", "truncated", "scheme",
}  # fmt: skip
PAGE = (
    "<html><head><title>Hi &amp; ho</title><meta name=keywords content=lamps></head><body>"
    "<h1>Caf&eacute; <b>t</b>ime</h1><p>Hello <a href='/x'>a link</a> and "
    "<a href='https://other.example/'>other</a><p>Second <img src='http://cdn.example/a.png'>"
)


def run(*arguments: object) -> Done:
    return run_command("fingerprint", *map(str, arguments), cwd=ROOT)


def views(*arguments: object) -> list[dict[str, Any]]:
    done = run(*arguments, "--json")
    assert done.code == 0, done.err
    return done.objects


def test_a_page_has_all_fields(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(PAGE)
    (view,) = views(path, "--url", "http://www.example.org/a", "--words")
    assert view.keys() >= FIELDS
    assert view["words"] == [
        "hi", "ho", "café", "time", "hello", "a", "link", "and", "other", "second",
        "http://cdn.example/a.png",
    ]  # fmt: skip
    assert view["tokens"] == len(view["words"])
    assert view["title"] == "Hi & ho"
    assert [block["text"] for block in view["blocks"]] == [
        "Hi & ho", "Café time", "Hello a link and other", "Second",
    ]  # fmt: skip
    assert view["links"] == [
        {"url": "http://www.example.org/x", "anchor": "a link", "same_site": True},
        {"url": "https://other.example/", "anchor": "other", "same_site": False},
    ]
    body = path.read_bytes()
    for block in view["blocks"]:
        assert body[block["start"] : block["end"]].decode().split()[0] in PAGE
        assert len(block["chunk"]) == 16
    assert [len(view["supershingles"][k]) for k in ("k5", "k8")] == [6, 6]
    assert len(view["simhash"]) == 96
    weights = [term["weight"] for term in view["terms"]]
    assert weights == sorted(weights, reverse=True)
    assert {"lamps", "café"} <= {term["term"] for term in view["terms"]}


def test_words_of_a_long_page_become_strings_only_if_they_are_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    document = Document(PAGE.encode())
    asked = view_of(document, HashScheme(), words=True)
    monkeypatch.setattr(Readable, "words", lambda readable: pytest.fail("made every word"))
    view = view_of(document, HashScheme())
    assert view.terms == asked.terms
    assert {"hello", "lamps"} <= {term.term for term in view.terms}


def test_raw_chunks_are_bytes_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(PAGE.encode("utf-16"))
    (view,) = views(path, "--chunks", "raw")
    assert view["chunks"] == "raw"
    assert [block["text"].lstrip("\ufeff") for block in view["blocks"]] == PAGE.split("<p>")
    body = path.read_bytes()
    for block in view["blocks"][1:]:
        part = body[block["start"] : block["end"]]
        assert part.decode("utf-16-le") == block["text"]
        assert block["chunk"] == hex_of(HashScheme().of_bytes(part))
    assert "chunks" not in views(path)[0]
    done = run(path, "--chunks", "lines")
    assert done.code == 2
    assert "--chunks" in done.err


def test_a_page_of_an_archive_is_found_by_its_url(tmp_path: Path) -> None:
    fetches = [Fetch(number, 0, number, number) for number in range(3)]
    write_warc(fetches, tmp_path / "x.warc.gz")
    assert len(views(tmp_path / "x.warc.gz")) == 3
    (view,) = views(tmp_path / "x.warc.gz", "--url", fetches[1].url)
    assert view["url"] == fetches[1].url
    path = tmp_path / "same.html"
    path.write_bytes(body_of(1))
    (alone,) = views(path, "--url", fetches[1].url)
    assert alone["identity_hash"] == view["identity_hash"]
    assert run(tmp_path / "x.warc.gz", "--url", "http://nobody.example/").code == 2


def test_damage_in_an_archive_is_said_unless_the_page_is_found(tmp_path: Path) -> None:
    fetches = [Fetch(number, 0, number, number) for number in range(3)]
    path = tmp_path / "cut.warc.gz"
    write_warc(fetches, path)
    path.write_bytes(path.read_bytes()[:-40])
    done = run(path, "--json")
    assert (done.code, len(done.out.splitlines())) == (1, 2)
    assert f"damaged records were left out: {path} (1)" in done.err
    assert run(path, "--url", fetches[0].url).code == 0
    gone = run(path, "--url", fetches[2].url)
    assert (gone.code, gone.out) == (2, "")
    assert f"damaged records were left out: {path} (1)" in gone.err


@pytest.mark.parametrize("name", ["gone.html", "gone.warc.gz"])
def test_what_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    done = run(tmp_path / name)
    assert done.code == 2
    assert name in done.err


def test_hundreds_of_files_in_one_call(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"{number:03}.html").write_bytes(body_of(number))
    found = views(*sorted(tmp_path.iterdir()))
    assert len({view["identity_hash"] for view in found}) == 200
