"""The place of a page is the same whether its URL is plain enough to be taken as it is, or not."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from publicsuffixlist import PublicSuffixList

from reusewatch.detector.errors import BadPage
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.urls import (
    _split,
    _split_any,
    host_and_site,
    is_public_suffix,
    owner_of,
    place,
    root_of,
    site_of,
    site_of_page,
)

# What URLs are made of, and what goes wrong in them.
_PIECES = st.sampled_from(
    ["http", "https", "://", ":", "/", "//", "?", "#", "@", "[", "]", ".", "..", "-", "_", "%41",
     "a", "A", "example.org", "www.example.co.uk", "ü", ":80", ":443", ":8080", " ", "\t", "\n",
     "\\", ";", "&", "=", "~", "'", '"', "\x7f", "\0", "1.2.3.4"]
)  # fmt: skip
_urls = st.one_of(
    st.lists(_PIECES, max_size=12).map("".join),
    st.lists(_PIECES, max_size=10).map(lambda rest: "https://example.org/" + "".join(rest)),
    st.text(max_size=20).map(lambda rest: "http://a.example/" + rest),
)


def _outcome(split: object, url: str) -> object:
    try:
        return split(url)  # type: ignore[operator]
    except BadPage as bad:
        return bad.reason, bad.detail


@given(_urls)
def test_a_plain_url_is_split_as_any_other(url: str) -> None:
    assert _outcome(_split, url) == _outcome(_split_any, url)


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("https://example.org/a?b=c#d", "https://example.org/a?b=c"),
        ("https://example.org/a?#d", "https://example.org/a"),
        ("https://example.org", "https://example.org/"),
        ("https://EXAMPLE.org:443/A", "https://example.org/A"),
        ("http://example.org.:8080/", "http://example.org:8080/"),
    ],
)
def test_a_page_has_one_url(url: str, canonical: str) -> None:
    assert _split(url)[0] == canonical
    assert place(url, HashScheme()) == place(canonical, HashScheme())


def test_places_of_two_schemes_are_two() -> None:
    url = "https://example.org/"
    assert place(url, HashScheme()).page_id != place(url, HashScheme(1)).page_id


_LABELS = st.sampled_from(
    ["www", "example", "com", "co", "uk", "blogspot", "xn--p1ai", "XN--p1ai", "xn--55qx5d", "cn",
     "xn--mgberp4a5d4ar", "kobe", "city", "jp", "ck", "рф", "公司", "unknown", "github", "io"]
)  # fmt: skip
_ALL, _REGISTRIES = (
    PublicSuffixList(accept_unknown=False, only_icann=only) for only in (False, True)
)


@given(st.lists(_LABELS, min_size=1, max_size=5).map(".".join))
def test_a_host_has_the_site_that_the_whole_list_says(host: str) -> None:
    last = ".".join(host.split(".")[-2:])
    assert site_of(host) == (
        _ALL.privatesuffix(host) or (host if _ALL.publicsuffix(host) else last)
    )
    assert owner_of(host) == (_REGISTRIES.privatesuffix(host) or host)
    assert is_public_suffix(host) == (_ALL.publicsuffix(host) == host)


@given(_urls)
# A browser drops tabs and what stands before the scheme, and so does who takes a URL apart.
@example("https:/\t/evil.example.org/p")
@example("\x01\x01\x01\x01https://evil.example.org/p")
@example("HTTP://Evil.Example.org/p")
@example("https://evil.example.org?x/y")
@example("https://" + "a." * 200 + "example.org/p")
def test_its_root_and_its_site_are_those_of_the_page(url: str) -> None:
    try:
        stands = host_and_site(url)
    except BadPage:
        return
    assert site_of_page(url) == stands[1]
    assert host_and_site(root_of(url)) == stands
