"""The place of a page is the same whether its URL is plain enough to be taken as it is, or not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.errors import BadPage
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.urls import _split, _split_any, place

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
