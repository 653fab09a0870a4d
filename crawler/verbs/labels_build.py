"""The verb `labels build`: known content, from wherever it is stored, into a label pack (Ardi,
Heidemann 2014, §3.2: the informed dataset).

Pages are read once and kept in no memory; what they hash to is sorted on disk. An error page is
nobody's content, and a revisit brings none: both are left out.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reusewatch.crawler.errors import SourceError
from reusewatch.crawler.pages.found import Found, Limits
from reusewatch.crawler.replaying.jobs import now
from reusewatch.crawler.replaying.sources import expand, is_archive, tree_pages
from reusewatch.crawler.verbs.fingerprint import document_of
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.format import MAGIC, Label, Severity
from reusewatch.streams import kernels
from reusewatch.streams.console import fail, say
from reusewatch.streams.records import FINE
from reusewatch.streams.running.topology import stop_list
from reusewatch.streams.settings import Settings
from reusewatch.streams.urls import place
from reusewatch.streams.verbs.labels import app, opened, show_summary
from reusewatch.streams.verbs.options import ConfigOption, JsonOption, settings

if TYPE_CHECKING:
    from reusewatch.detector.labels.building import BuildReport, LabelBuilder, Progress
    from reusewatch.detector.sketching.chunks import Unit
    from reusewatch.detector.sketching.fingerprint import Document

_BATCH_PAGES, _BATCH_BYTES = 64, 8 << 20
_SAY_SECONDS = 5.0
_NAMED = 3
_SEVERITIES: tuple[Severity, ...] = ("info", "warning", "critical")


def register() -> None:
    """Add the verb to those of `streams.verbs.labels`."""
    app.command(help=_HELP)(build)


_HELP = (
    "Known content into a label pack: archives (WARC, ARC, WACZ), directories of HTML or text "
    "(DIR or DIR=URL), text files, other packs.\n\n"
    "Example: reusewatch labels build wikipedia dump-*.warc.gz -o wikipedia.pack"
)


def build(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE…")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="PACK")],
    source: Annotated[
        str, typer.Option("--source", metavar="TEXT", help="Where the content is from.")
    ] = "",
    note: Annotated[str, typer.Option("--note", metavar="TEXT")] = "",
    severity: Annotated[
        str, typer.Option("--severity", metavar="LEVEL", help=", ".join(_SEVERITIES))
    ] = "warning",
    min_length: Annotated[
        int, typer.Option("--min-length", metavar="N", help="Chunks up to N characters are none.")
    ] = 100,
    urls: Annotated[
        Path | None,
        typer.Option("--urls", metavar="FILE", help="Of archives only these URLs, one a line."),
    ] = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Build a pack."""
    found = settings(config)
    if severity not in _SEVERITIES:
        fail(f"--severity {severity}: there is {', '.join(_SEVERITIES)}", 2)
    try:
        label = Label(name=name, source=source, note=note, severity=severity)
    except ValueError as error:
        fail(f"labels build: {error}", 2)
    summary = build_pack(
        found, label, sources, output, min_length=min_length, wanted=_urls(urls)
    )  # fmt: skip
    show_summary(summary, json=json)
    if damaged := summary["left_out"].get("damaged"):
        fail(f"{damaged} records were damaged and are not in the pack", 1)
    if not summary["files"] and not summary["distinct"]:
        fail(f"nothing was found to label: {output} is empty, and in force would flag nothing", 1)


def build_pack(
    found: Settings,
    label: Label,
    sources: Sequence[str],
    output: Path,
    *,
    min_length: int = 100,
    wanted: frozenset[str] | None = None,
) -> dict[str, Any]:
    """A pack of everything in the sources; what it came to. Ends the command where it cannot."""
    inputs = [_input(text) for text in sources]
    kernels.prepare(say)
    from reusewatch.detector.labels.building import LabelBuilder
    from reusewatch.streams.labels.matching import all_stop_chunks

    stops = all_stop_chunks(found.scheme, stop_list(found))
    output.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".labels-", dir=output.parent) as spool:
            told = _Told()
            builder = LabelBuilder(Path(spool), found.scheme, min_length=min_length, stops=stops,
                                   progress=told)  # fmt: skip
            with builder:
                limits = Limits(max_body_bytes=found.max_body_bytes)
                reading = _Reading(
                    builder,
                    builder.label(label),
                    found.scheme,
                    limits,
                    wanted,
                    told,
                    found.chunks,
                )
                for one in inputs:
                    reading.take(one)
                report = builder.build(output)
            if missing := reading.missing():
                reading.left_out["not-found"] = len(missing)
                some = ", ".join(missing[:_NAMED]) + (", …" if len(missing) > _NAMED else "")
                say(f"build: no page for {len(missing)} of the listed URLs: {some}")
    except OSError as error:
        fail(f"{error.filename or output}: {error.strerror or error}: the pack was not written", 3)
    except KeyboardInterrupt:
        say(f"interrupted: {output} was not written")
        raise
    return _summary(report, told.pages, reading.left_out)


