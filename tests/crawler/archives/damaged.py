"""Archives with damage, each with the reason that its reader has to name."""

from __future__ import annotations

import gzip
import zlib

import brotli
import zstandard

from reusewatch.crawler.archives.reading import Limits
from tests.crawler.archives.containers import (
    CONTAINERS,
    dictionary,
    frame_each,
    member_each,
    one_member,
    plain,
    wacz,
    with_dictionary,
)
from tests.crawler.archives.records import (
    arc,
    arc_record,
    crawl,
    html,
    http,
    record,
    response,
    sha1,
    url,
)
from tests.crawler.archives.specimens import PAGE, A, B, C, Specimen, around, bad, chunked, encoded

_MEMBER = gzip.compress(response(B, html("x" * 400)), mtime=0)
_BOMB = gzip.compress(bytes(1 << 20))
_SMALL = Limits(max_body_bytes=4096, max_record_bytes=20_000, max_header_bytes=4096)

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
        around(encoded(gzip.compress(PAGE, mtime=0)[5:], "rot13")), "unknown-encoding"
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
        with_dictionary([response(A)]).replace(dictionary().as_bytes()[8:200], b"\x00" * 192),
        damages=("not-an-archive",),
    ),
    "the file ends in a frame": Specimen(
        frame_each([response(A), response(B)])[:-9], (A,), {}, ("truncated",)
    ),
}
