"""A zoo of archives, sound and damaged, each with what reading it has to yield.

Written byte by byte and not by a library, so that every part can be wrong on purpose.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache

import brotli
import zstandard

from reusewatch.crawler.archives.reading import Found, Limits, read_archive
from reusewatch.detector.hashing import HashScheme

SCHEME = HashScheme()
NOW = datetime(2026, 11, 18, tzinfo=UTC)
DATE = "2020-02-03T04:05:06Z"
FETCHED = datetime(2020, 2, 3, 4, 5, 6, tzinfo=UTC)


def read_all(
    path: object, start: int = 0, limits: Limits | None = None, doubt: int = 0
) -> list[Found]:
    """Every event of an archive."""
    return list(
        read_archive(
            str(path), scheme=SCHEME, limits=limits or Limits(), start=start, doubt=doubt,
            clock=lambda: NOW,
        )
    )  # fmt: skip


def sha1(data: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()


def html(text: str) -> bytes:
    return f"<!doctype html><html><body><p>{text}</p></body></html>".encode()


def http(
    body: bytes,
    content_type: str | None = "text/html; charset=utf-8",
    *fields: str,
    status: int = 200,
    end: str = "\r\n",
) -> bytes:
    """An HTTP response as it came over the wire."""
    lines = [f"HTTP/1.1 {status} Fine"]
    lines += [f"Content-Type: {content_type}"] if content_type is not None else []
    return (end.join([*lines, *fields]) + end + end).encode() + body


def record(
    kind: str,
    url: str | None,
    block: bytes,
    *fields: str,
    version: str = "1.0",
    content_type: str | None = None,
    date: str | None = DATE,
    length: int | None = None,
    end: str = "\r\n",
    digest: bool = True,
) -> bytes:
    """A WARC record; `length` may lie."""
    http_type = f"application/http; msgtype={'request' if kind == 'request' else 'response'}"
    lines = [f"WARC/{version}", f"WARC-Type: {kind}", "WARC-Record-ID: <urn:uuid:0-0-0>"]
    lines += [f"WARC-Target-URI: {url}"] if url is not None else []
    lines += [f"WARC-Date: {date}"] if date is not None else []
    lines += [f"WARC-Block-Digest: {sha1(block)}"] if digest else []
    lines += [f"Content-Type: {content_type or http_type}", *fields]
    lines += [f"Content-Length: {len(block) if length is None else length}"]
    return (end.join(lines) + end + end).encode() + block + (end + end).encode()


def response(url: str, body: bytes = b"", *fields: str, **options: object) -> bytes:
    """A response record that holds an HTML page."""
    return record("response", url, http(body or html(url)), *fields, **options)  # type: ignore[arg-type]


def info(version: str = "1.0") -> bytes:
    block = b"software: zoo\r\n"
    return record("warcinfo", None, block, version=version, content_type="application/warc-fields")


def request(url: str) -> bytes:
    return record("request", url, b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")


def url(number: int) -> str:
    return f"http://site{number % 3}.test/page/{number}"


def crawl(pages: int = 4, version: str = "1.0") -> list[bytes]:
    """The records of a small sound crawl: an information, then requests and responses."""
    records = [info(version)]
    for number in range(pages):
        records += [request(url(number)), response(url(number), version=version)]
    return records


def arc_record(url: str, block: bytes, kind: str = "text/html", length: int | None = None) -> bytes:
    size = len(block) if length is None else length
    return f"{url} 192.0.2.7 20200203040506 {kind} {size}\n".encode() + block + b"\n"


def arc(urls: Iterable[str]) -> list[bytes]:
    block = b"1 0 zoo\nURL IP-address Archive-date Content-type Archive-length\n"
    head = arc_record("filedesc://zoo.arc", block, "text/plain")
    dns = arc_record("dns:a.test", b"20200203040506\na.test. 5 IN A 192.0.2.7\n", "text/dns")
    return [head, dns, *(arc_record(url, http(html(url))) for url in urls)]


# Containers: what is done with a list of records.


def plain(records: Iterable[bytes]) -> bytes:
    return b"".join(records)


def member_each(records: Iterable[bytes]) -> bytes:
    return b"".join(gzip.compress(data, mtime=0) for data in records)


def one_member(records: Iterable[bytes]) -> bytes:
    return gzip.compress(b"".join(records), mtime=0)


def members_anywhere(records: Iterable[bytes]) -> bytes:
    """Members that end in the middle of records."""
    data = b"".join(records)
    return b"".join(gzip.compress(data[at : at + 777], mtime=0) for at in range(0, len(data), 777))


def two_to_a_member(records: Iterable[bytes]) -> bytes:
    """The first record alone, then two records to a member."""
    first, *rest = records
    pairs = [b"".join(rest[at : at + 2]) for at in range(0, len(rest), 2)]
    return member_each([first, *pairs])


def frame_each(records: Iterable[bytes]) -> bytes:
    return b"".join(zstandard.compress(data) for data in records)


def one_frame(records: Iterable[bytes]) -> bytes:
    return zstandard.compress(b"".join(records))


@cache
def _dictionary() -> zstandard.ZstdCompressionDict:
    samples = [response(url(number)) * 3 for number in range(64)]
    return zstandard.train_dictionary(2048, samples)


def with_dictionary(records: Iterable[bytes], packed: bool = False) -> bytes:
    words = _dictionary()
    content = zstandard.compress(words.as_bytes()) if packed else words.as_bytes()
    frame = b"\x5d\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content
    packer = zstandard.ZstdCompressor(dict_data=words, write_checksum=True)
    return frame + b"".join(packer.compress(data) for data in records)


def with_packed_dictionary(records: Iterable[bytes]) -> bytes:
    return with_dictionary(records, packed=True)


def wacz(data: bytes, stored: bool = True, name: str = "archive/data.warc.gz") -> bytes:
    out = io.BytesIO()
    how = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(out, "w", how) as package:
        package.writestr("datapackage.json", "{}")
        package.writestr(name, data)
        package.writestr("pages/pages.jsonl", "{}\n")
    return out.getvalue()


CONTAINERS: dict[str, Callable[[Iterable[bytes]], bytes]] = {
    "warc": plain,
    "warc.gz": member_each,
    "warc.gz of one member": one_member,
    "warc.gz of members anywhere": members_anywhere,
    "warc.gz of two to a member": two_to_a_member,
    "warc.zst": frame_each,
    "warc.zst of one frame": one_frame,
    "warc.zst with dictionary": with_dictionary,
    "warc.zst with packed dictionary": with_packed_dictionary,
}


@dataclass(frozen=True, slots=True)
class Specimen:
    """An archive and what is in it: pages by URL, skips by kind, damages by reason."""

    data: bytes
    pages: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)
    damages: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)


def seen(events: Iterable[Found]) -> tuple[tuple[str, ...], dict[str, int], tuple[str, ...]]:
    """Events as a specimen says them."""
    events = list(events)
    return (
        tuple(event.page.url for event in events if event.page),
        dict(Counter(event.skipped for event in events if event.skipped)),
        tuple(event.damage.reason for event in events if event.damage),
    )


A, B, C = url(0), url(1), url(2)
_SMALL = Limits(max_body_bytes=4096, max_record_bytes=20_000, max_header_bytes=4096)


def around(bad: bytes, pack: Callable[[Iterable[bytes]], bytes] = member_each) -> bytes:
    """A sound record, a bad one, a sound one."""
    return pack([response(A), bad, response(C)])


def encoded(body: bytes, encoding: str) -> bytes:
    return record("response", B, http(body, "text/html", f"Content-Encoding: {encoding}"))


def chunked(body: bytes) -> bytes:
    return record("response", B, http(body, "text/html", "Transfer-Encoding: chunked"))


def bad(data: bytes, reason: str, limits: Limits | None = None) -> Specimen:
    """What is between two pages is damaged."""
    return Specimen(data, (A, C), {}, (reason,), limits or Limits())


def fine(data: bytes) -> Specimen:
    """What is between two pages is a page."""
    return Specimen(around(data), (A, B, C))


def skipped(data: bytes, kind: str) -> Specimen:
    """What is between two pages is none."""
    return Specimen(around(data), (A, C), {kind: 1})


PAGE = html("copied words " * 20)
_MEMBER = gzip.compress(response(B, html("x" * 400)), mtime=0)
_RIGHT_ENCODINGS = {
    "gzip": gzip.compress(PAGE),
    "x-gzip": gzip.compress(PAGE),
    "deflate": zlib.compress(PAGE),
    "br": brotli.compress(PAGE),
    "zstd": zstandard.compress(PAGE),
    "gzip, br": brotli.compress(gzip.compress(PAGE)),
    "GZIP": gzip.compress(PAGE),
}
_BOMB = gzip.compress(bytes(1 << 20))

SOUND: dict[str, Specimen] = {
    **{
        f"{name}, version {version}": Specimen(
            pack(crawl(4, version)), tuple(map(url, range(4))), {"warcinfo": 1, "request": 4}
        )
        for name, pack in CONTAINERS.items()
        for version in ("0.18", "1.0", "1.1")
    },
    "arc": Specimen(plain(arc([A, B])), (A, B), {"filedesc": 1, "dns": 1}),
    "arc.gz": Specimen(member_each(arc([A, B])), (A, B), {"filedesc": 1, "dns": 1}),
    "arc.gz of one member": Specimen(one_member(arc([A, B])), (A, B), {"filedesc": 1, "dns": 1}),
    "arc with a space in a URL": Specimen(
        plain(arc([A, B + "?a b", C])), (A, B + "?a b", C), {"filedesc": 1, "dns": 1}
    ),
    "wacz": Specimen(wacz(member_each(crawl(2))), (url(0), url(1)), {"warcinfo": 1, "request": 2}),
    "wacz of deflated members": Specimen(
        wacz(member_each(crawl(2)), stored=False), (url(0), url(1)), {"warcinfo": 1, "request": 2}
    ),
    **{
        f"content encoding {name}": fine(encoded(data, name))
        for name, data in _RIGHT_ENCODINGS.items()
    },
    "records of one size, two to a member": Specimen(
        two_to_a_member([response(url(number)) for number in range(7)]), tuple(map(url, range(7)))
    ),
    "records of one size": Specimen(
        member_each(response(url(number)) for number in range(30)), tuple(map(url, range(30)))
    ),
    "raw deflate": fine(encoded(zlib.compress(PAGE, wbits=-15), "deflate")),
    "decoded, header left": fine(encoded(PAGE, "gzip")),
    "decoded, brotli header left": fine(encoded(PAGE, "br")),
    "unknown encoding of text": fine(encoded(PAGE, "UTF-8")),
    "gzip that no header tells": fine(record("response", B, http(gzip.compress(PAGE)))),
    "no body, encoding gzip": fine(encoded(b"", "gzip")),
    "chunked": fine(chunked(b"4\r\n<p>a\r\n3;x=y\r\nbcd\r\n0\r\n\r\n")),
    "chunked, dechunked already": fine(chunked(PAGE)),
    "LF only": fine(record("response", B, http(PAGE, end="\n"), end="\n")),
    "no HTTP fields": fine(record("response", B, b"HTTP/1.0 200 OK\r\n\r\n" + PAGE)),
    "angle brackets around the URL": fine(response(f"<{B}>").replace(b"<http", b"<http", 1)),
    "no content type, but HTML": fine(record("response", B, http(PAGE, None))),
    "a resource": fine(record("resource", B, PAGE, content_type="text/html")),
    "a WET": fine(record("conversion", B, b"copied words", content_type="text/plain")),
    "XHTML": fine(record("response", B, http(PAGE, "application/xhtml+xml"))),
    "plain text": fine(record("response", B, http(b"words", "Text/Plain"))),
    "an error page": fine(record("response", B, http(PAGE, status=404))),
    "an empty page": fine(record("response", B, http(b""))),
    "payload digest": fine(
        record("response", B, http(PAGE), f"WARC-Payload-Digest: {sha1(PAGE)}", digest=False)
    ),
    "payload digest of another body, right block": fine(
        record("response", B, http(PAGE), f"WARC-Payload-Digest: {sha1(b'')}")
    ),
    "payload digest of the decoded body": fine(
        record(
            "response",
            B,
            http(gzip.compress(PAGE), "text/html", "Content-Encoding: gzip"),
            f"WARC-Payload-Digest: {sha1(PAGE)}",
            digest=False,
        )
    ),
    "unknown digest": fine(
        record("response", B, http(PAGE), "WARC-Block-Digest: blake3:00", digest=False)
    ),
    "a record in a record": fine(response(B, html("x") + b"\r\n" + response(C))),
    "an image": skipped(record("response", B, http(b"\x89PNG\r\n", "image/png")), "content-type"),
    "no content type, no HTML": skipped(
        record("response", B, http(b"\x00\x01", None)), "content-type"
    ),
    "metadata": skipped(record("metadata", B, b"a: b"), "metadata"),
    "a continuation": skipped(record("continuation", B, b"rest"), "continuation"),
    "a type of its own": skipped(record("gossip", B, b"rest"), "unknown"),
    "dns": skipped(record("resource", "dns:a.test", b"x", content_type="text/dns"), "dns"),
    "a urn": skipped(
        record("resource", "urn:text:" + B, b"x", content_type="text/plain"), "other-scheme"
    ),
}

DAMAGED: dict[str, Specimen] = {
    "an empty file": Specimen(b"", damages=("empty-file",)),
    "a page named an archive": Specimen(PAGE, damages=("not-an-archive",)),
    "a gzipped page named an archive": Specimen(gzip.compress(PAGE), damages=("not-an-archive",)),
    "a zip without archives": Specimen(wacz(b"", name="other/x"), damages=("not-an-archive",)),
    "a broken zip": Specimen(wacz(member_each(crawl()))[:-40], damages=("corrupt",)),
    "noise": Specimen(bytes(range(1, 256)) * 40, damages=("not-an-archive",)),
    "a member cut short": bad(
        member_each([response(A)]) + _MEMBER[:-60] + member_each([response(C)]), "corrupt"
    ),
    "a member without trailer": bad(
        member_each([response(A)]) + _MEMBER[:-8] + member_each([response(C)]), "corrupt"
    ),
    "the file ends in a member": Specimen(
        member_each([response(A)]) + _MEMBER[:-30], (A,), {}, ("truncated",)
    ),
    "the file ends without its trailer": Specimen(
        member_each([response(A)]) + _MEMBER[:-8], (A,), {}, ("truncated",)
    ),
    "one member ends too early": Specimen(
        one_member([response(A), response(B)])[:-8], (A, B), {}, ("truncated",)
    ),
    "one member ends in a record": Specimen(
        gzip.compress(response(A) + response(B)[:-99])[:-8], (A,), {}, ("truncated",)
    ),
    "the file ends in a record": Specimen(
        response(A) + response(B)[:-30], (A,), {}, ("truncated",)
    ),
    "garbage between members": bad(
        member_each([response(A)]) + b"\x00garbage\r\n" * 9 + member_each([response(C)]), "garbage"
    ),
    "a member of garbage as long as a record": bad(around(b"V" + response(B)[1:]), "garbage"),
    "a member of garbage": bad(around(b"garbage\r\n\r\n"), "garbage"),
    "garbage between records": bad(
        plain([response(A), b"gar\r\nbage\r\n", response(C)]), "garbage"
    ),
    "garbage between records of one member": bad(
        one_member([response(A), b"gar\r\nbage\r\n", response(C)]), "garbage"
    ),
    "garbage before the first": Specimen(
        b"garbage\r\n" + plain([response(A), response(C)]), (A, C), {}, ("garbage",)
    ),
    **{
        f"a length {delta:+}, {name}": bad(
            around(_lying, pack),
            "bad-length",
        )
        for delta in (-20, 20, 700, 10**9, 10**14)
        for _lying in [response(B, length=len(http(html(B))) + delta)]
        for name, pack in CONTAINERS.items()
        if "anywhere" not in name and "two" not in name
    },
    "a length that swallows the next record": Specimen(
        plain(
            [
                response(A),
                response(B, length=len(http(html(B))) + 4 + len(response(C)) - 4),
                response(C),
                response(url(3)),
            ]
        ),
        (A, C, url(3)),
        {},
        ("wrong-digest",),
    ),
    "no length": bad(
        around(response(B).replace(b"Content-Length: ", b"Content-Langth: ")), "bad-header"
    ),
    "a negative length": bad(around(response(B, length=-5)), "bad-header"),
    "a wrong digest": bad(around(response(B).replace(b"<p>", b"<P>")), "wrong-digest"),
    "a wrong digest, plain": bad(
        around(response(B).replace(b"<p>", b"<P>"), plain), "wrong-digest"
    ),
    "a wrong payload digest": bad(
        around(
            record("response", B, http(PAGE), f"WARC-Payload-Digest: {sha1(b'x')}", digest=False)
        ),
        "wrong-digest",
    ),
    "no status line": bad(around(record("response", B, b"Hello\r\n\r\n" + PAGE)), "bad-http"),
    "a status of letters": bad(
        around(record("response", B, b"HTTP/1.1 OK\r\n\r\n" + PAGE)), "bad-http"
    ),
    "a head without end": bad(
        around(record("response", B, b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20_000)), "bad-http"
    ),
    "a chunk too long": bad(
        around(chunked(b"4\r\n<p>a\r\nffff\r\nbcd\r\n0\r\n\r\n")), "bad-chunks"
    ),
    "a chunk without size": bad(around(chunked(b"4\r\n<p>a\r\nzz\r\nbcd")), "bad-chunks"),
    "an unknown encoding": bad(
        around(encoded(gzip.compress(PAGE)[5:], "rot13")), "unknown-encoding"
    ),
    "a lying encoding": bad(around(encoded(bytes(range(256)), "gzip")), "bad-encoding"),
    "brotli that is none": bad(around(encoded(bytes(range(256)), "br")), "bad-encoding"),
    "half a gzip body": bad(around(encoded(gzip.compress(PAGE)[:-20], "gzip")), "bad-encoding"),
    "half a brotli body": bad(around(encoded(brotli.compress(PAGE)[:-5], "br")), "bad-encoding"),
    "half a zstd body": bad(around(encoded(zstandard.compress(PAGE)[:-5], "zstd")), "bad-encoding"),
    "three encodings": bad(
        around(encoded(gzip.compress(gzip.compress(gzip.compress(PAGE))), "gzip, gzip, gzip")),
        "nested-encodings",
    ),
    "three encodings, two of them said": bad(
        around(encoded(gzip.compress(gzip.compress(gzip.compress(PAGE))), "gzip, gzip")),
        "nested-encodings",
    ),
    "a gzip bomb": bad(around(encoded(_BOMB, "gzip")), "too-large", _SMALL),
    "a gzip bomb in gzip": bad(around(encoded(gzip.compress(_BOMB), "gzip")), "too-large", _SMALL),
    "a deflate bomb": bad(
        around(encoded(zlib.compress(bytes(1 << 20)), "deflate")), "too-large", _SMALL
    ),
    "a brotli bomb": bad(
        around(encoded(brotli.compress(bytes(1 << 20)), "br")), "too-large", _SMALL
    ),
    "a zstd bomb": bad(
        around(encoded(zstandard.compress(bytes(1 << 20)), "zstd")), "too-large", _SMALL
    ),
    "a member that is a bomb": bad(around(response(B)[:-4] + bytes(1 << 20)), "too-large", _SMALL),
    "a frame that is a bomb": bad(
        around(response(B)[:-4] + bytes(1 << 20), frame_each), "too-large", _SMALL
    ),
    "no URL": bad(around(record("response", None, http(PAGE))), "bad-url"),
    "a URL without host": bad(around(response("http:///x")), "bad-url"),
    "a URL too long": bad(around(response(B + "x" * 20_000)), "bad-url"),
    "an arc record with a wrong length": Specimen(
        plain([*arc([A]), arc_record(B, http(PAGE), length=9), *arc([C])[2:]]),
        (A, C),
        {"filedesc": 1, "dns": 1},
        ("bad-length",),
    ),
    "a frame cut short": bad(
        frame_each([response(A)])
        + zstandard.compress(response(B, html("x" * 400)))[:-9]
        + frame_each([response(C)]),
        "corrupt",
    ),
    "a broken dictionary": Specimen(
        with_dictionary([response(A)]).replace(_dictionary().as_bytes()[8:200], b"\x00" * 192),
        damages=("not-an-archive",),
    ),
    "the file ends in a frame": Specimen(
        frame_each([response(A), response(B)])[:-9], (A,), {}, ("truncated",)
    ),
}

ZOO = SOUND | DAMAGED
