"""Encodings are undone, within bounds, or refused."""

from __future__ import annotations

import gzip
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.crawler.pages.encodings import dechunk, decode
from reusewatch.detector.errors import BadPage

_PACK = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}


def _decode(body: bytes, header: str, most: int = 1 << 20) -> bytes:
    return decode(body, header, max_bytes=most, max_encodings=2)


@given(st.binary(max_size=2000), st.lists(st.sampled_from(sorted(_PACK)), max_size=2))
def test_what_was_encoded_is_decoded(body: bytes, names: list[str]) -> None:
    body = b"<" + body
    packed = body
    for name in names:
        packed = _PACK[name](packed)
    assert _decode(packed, ", ".join(names)) == body


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", "br", "zstd", "foo", "a,b,c"]))
def test_whatever_the_bytes_they_are_decoded_or_refused(body: bytes, header: str) -> None:
    refused = ""
    try:
        decoded = _decode(body, header)
    except BadPage as bad:
        refused = bad.reason
    else:
        assert not decoded.startswith(b"\x1f\x8b\x08")
    assert refused in {"", "bad-encoding", "unknown-encoding", "nested-encodings"}


@pytest.mark.parametrize("name", sorted(_PACK))
def test_the_bound_is_exact(name: str) -> None:
    packed = _PACK[name](b"<" * 5000)
    assert len(_decode(packed, name, 5000)) == 5000
    with pytest.raises(BadPage, match="too-large"):
        _decode(packed, name, 4999)


def test_many_members_are_refused_and_not_copied_without_end() -> None:
    assert _decode(gzip.compress(b"a") * 3, "gzip") == b"aaa"
    with pytest.raises(BadPage, match="bad-encoding"):
        _decode(gzip.compress(b"") * 5000, "gzip")


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=6))
def test_chunks_are_joined(parts: list[bytes]) -> None:
    body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
    assert dechunk(body + b"0\r\n\r\n") == (b"".join(parts), False)
    if parts:
        assert dechunk(body) == (b"".join(parts), True)
