"""Links of pages: those that Scrapy's extractor finds, and of a hostile page the first ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor

from reusewatch.crawler.spiders.links import MAX_BYTES, MAX_LINKS, MAX_TAGS, Links, links_of
from tests.real_pages import real_pages

HOME = "http://h.example/a/index.html"


def page(body: str | bytes, encoding: str = "utf-8") -> HtmlResponse:
    return HtmlResponse(HOME, body=body, encoding=encoding)


def by_tree(response: HtmlResponse) -> list[str]:
    """The definition: every address of the tree, once, without what leads nowhere."""
    found = (link.url.partition("#")[0] for link in LinkExtractor().extract_links(response))
    return list(dict.fromkeys(url for url in found if url.startswith(("http://", "https://"))))


def test_the_links_of_real_pages_are_those_of_their_trees() -> None:
    seen = 0
    for url, body in list(real_pages())[:20]:
        response = HtmlResponse(url if "://" in url else HOME, body=body, encoding="utf-8")
        assert list(links_of(response).urls) == by_tree(response)
        seen += len(links_of(response).urls)
    assert seen > 100


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=12), max_size=4), st.sampled_from(["", "<base href='/b/'>"]))
def test_no_address_is_too_odd(given: list[str], base: str) -> None:
    links = links_of(page(base + "".join(f'<a href="{one}">x</a>' for one in given)))
    assert not links.cut
    assert all(url.startswith("http") and "#" not in url for url in links.urls)


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ('<a href=" /x#y ">', ["http://h.example/x"]),
        ('<base href="http://o.example/b/"><area href="c">', ["http://o.example/b/c"]),
        ('<a href="mailto:a@b.example"><a href="x.zip"><a href="//["><a>', []),
        ("<b><p>" * 20_000 + "<a href=/deep>", ["http://h.example/deep"]),
        ("<font>x</p>" * 5_000 + "<a href=/open>", ["http://h.example/open"]),
        ('<!-- <a href="/no"> --><a href="ftp://h.example/x"><a href=/yes', []),
    ],
)
def test_what_is_a_link(body: str, wanted: list[str]) -> None:
    assert links_of(page(body)) == Links(tuple(wanted), cut=False)


def test_a_query_is_in_the_letters_of_its_page() -> None:
    (url,) = links_of(page("<a href='?q=ж'>".encode("cp1251"), "cp1251")).urls
    assert url.endswith("?q=%E6")


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (b"".join(b"<a href=/%d>" % n for n in range(MAX_LINKS + 1)), MAX_LINKS),
        (b"".join(b"<a href=/%d.zip>" % n for n in range(MAX_TAGS + 1)), 0),
        (b"<a href=/1>" + b" " * MAX_BYTES + b"<a href=/2>", 1),
        # Each such end would be looked for among all that is open: minutes, for all of them.
        (b"<a href=/1>" + b"<b>" * 600_000 + b"</p>" * 500_000 + b"<a href=/2>", 1),
    ],
)
def test_of_a_page_without_end_the_beginning_counts(body: bytes, count: int) -> None:
    links = links_of(page(body))
    assert (len(links.urls), links.cut) == (count, True)


def test_a_link_that_stands_there_often_counts_once() -> None:
    assert links_of(page(b"<a href=/1>" * 100_000)) == Links(("http://h.example/1",), cut=False)
