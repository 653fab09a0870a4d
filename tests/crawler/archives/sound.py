"""Archives in which nothing is wrong, however unusual they are."""

from __future__ import annotations

import gzip
import zlib

import brotli
import zstandard

from tests.crawler.archives.containers import (
    CONTAINERS,
    member_each,
    one_member,
    plain,
    two_to_a_member,
    wacz,
)
from tests.crawler.archives.records import arc, crawl, html, http, record, response, sha1, url
from tests.crawler.archives.specimens import (
    PAGE,
    A,
    B,
    C,
    Specimen,
    chunked,
    encoded,
    fine,
    skipped,
)

_RIGHT_ENCODINGS = {
    "gzip": gzip.compress(PAGE),
    "x-gzip": gzip.compress(PAGE),
    "deflate": zlib.compress(PAGE),
    "br": brotli.compress(PAGE),
    "zstd": zstandard.compress(PAGE),
    "gzip, br": brotli.compress(gzip.compress(PAGE)),
    "GZIP": gzip.compress(PAGE),
}

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
