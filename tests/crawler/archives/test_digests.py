"""Digests in every notation, and what is accepted for which payload."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.crawler.archives.digests import check, digest_of, is_right


@given(st.binary(max_size=64), st.sampled_from(["sha1", "sha256", "md5", "sha512"]), st.booleans())
def test_every_notation_fits(data: bytes, name: str, padded: bool) -> None:
    value = hashlib.new(name, data, usedforsecurity=False).digest()
    text = base64.b32encode(value).decode()
    for label in (value.hex(), value.hex().upper(), text if padded else text.rstrip("=")):
        digest = digest_of(f"{name.upper()}: {label}")
        assert digest is not None
        assert digest.fits(data)
        assert not digest.fits(data + b"x")


@given(st.text(max_size=60))
def test_whatever_the_label_it_is_a_digest_or_none(text: str) -> None:
    assert digest_of(f"sha1:{text}") is None or len(text.strip()) >= 32


_SHA1 = base64.b32encode(hashlib.sha1(b"a", usedforsecurity=False).digest()).decode()
_LETTER = st.characters(min_codepoint=32, max_codepoint=126)


@given(
    st.sampled_from(["sha1:", "SHA1:", "sha1: ", "md5:", "blake3:", ""]),
    st.one_of(
        st.sampled_from([_SHA1, _SHA1.lower(), _SHA1[:-1] + "=", _SHA1[1:] + " ", "A" * 32]),
        st.text(_LETTER, min_size=32, max_size=32),
        st.text(_LETTER, max_size=40),
    ),
    st.sampled_from([b"a", b"b"]),
)
def test_in_one_go_it_is_right_where_the_digest_that_is_named_fits(
    name: str, text: str, data: bytes
) -> None:
    digest = digest_of(name + text)
    fits = digest is not None and digest.fits(data)
    assert is_right((name + text).encode(), data) == fits


_RIGHT = "sha256:" + hashlib.sha256(b"a").hexdigest()
_OTHER = "sha256:" + hashlib.sha256(b"b").hexdigest()


@pytest.mark.parametrize(
    ("block", "payload", "wanted"),
    [
        (_RIGHT, None, "right"),
        (_OTHER, None, "wrong"),
        (None, _OTHER, "right"),
        (None, _RIGHT, "wrong"),
        (_RIGHT, _RIGHT, "right"),
        (_OTHER, _OTHER, "right"),
        ("blake3:00", None, "unknown"),
        ("blake3:00", _RIGHT, "wrong"),
        (None, None, "unknown"),
    ],
)
def test_any_digest_that_fits_is_enough(
    block: str | None, payload: str | None, wanted: str
) -> None:
    assert check(block, payload, b"a", [lambda: None, lambda: b"b"]) == wanted
