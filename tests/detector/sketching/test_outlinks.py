"""Links that a reader could follow to another site, and that the page stands for."""

from __future__ import annotations

import pytest

from reusewatch.detector.sketching.fingerprint import Document, fingerprints
from reusewatch.detector.sketching.outlinks import MOST_ADDRESS, MOST_OUTLINKS
from tests.pages import SCHEME

URL = "http://www.own.example/d/e"
LEAD: dict[str, list[str]] = {
    '<a href="http://other.example/x?a&amp;b#c">word</a>': ["http://other.example/x?a&b#c"],
    "<a href=//other.example/x>word</a>": ["http://other.example/x"],
    "<a href='HTTPS://other.example'>a <b>word</b></a>": ["HTTPS://other.example"],
    "<a href=http://a.example>x</a> <a href=http://a.example>x</a>": ["http://a.example"],
    "<a href=/own>word</a><a href=http://sub.own.example/>word</a>": [],
    "<a href=mailto:a@b.example>word</a><a href=javascript:x()>word</a>": [],
    "<a href=http://other.example/></a>": [],
    "<a href=http://other.example/><img src=x.png></a>": ["http://other.example/"],
    "<a href=http://other.example/ style='display:none'>word</a>": [],
    "<div hidden><a href=http://other.example/>word</a></div>": [],
    "<a rel='ugc' href=http://other.example/>word</a>": [],
    "<a href=http://other.example/ title='>' rel=x>word</a>": ["http://other.example/"],
    "<a href=http://other.example/ REL=NoFollow>word</a>": [],
    "<a href=http://other.example/ rel='a sponsored'>word</a>": [],
    f"<a href=http://other.example/{'x' * MOST_ADDRESS}>word</a>": [],
}


def addresses(body: bytes, charset: str = "utf-8") -> list[tuple[str, int]]:
    page = Document(body, url=URL, host="www.own.example", site="own.example", charset=charset)
    return fingerprints([page], SCHEME).outlinks.of(0)


@pytest.mark.parametrize("body", LEAD)
def test_a_link_counts_where_a_reader_sees_it_and_the_page_stands_for_it(body: str) -> None:
    page = f"<title>title</title><p>before {body} after".encode()
    assert [address for address, _ in addresses(page)] == LEAD[body]


@pytest.mark.parametrize("charset", ["utf-8", "windows-1252", "utf-16-le"])
def test_where_its_words_begin_is_a_place_in_the_body(charset: str) -> None:
    text = "<p>caf\u00e9 au lait <a href=http://other.example/>w\u00f6rd</a>"
    ((_, start),) = addresses(text.encode(charset), charset)
    assert text.encode(charset)[start:].decode(charset).startswith("w\u00f6rd")


def test_a_page_of_links_has_the_first_ones() -> None:
    body = b"".join(b"<a href=http://s%d.example/>w</a> " % n for n in range(500))
    assert [address for address, _ in addresses(body)] == [
        f"http://s{n}.example/" for n in range(MOST_OUTLINKS)
    ]


def test_pages_of_a_batch_have_their_own() -> None:
    links = [b"", b"<a href=http://a.example/>w</a>", b"x", b"<a href=http://b.example/>w</a>"]
    made = fingerprints([Document(b"<p>words " + one, url=URL) for one in links], SCHEME)
    assert [[address for address, _ in made.outlinks.of(page)] for page in range(4)] == [
        [], ["http://a.example/"], [], ["http://b.example/"],
    ]  # fmt: skip


def test_a_batch_says_of_each_page_what_the_page_alone_says() -> None:
    """One address under two schemes, twice on a page, in two charsets, and one that is none."""
    body = (
        "<p>äé <a href=//a.example/x>w</a> <a href=//a.example/x>w</a> "
        "<a href=http://b.example/>w</a> <a href='http://['>w</a>"
    )
    pages = [
        Document(body.encode(charset), url=url, charset=charset)
        for url in (URL, "https://www.own.example/")
        for charset in ("utf-8", "windows-1252", "utf-16-le")
    ] * 2
    together = fingerprints(pages, SCHEME).outlinks
    alone = [fingerprints([page], SCHEME).outlinks.of(0) for page in pages]
    assert [together.of(at) for at in range(len(pages))] == alone
    assert {len(links) for links in alone} == {3}
    assert {links[0][0] for links in alone} == {"http://a.example/x", "https://a.example/x"}
