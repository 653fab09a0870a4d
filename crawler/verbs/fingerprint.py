"""The verb `fingerprint`: what is known of pages in files or archives, for people and scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reusewatch.crawler.archives.reading import read_archive
from reusewatch.crawler.replaying.files import document_of_file
from reusewatch.crawler.replaying.jobs import now
from reusewatch.crawler.replaying.sources import expand, is_archive
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams import kernels
from reusewatch.streams.console import fail, harmless, print_json, print_line, say
from reusewatch.streams.documents import document_of
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs.options import JsonOption, with_settings

if TYPE_CHECKING:
    from reusewatch.detector.sketching.fingerprint import Document
    from reusewatch.streams.verbs.fingerprint_view import FingerprintView

_TERMS = 12


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "fingerprint",
        help="Everything that is known of a page: words, blocks, links, all sketches.\n\n"
        "Example: reusewatch fingerprint page.html\n\n"
        "Example: reusewatch fingerprint crawl.warc.gz --url https://example.org/ --json",
    )(fingerprint)


@with_settings("chunks")
def fingerprint(
    settings: Settings,
    paths: Annotated[list[str], typer.Argument(metavar="FILE…", help="Pages, or archives.")],
    url: Annotated[
        str | None,
        typer.Option("--url", metavar="URL", help="The page in an archive; where a file stood."),
    ] = None,
    words: Annotated[bool, typer.Option("--words", help="The words, in order.")] = False,
    json: JsonOption = False,
) -> None:
    """Show fingerprints."""
    scheme = settings.scheme
    kernels.prepare(say, pages=True)
    from reusewatch.streams.verbs.fingerprint_view import view_of

    count, damaged = 0, Counter[str]()
    for document in _documents(paths, url, scheme, damaged):
        count += 1
        view = view_of(document, scheme, words=words, chunks=settings.chunks)
        if json:
            print_json(view)
        else:
            _print(view)
    _fail_for_what_is_missing(count, damaged, paths, url)


def _fail_for_what_is_missing(
    count: int, damaged: Counter[str], paths: list[str], url: str | None
) -> None:
    """A page that was named and is not there is wrong usage; archives that lack one are not."""
    names = ", ".join(f"{name} ({times})" for name, times in damaged.items())
    broken = f"damaged records were left out: {names}" if damaged else ""
    if url and not count:
        fail(f"no page of {url} in {', '.join(paths)}" + (f"; {broken}" if broken else ""), 2)
    if not count:
        fail("no page in these archives" + (f"; {broken}" if broken else ""), 1)
    if broken and not url:
        fail(broken, 1)


def _documents(
    paths: list[str], url: str | None, scheme: HashScheme, damaged: Counter[str]
) -> Iterator[Document]:
    for path in paths:
        if Path(path).is_file() and not is_archive(path):
            yield document_of_file(Path(path), url, scheme)
            continue
        for source in expand([path]):
            yield from _archived(source.name, url, scheme, damaged)


def _archived(
    name: str, url: str | None, scheme: HashScheme, damaged: Counter[str]
) -> Iterator[Document]:
    for found in read_archive(name, scheme=scheme, clock=now):
        page = found.page
        if found.damage:
            damaged[name] += 1
        if page is None or page.revisit_of is not None or url not in (None, page.url):
            continue
        yield document_of(page)


def _print(view: FingerprintView) -> None:
    facts = {
        "page": view.url,
        "title": view.title or "-",
        "charset": view.charset,
        "words": f"{view.tokens:,}" + (" (cut at the limit)" if view.truncated else ""),
        "file": view.file_hash,
        "words as one": view.identity_hash,
        "supershingles 5": " ".join(view.supershingles["k5"]),
        "supershingles 8": " ".join(view.supershingles["k8"]),
        "simhash": view.simhash,
        "links": f"{len(view.links)}, {sum(not x.same_site for x in view.links)} off the site",
        "heaviest terms": ", ".join(f"{x.term} {x.weight:g}" for x in view.terms[:_TERMS]) or "-",
        "scheme": view.scheme,
    }
    for name, value in facts.items():
        print_line(f"{name:16} {harmless(value)}")
    if view.words is not None:
        print_line(f"{'in order':16} {harmless(' '.join(view.words))}")
    for block in view.blocks:
        print_line(f"¶ {block.chunk} bytes {block.start}–{block.end}")
        for line in block.text.splitlines():
            print_line(f"  {harmless(line)}")
    print_line()
