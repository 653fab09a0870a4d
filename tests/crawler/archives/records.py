"""Records of WARC and ARC files, written byte by byte and not by a library, so that every part of
them can be wrong on purpose.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable

DATE = "2020-02-03T04:05:06Z"


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
