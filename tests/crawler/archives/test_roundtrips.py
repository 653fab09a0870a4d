"""Pages written, by warcio and by hand, are the pages read, whatever the container."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from tests.crawler.archives import zoo
from tests.crawler.archives.zoo import CONTAINERS, SOUND, read_all

_BODIES = st.lists(st.binary(max_size=400).map(lambda data: b"<p>" + data), min_size=1, max_size=5)


def _written_by_warcio(bodies: list[bytes], *, packed: bool) -> bytes:
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=packed)
    for number, body in enumerate(bodies):
        head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        writer.write_record(
            writer.create_warc_record(
                zoo.url(number), "response", payload=io.BytesIO(body), http_headers=head
            )
        )
    return out.getvalue()


def _bodies(data: bytes) -> list[tuple[str, bytes]]:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "x"
        path.write_bytes(data)
        events = read_all(path)
    assert not [event.damage for event in events if event.damage]
    return [(event.page.url, event.page.body) for event in events if event.page]


# warcio does not close what it spools.
@pytest.mark.filterwarnings("ignore:Unclosed file:ResourceWarning")
@settings(max_examples=60)
@given(_BODIES, st.booleans())
def test_what_warcio_writes_is_read(bodies: list[bytes], packed: bool) -> None:
    wanted = [(zoo.url(number), body) for number, body in enumerate(bodies)]
    assert _bodies(_written_by_warcio(bodies, packed=packed)) == wanted


@settings(max_examples=60)
@given(_BODIES, st.sampled_from(sorted(CONTAINERS)))
def test_every_container_holds_the_same_pages(bodies: list[bytes], name: str) -> None:
    records = [zoo.info()]
    records += [zoo.response(zoo.url(number), body) for number, body in enumerate(bodies)]
    wanted = [(zoo.url(number), body) for number, body in enumerate(bodies)]
    assert _bodies(CONTAINERS[name](records)) == wanted


@settings(max_examples=60)
@given(_BODIES, st.booleans())
def test_an_arc_holds_the_same_pages(bodies: list[bytes], packed: bool) -> None:
    records = zoo.arc([])
    records += [zoo.arc_record(zoo.url(n), zoo.http(body)) for n, body in enumerate(bodies)]
    wanted = [(zoo.url(number), body) for number, body in enumerate(bodies)]
    assert _bodies((zoo.member_each if packed else zoo.plain)(records)) == wanted


# warcio fails on these for reasons of its own: one member for all, zstd, WACZ, odd encodings.
_NOT_WARCIO = ("member", "zst", "wacz", "encoding", "brotli", "LF", "two", "gzip that", "space")


@pytest.mark.parametrize(
    "name", sorted(name for name in SOUND if not any(word in name for word in _NOT_WARCIO))
)
def test_warcio_reads_the_same(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(SOUND[name].data)
    theirs = {}
    with path.open("rb") as file:
        for record in ArchiveIterator(file, arc2warc=True):
            target = record.rec_headers.get_header("WARC-Target-URI")
            theirs[record.rec_type, target] = record.content_stream().read()
    for event in read_all(path):
        if event.page:
            kinds = ("response", "resource", "conversion")
            bodies = [
                theirs[kind, event.page.url] for kind in kinds if (kind, event.page.url) in theirs
            ]
            assert bodies == [event.page.body]
