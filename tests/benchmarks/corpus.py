"""The archive that is replayed: documents over several sites, and copies planted among them.

One gzip member a record, with digests, as crawlers write it. Written once: its name is made of
what is in it.
"""

from __future__ import annotations

import gzip
from base64 import b32encode
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import msgspec
import xxhash

from tests.benchmarks.documents import Document, versions

_FORMAT = b"3"
_SITES = 24
_BEGIN = datetime(2026, 3, 2, 6, 0, tzinfo=UTC)
# Of ten documents, one is mirrored as it is, and one with the same words in another file.
_EVERY = 10
# Of all pages, so many are the beginning.
_BEGINNING = 5
# How many pages later a copy comes.
_LATER = 50


@dataclass(frozen=True, slots=True)
class Facts:
    """What a corpus holds, for the results."""

    kind: str
    packages: dict[str, str]
    pages: int
    copies: int
    begun: int
    sites: int
    html_bytes: int
    archive_bytes: int


@dataclass(frozen=True, slots=True)
class Corpus:
    """An archive, and two that hold its first page alone and its first fifth.

    The one is what a run costs before any page; the other also what it costs until the tables of
    the detectors are in memory.
    """

    archive: Path
    first: Path
    begun: Path
    facts: Facts


@dataclass(frozen=True, slots=True)
class Response:
    """A page as it is served."""

    url: str
    body: bytes
    is_copy: bool = False


def build(found: Sequence[Document], directory: Path) -> Corpus:
    """The corpus of these documents, written unless it is there."""
    identity = _identity(found)
    archive = directory / f"corpus-{identity}.warc.gz"
    first = directory / f"corpus-{identity}-first.warc.gz"
    begun = directory / f"corpus-{identity}-begun.warc.gz"
    noted = directory / f"corpus-{identity}.json"
    if not noted.exists():
        directory.mkdir(parents=True, exist_ok=True)
        served = list(responses(found))
        write(served, archive)
        write(served[:1], first)
        write(served[: _begun(served)], begun)
        noted.write_bytes(msgspec.json.encode(asdict(_facts(found, served, archive))))
    return Corpus(archive, first, begun, msgspec.json.decode(noted.read_bytes(), type=Facts))


def _identity(found: Sequence[Document]) -> str:
    digest = xxhash.xxh3_64(_FORMAT)
    for document in found:
        digest.update(f"{document.package}\n{document.path}\n".encode())
        digest.update(document.html)
    return digest.hexdigest()


def _begun(served: Sequence[Response]) -> int:
    return max(1, len(served) // _BEGINNING)


def _facts(found: Sequence[Document], served: Sequence[Response], archive: Path) -> Facts:
    generated = any(document.package == "generated" for document in found)
    return Facts(
        kind="generated pages" if generated else "Debian documentation",
        packages=versions(found),
        pages=len(served),
        copies=sum(page.is_copy for page in served),
        begun=_begun(served),
        sites=len(Counter(page.url.split("/")[2] for page in served)),
        html_bytes=sum(len(page.body) for page in served),
        archive_bytes=archive.stat().st_size,
    )


def responses(found: Sequence[Document]) -> Iterator[Response]:
    """The pages in the order of their fetches; a copy stands on another site than its original."""
    waiting: list[tuple[int, Response]] = []
    for number, document in enumerate(found):
        yield Response(_url(number % _SITES, document), document.html)
        site = (number + 1 + number // _SITES) % _SITES
        site = (site + (site == number % _SITES)) % _SITES
        if number % _EVERY == 0:
            waiting.append((number, Response(_url(site, document), document.html, True)))
        elif number % _EVERY == _EVERY // 2:
            stamped = document.html + b"<!-- served by a mirror -->\n"
            waiting.append((number, Response(_url(site, document), stamped, True)))
        if waiting and waiting[0][0] + _LATER <= number:
            yield waiting.pop(0)[1]
    yield from (page for _, page in waiting)


def _url(site: int, document: Document) -> str:
    return f"https://www.site-{site:02d}.example/{document.package}/{document.path}"


def write(pages: Iterable[Response], path: Path, *, since: int = 0, level: int = 9) -> None:
    """An archive of these pages, a second from one to the next, after so many seconds."""
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        for number, page in enumerate(pages, since):
            file.write(
                gzip.compress(_record(page, _BEGIN + timedelta(seconds=number)), level, mtime=0)
            )
    partial.replace(path)


def _record(page: Response, at: datetime) -> bytes:
    """A response record (WARC 1.1, §6.3)."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
    block = head + page.body
    fields = {
        "WARC-Type": "response",
        "WARC-Record-ID": f"<{uuid5(NAMESPACE_URL, page.url).urn}>",
        "WARC-Target-URI": page.url,
        "WARC-Date": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "WARC-Payload-Digest": _digest(page.body),
        "WARC-Block-Digest": _digest(block),
        "Content-Type": "application/http; msgtype=response",
        "Content-Length": str(len(block)),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"WARC/1.1\r\n{lines}\r\n".encode() + block + b"\r\n\r\n"


def _digest(data: bytes) -> str:
    return f"sha1:{b32encode(sha1(data, usedforsecurity=False).digest()).decode()}"
