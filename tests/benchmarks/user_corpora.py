"""What a user replays: several archives of real pages, with so many near-copies among them.

The documents of each package stand on a site of their own, as they do on the web, and a share of
all pages are copies on mirrors, with a few words changed, long after their originals: each is read
again for its evidence. Pages of one site are alike in their template. Seeded, and written once.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Literal

import msgspec
import xxhash

from tests.benchmarks.corpus import Response, write
from tests.benchmarks.documents import Document, Kind, documents
from tests.benchmarks.made_up_web import Web
from tests.corpora import JAVA_17, POSTGRES_15, PYTHON_311, RUST_163, Package, pages

Size = Literal["15k", "27k"]
# Which documents make pages of about this size on average.
_SOURCES: dict[Size, tuple[tuple[Package, ...], int, int]] = {
    "15k": ((RUST_163, JAVA_17), 2_000, 150_000),
    "27k": ((JAVA_17, POSTGRES_15, PYTHON_311), 8_000, 110_000),
}
_FORMAT = b"2"
_SEED = 2026
_ARCHIVES = 4
_LATER = 1500
# Of short pages a few changed words are much: these would be near-copies for no detector.
_CHANGED, _LONG = 3, 20_000
_LEAST_COPIED = 8_000
COPIED: Mapping[float, float] = {0.0: 0.0, 0.06: 0.04, 0.3: 0.25}
"""Of the near-duplicates that are wanted among 20 000 pages of 15 kB, the share to copy: a copy is
near the pages that its original is near, too. With the last, 23 % are near-duplicates, and 29 %
have an alert about another page."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a corpus holds, for the results."""

    size: str
    pages: int
    copies: int
    html_bytes: int
    archive_bytes: int

    @property
    def bytes_per_page(self) -> float:
        """On average."""
        return self.html_bytes / self.pages


@dataclass(frozen=True, slots=True)
class UserCorpus:
    """Its archives, one that holds its first page alone, and some of the documents."""

    archives: tuple[str, ...]
    first: str
    facts: Facts


@cache
def of_size(size: Size, kind: Kind, count: int) -> Sequence[Document]:
    """So many documents of this size, in an order that mixes packages."""
    if kind == "generated":
        return documents(kind, count)
    packages, least, most = _SOURCES[size]
    found = [
        Document(package.name, path, html)
        for package in packages
        for path, html in pages(package).items()
        if least <= len(html) <= most and not _is_list(path)
    ]
    random.Random(_SEED).shuffle(found)
    return found[:count]


def _is_list(path: str) -> bool:
    """Pages of Java's documentation that say where a name is used, and no word else."""
    return "/class-use/" in path or path.endswith(("package-use.html", "package-tree.html"))


def user_corpus(directory: Path, size: Size, kind: Kind, count: int, copied: float) -> UserCorpus:
    """About so many pages, of which this share are near-copies."""
    digest = xxhash.xxh3_64(_FORMAT + f"{size} {kind} {count} {copied}".encode())
    stem = f"user-{size}-{round(copied * 100)}-{digest.hexdigest()}"

    def served() -> Iterator[Response]:
        originals = max(1, round(count * (1 - copied)))
        return responses(of_size(size, kind, count)[:originals], count - originals)

    return _written(directory, stem, size, count, served)


def made_up(directory: Path, count: int) -> UserCorpus:
    """So many pages of a web that is made up, of any number."""
    web = Web()
    return _written(directory, f"web-{count}", "made", count, lambda: web.pages(count), level=1)


def _written(
    directory: Path,
    stem: str,
    size: str,
    count: int,
    served: Callable[[], Iterator[Response]],
    level: int = 9,
) -> UserCorpus:
    names = [directory / f"{stem}-{number}.warc.gz" for number in range(_ARCHIVES)]
    first, noted = directory / f"{stem}-first.warc.gz", directory / f"{stem}.json"
    if not noted.exists():
        seen = Seen()
        pages, share = seen.watch(served()), -(-count // _ARCHIVES)
        for number, name in enumerate(names):
            write(islice(pages, share), name, since=number * share, level=level)
        write(islice(served(), 1), first)
        facts = Facts(
            size=size,
            pages=seen.pages,
            copies=seen.copies,
            html_bytes=seen.html_bytes,
            archive_bytes=sum(name.stat().st_size for name in names),
        )
        noted.write_bytes(msgspec.json.encode(facts))
    known = msgspec.json.decode(noted.read_bytes(), type=Facts)
    return UserCorpus(tuple(map(str, names)), str(first), known)


@dataclass(slots=True)
class Seen:
    """What went by."""

    pages: int = 0
    copies: int = 0
    html_bytes: int = 0

    def watch(self, served: Iterator[Response]) -> Iterator[Response]:
        """The same, counted."""
        for page in served:
            self.pages += 1
            self.copies += page.is_copy
            self.html_bytes += len(page.body)
            yield page


def responses(found: Sequence[Document], copies: int) -> Iterator[Response]:
    """The documents, and so many near-copies of them, spread evenly."""
    long = [one for one in found if len(one.html) >= _LEAST_COPIED] or found
    chosen = long[: min(copies, len(long))]
    copied = {(one.package, one.path) for one in chosen}
    waiting: list[tuple[int, Response]] = []
    for number, document in enumerate(found):
        yield Response(f"https://{document.package}.example/{document.path}", document.html)
        if (document.package, document.path) in copied:
            url = f"https://www.mirror-{number % 24:02d}.example/{document.package}/{document.path}"
            waiting.append((number, Response(url, changed(document.html), True)))
        while waiting and waiting[0][0] + _LATER <= number:
            yield waiting.pop(0)[1]
    yield from (page for _, page in waiting)


def changed(html: bytes) -> bytes:
    """The page with a few words changed, from its midst on."""
    middle, most = len(html) // 2, _CHANGED if len(html) >= _LONG else 1
    made = html[:middle] + html[middle:].replace(b" the ", b" another ", most)
    if made != html:
        return made
    return html[:middle] + html[middle:].replace(b"</p>", b" mirrored</p>", 1)
