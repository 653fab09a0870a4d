"""Raw chunks: against the definition, in any charset, on real pages."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.page_chunks import chunks_of
from reusewatch.detector.scanning.decoding import decode
from reusewatch.detector.scanning.scan import ScanLimits
from reusewatch.detector.sketching.chunks import Chunks, Unit
from reusewatch.detector.sketching.fingerprint import Document, Fingerprints, fingerprints
from reusewatch.detector.sketching.raw_chunks import raw_chunks, raw_chunks_of
from tests.detector.sketching import twins
from tests.detector.sketching.strategies import schemes
from tests.real_pages import real_pages

SCHEME = HashScheme()
markup = st.lists(
    st.sampled_from(
        [b"<p>", b"</p>", b"<P class='x y'>", b"<p/>", b"<p\n>", b"<pre>", b"</P >", b" ", b"\n"]
    )
    | st.binary(max_size=4).map(lambda part: part.replace(b"<", b"").replace(b">", b""))
).map(b"".join)
texts = st.lists(
    st.sampled_from(["<p>", "</p>", "<P a='b'>", " ", "где дом", "漢字", "été", "plain"])
).map("".join)


def parts_of(chunks: Chunks, body: bytes) -> list[bytes]:
    return [body[start:end] for start, end in zip(chunks.starts, chunks.ends, strict=True)]


@given(markup, schemes)
def test_twin(data: bytes, scheme: HashScheme) -> None:
    chunks = raw_chunks(data, scheme)
    parts = twins.raw_chunks(data)
    assert chunks.hashes[0].tolist() == [scheme.of_bytes(part) for part in parts]
    assert parts_of(chunks, data) == parts
    assert chunks.lengths.tolist() == [len(part.decode("utf-8", "replace")) for part in parts]


@pytest.mark.parametrize("charset", ["utf-8", "utf-16", "utf-16be", "utf-32le", "gb18030"])
@given(text=texts)
def test_the_charset_does_not_matter_to_what_a_chunk_is(charset: str, text: str) -> None:
    page = decode(text.encode({"utf-16": "utf-16-le"}.get(charset, charset)), charset)
    chunks = raw_chunks_of([page], SCHEME)[0]
    parts = [part.decode() for part in twins.raw_chunks(text.encode())]
    found = parts_of(chunks, page.body)
    assert [part.decode(page.charset) for part in found] == parts
    assert chunks.hashes[0].tolist() == [SCHEME.of_bytes(part) for part in found]
    assert chunks.lengths.tolist() == [len(part) for part in parts]


@given(st.lists(markup, max_size=4))
def test_pages_do_not_mix(pages: list[bytes]) -> None:
    chunks = raw_chunks_of([decode(page, "utf-8") for page in pages], SCHEME)[0]
    assert [page.tolist() for page in chunks.hashes] == [
        raw_chunks(page, SCHEME).hashes[0].tolist() for page in pages
    ]


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (b"", []),
        (b"no tags", [b"no tags"]),
        (b"<p></p>\n<p> </p>", [b"", b" "]),
        (b"head<p>one<p>two</p>tail", [b"head", b"one", b"two", b"tail"]),
        (b"<P ID=a>one</P ><pre>two</pre>", [b"one", b"<pre>two</pre>"]),
        (b"<p>one<p unclosed", [b"one<p unclosed"]),
        (b'<p title="<p ">one', [b"one"]),
        (b"<p>same</p><p>same</p>", [b"same", b"same"]),
    ],
)
def test_examples(data: bytes, parts: list[bytes]) -> None:
    assert parts_of(raw_chunks(data, SCHEME), data) == parts


@pytest.mark.parametrize("charset", ["utf-8", "windows-1251", "shift_jis", "utf-16", "hz"])
@given(data=st.binary())
def test_any_bytes_in_any_charset(charset: str, data: bytes) -> None:
    chunks = raw_chunks(data, SCHEME, charset)
    assert (chunks.starts <= chunks.ends).all()
    assert (chunks.ends[:-1] <= chunks.starts[1:]).all()
    assert not len(chunks.ends) or chunks.ends[-1] <= len(data)


@pytest.mark.parametrize("bait", [b"<p ", b"<p <p>", b"<p>", b"</p ", b"<P\n/"])
def test_bait_is_read_in_linear_time(bait: bytes) -> None:
    chunks = raw_chunks(bait * 300_000, SCHEME)
    assert len(chunks.lengths) <= 200_000


def test_the_last_chunk_takes_what_is_over_the_limit() -> None:
    page = decode(b"<p>a<p>b<p>c<p>d", "utf-8")
    chunks, cut = raw_chunks_of([page, decode(b"<p>a<p>b", "utf-8")], SCHEME, most=2)
    assert chunks.hashes.counts.tolist() == [2, 2]
    assert cut == [True, False]
    assert page.body[chunks.starts[1] : chunks.ends[1]] == b"b<p>c<p>d"
    made = fingerprints([Document(page.body)], SCHEME, limits=ScanLimits(blocks=3), chunks="raw")
    assert made.facts[0].truncated


def checked_spans(made: Fingerprints, bodies: list[bytes]) -> None:
    """What stands at a raw chunk's place in the body is what was hashed."""
    chunks = made.sketches.chunks
    for page, body in enumerate(bodies):
        own = slice(chunks.hashes.offsets[page], chunks.hashes.offsets[page + 1])
        starts, ends = made.chunk_starts[own].tolist(), made.chunk_ends[own].tolist()
        found = [SCHEME.of_bytes(body[a:b]) for a, b in zip(starts, ends, strict=True)]
        assert found == chunks.hashes[page].tolist()


@pytest.mark.parametrize("charset", ["utf-8", "windows-1252", "utf-16"])
def test_real_pages_in_both_units(charset: str) -> None:
    codec = {"utf-16": "utf-16-le"}.get(charset, charset)
    bodies = [
        page.decode("utf-8", "replace").encode(codec, "replace")
        for _, page in islice(real_pages(), 40)
    ]
    documents = [Document(body, charset=charset) for body in bodies]
    text, raw = (fingerprints(documents, SCHEME, chunks=unit) for unit in ("text", "raw"))
    assert (text.sketches.chunks.unit, raw.sketches.chunks.unit) == ("text", "raw")
    checked_spans(raw, bodies)
    assert [facts.start for facts in raw.facts] == [facts.start for facts in text.facts]
    assert raw.sketches.identity.tolist() == text.sketches.identity.tolist()
    hashes = [set(made.sketches.chunks.hashes.values.tolist()) for made in (text, raw)]
    assert len(hashes[1]) > len(bodies)
    assert not hashes[0] & hashes[1]
    alone = fingerprints(documents[-1:], SCHEME, chunks="raw")
    assert (
        alone.sketches.chunks.hashes[0].tolist()
        == raw.sketches.chunks.hashes[len(bodies) - 1].tolist()
    )


@pytest.mark.parametrize("unit", ["text", "raw"])
def test_labels_are_built_of_the_chunks_that_fingerprints_carry(unit: Unit) -> None:
    pages = [Document(f"<p>Page {n}<p>some  words &amp; more".encode()) for n in range(3)]
    carried = fingerprints(pages, SCHEME, chunks=unit).sketches.chunks
    assert chunks_of(pages, SCHEME, unit).hashes.values.tolist() == carried.hashes.values.tolist()
