"""Sitemaps as they are written, and as nobody should write them: read in pieces, and bounded."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Iterable

import pytest
from scrapy.http import Response

from reusewatch.crawler.spiders.sitemaps import (
    MOST_BYTES,
    MOST_MEMBERS,
    MOST_PAGES,
    MOST_SITEMAPS,
    Named,
    _parts,
    read_sitemap,
)

NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(urls: Iterable[str]) -> bytes:
    return f"<urlset {NAMESPACE}>{''.join(map(entry, urls))}</urlset>".encode()


def entry(url: str) -> str:
    picture = "<image:image xmlns:image='i'><image:loc>no</image:loc></image:image>"
    return f"<url>\n<loc>\n {url}\n</loc>{picture}<priority>1</priority></url>"


def index(urls: Iterable[str]) -> bytes:
    rows = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f"<sitemapindex {NAMESPACE}>{rows}</sitemapindex>".encode()


def read(body: bytes) -> Named:
    return read_sitemap(Response("http://h.example/sitemap.xml", body=body))


def test_what_a_sitemap_names() -> None:
    assert read(urlset(["a", "b&amp;c"])) == Named(("a", "b&c"))
    assert read(gzip.compress(urlset(["a"]))) == Named(("a",))
    assert read(index(["a", "b"])) == Named(sitemaps=("a", "b"))


@pytest.mark.parametrize(
    "body",
    [
        b"", b"no sitemap", b"<html><url><loc>a</loc></url>", b"\x1f\x8bbroken", b"\x00\xff" * 99,
        b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><urlset><url><loc>&e;</loc></url>',
    ],
)  # fmt: skip
def test_of_what_is_none_nothing_is_taken(body: bytes) -> None:
    assert read(body) == Named()


def test_what_is_cut_off_counts_up_to_there() -> None:
    assert read(urlset(["a", "b"])[:-140]).pages == ("a",)
    assert read(gzip.compress(urlset(["a", "b"]))[:-9]).pages == ("a", "b")


def test_a_sitemap_of_too_much_is_cut() -> None:
    assert read(urlset(map(str, range(MOST_PAGES)))).cut is False
    many = read(urlset(map(str, range(MOST_PAGES + 1))))
    assert (len(many.pages), many.cut) == (MOST_PAGES, True)
    many = read(index(map(str, range(MOST_SITEMAPS + 1))))
    assert (len(many.sitemaps), many.cut) == (MOST_SITEMAPS, True)


def test_gzip_of_several_members_is_read_to_its_end() -> None:
    text = urlset(map(str, range(20_000)))
    parts = [gzip.compress(text[at : at + 100_000]) for at in range(0, len(text), 100_000)]
    assert len(parts) > 5
    assert len(read(b"".join(parts)).pages) == 20_000
    # Padding of zeros, and whatever else is no gzip, ends it.
    assert read(gzip.compress(urlset(["a"])) + b"\0" * 999) == Named(("a",))
    assert read(gzip.compress(urlset(["a"])) + b"\x1f\x8bno") == Named(("a",))


def test_so_many_members_are_read() -> None:
    empty, last = gzip.compress(b"", mtime=0), gzip.compress(urlset(["a"]), mtime=0)
    assert read(empty * (MOST_MEMBERS - 1) + last) == Named(("a",))
    assert read(empty * MOST_MEMBERS + last) == Named(cut=True)


def test_of_what_is_packed_each_byte_is_looked_at_once() -> None:
    packed = gzip.compress(random.Random(1).randbytes(1 << 20))
    parts = list(_parts(packed))
    assert sum(map(len, parts)) == 1 << 20
    assert max(map(len, parts)) <= 1 << 16


def test_a_bomb_is_not_unpacked_to_its_end() -> None:
    packer = zlib.compressobj(9, wbits=31)
    begin = urlset(["a"]).removesuffix(b"</urlset>")
    bomb = packer.compress(begin) + b"".join(
        packer.compress(b" " * (1 << 20)) for _ in range((MOST_BYTES >> 20) + 2)
    )
    assert read(bomb + packer.flush()) == Named(("a",), cut=True)


def test_entities_are_not_multiplied() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 30))
    text = f'<!DOCTYPE u [<!ENTITY l0 "ha">{laughs}]><urlset><url><loc>a&l29;</loc></url></urlset>'
    assert all(len(url) < 100 for url in read(text.encode()).pages)