def _summary(report: BuildReport, pages: int, left_out: Counter[str]) -> dict[str, Any]:
    return {
        "pack": str(report.pack.path),
        "version": report.pack.version,
        "pages": pages,
        "chunks": report.chunks,
        "distinct": report.pack.chunks,
        "short": report.short,
        "stopped": report.stopped,
        "repeated": report.repeated,
        "files": report.pack.files,
        "left_out": dict(sorted(left_out.items())),
        "bytes": report.pack.path.stat().st_size,
    }


def _urls(path: Path | None) -> frozenset[str] | None:
    if path is None:
        return None
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"--urls {path} cannot be read: {error}") from error
    return frozenset(line.strip() for line in lines if line.strip())


@dataclass(frozen=True, slots=True)
class _Input:
    """One SOURCE: an archive, a tree, a text or a pack."""

    kind: str
    name: str
    url: str = ""


def _input(text: str) -> _Input:
    """What a SOURCE is. Raises SourceError for what is not there, before anything is read."""
    directory, equals, url = text.rpartition("=")
    if equals and url.startswith(("http://", "https://")):
        if not Path(directory).is_dir():
            raise SourceError(f"{text}: there is no directory {directory}; DIR=URL is expected")
        return _Input("tree", directory, url)
    path = Path(text)
    if path.is_file():
        with path.open("rb") as file:
            if file.read(len(MAGIC)) == MAGIC:
                return _Input("pack", text)
        if not is_archive(text):
            return _Input("page", text)
    if path.is_dir() and not any(is_archive(str(one)) for one in path.rglob("*") if one.is_file()):
        # Where it stood matters for links only, and there are none in chunks.
        return _Input("tree", text, "http://localhost/")
    return _Input("archive", text)


class _Told:
    """How far it is, a line now and then."""

    def __init__(self) -> None:
        self.pages = 0
        self._next = time.monotonic() + _SAY_SECONDS

    def __call__(self, progress: Progress) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _SAY_SECONDS
            merged = f", {progress.merged} sorted" if progress.merged else ""
            say(f"build: {self.pages} pages, {progress.added} chunks and files{merged}")


class _Reading:
    """Sources into a builder, a batch of pages at a time."""

    def __init__(
        self,
        builder: LabelBuilder,
        label: int,
        scheme: HashScheme,
        limits: Limits,
        wanted: frozenset[str] | None,
        told: _Told,
        unit: Unit,
    ) -> None:
        self._builder = builder
        self._label = label
        self._scheme = scheme
        self._limits = limits
        self._wanted = wanted
        self._told = told
        self._unit = unit
        self.left_out: Counter[str] = Counter()
        self._found: set[str] = set()

    def missing(self) -> list[str]:
        """URLs that were asked for and are in none of the sources."""
        return sorted((self._wanted or frozenset()) - self._found)

    def take(self, source: _Input) -> None:
        """All of one source."""
        if source.kind == "pack":
            self._builder.add_pack(self._label, opened(Path(source.name), self._scheme))
            return
        batch: list[Document] = []
        size = 0
        for document in self._documents(source):
            batch.append(document)
            size += len(document.body)
            if len(batch) >= _BATCH_PAGES or size >= _BATCH_BYTES:
                self._add(batch)
                batch, size = [], 0
        self._add(batch)

    def _add(self, batch: Sequence[Document]) -> None:
        import numpy as np

        from reusewatch.detector.labels.page_chunks import chunks_of

        if not batch:
            return
        self._told.pages += len(batch)
        hashes = [self._scheme.of_bytes(page.body) for page in batch if page.body]
        self._builder.add_chunks(self._label, chunks_of(batch, self._scheme, self._unit))
        self._builder.add_files(self._label, np.array(hashes, np.uint64))

    def _documents(self, source: _Input) -> Iterator[Document]:
        if source.kind == "page":
            yield document_of(Path(source.name), None, self._scheme)
        elif source.kind == "tree":
            yield from self._pages(tree_pages(
                source.name, source.url, scheme=self._scheme, limits=self._limits, clock=now
            ))  # fmt: skip
        else:
            for archive in expand([source.name]):
                found = archive.read(scheme=self._scheme, limits=self._limits, clock=now)
                yield from self._pages(found)

    def _pages(self, records: Iterator[Found]) -> Iterator[Document]:
        from reusewatch.detector.sketching.fingerprint import Document

        for found in records:
            page = found.page
            if page is None:
                self.left_out["damaged" if found.damage else "no-page"] += 1
            elif page.revisit_of is not None:
                self.left_out["revisit"] += 1
            elif page.status is not None and page.status not in FINE:
                self.left_out["error-page"] += 1
            elif self._wanted is not None and page.url not in self._wanted:
                self.left_out["not-listed"] += 1
            else:
                self._found.add(page.url)
                where = place(page.url, self._scheme)
                html = page.content_type != "text/plain"
                charset = page.charset or "utf-8"
                yield Document(page.body, page.url, where.host, where.site, charset, html)
