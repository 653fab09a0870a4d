"""Sources into a label pack. Pages are read once and kept in no memory; hashes are sorted on disk.

A pack that could not be finished is not there: it is written beside its place, and moved when it is
whole.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reusewatch.crawler.errors import SourceError
from reusewatch.crawler.labeling.reading import LabelReading
from reusewatch.crawler.labeling.sources import LabelSource, label_source
from reusewatch.crawler.pages.archive_events import DEFAULT_LIMITS, Limits
from reusewatch.detector.errors import BadPack, DamagedPack
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.bus import Unreachable

if TYPE_CHECKING:
    from reusewatch.detector.labels.building import BuildReport, LabelBuilder, Progress
    from reusewatch.detector.labels.format import Label
    from reusewatch.detector.labels.pack import LabelPack
    from reusewatch.detector.labels.stop_chunks import StopChunks
    from reusewatch.detector.sketching.chunks import Unit
    from reusewatch.detector.sketching.fingerprint import Document

# Puts content that is no source under a label, and says how many pages at a time.
More = Callable[["LabelBuilder", int], Iterator[int]]
_BATCH_PAGES, _BATCH_BYTES = 64, 8 << 20
_SAY_SECONDS = 5.0
_NAMED = 3


def build_pack(
    label: Label,
    sources: Sequence[str],
    output: Path,
    *,
    scheme: HashScheme,
    stops: StopChunks,
    say: Callable[[str], None],
    unit: Unit = "text",
    limits: Limits = DEFAULT_LIMITS,
    min_length: int = 100,
    wanted: frozenset[str] | None = None,
    more: More | None = None,
) -> dict[str, Any]:
    """A pack of everything in the sources, and of `more`, and what it came to.

    Raises SourceError for a source that cannot be read, Unreachable for a pack that cannot be
    written.
    """
    from reusewatch.detector.labels.building import LabelBuilder

    named = [label_source(text) for text in sources]
    reading = LabelReading(scheme, limits, wanted)
    told = _Told(say)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with (
            tempfile.TemporaryDirectory(prefix=".labels-", dir=output.parent) as spool,
            closing(
                LabelBuilder(Path(spool), scheme, min_length=min_length, stops=stops, progress=told)
            ) as builder,
        ):
            packing = _Packing(builder, builder.label(label), scheme, unit, told)
            for source in named:
                packing.take(source, reading)
            for pages in more(builder, packing.label) if more else ():
                told.pages += pages
            report = builder.build(output)
    except OSError as error:
        raise Unreachable(
            f"{error.filename or output}: {error.strerror or error}: the pack was not written"
        ) from error
    _say_missing(reading, say)
    return _summary(report, told.pages, reading.left_out)


def _say_missing(reading: LabelReading, say: Callable[[str], None]) -> None:
    if missing := reading.missing():
        reading.left_out["not-found"] = len(missing)
        some = ", ".join(missing[:_NAMED]) + (", …" if len(missing) > _NAMED else "")
        say(f"build: no page for {len(missing)} of the listed URLs: {some}")


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


class _Told:
    """How far it is, a line now and then."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.pages = 0
        self._say = say
        self._next = time.monotonic() + _SAY_SECONDS

    def __call__(self, progress: Progress) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _SAY_SECONDS
            merged = f", {progress.merged} sorted" if progress.merged else ""
            self._say(f"build: {self.pages} pages, {progress.added} chunks and files{merged}")


class _Packing:
    """Sources into a builder, a batch of pages at a time."""

    def __init__(
        self, builder: LabelBuilder, label: int, scheme: HashScheme, unit: Unit, told: _Told
    ) -> None:
        self._builder = builder
        self.label = label
        self._scheme = scheme
        self._unit: Unit = unit
        self._told = told

    def take(self, source: LabelSource, reading: LabelReading) -> None:
        """All of one source."""
        if source.kind == "pack":
            self._builder.add_pack(self.label, _opened(Path(source.name), self._scheme))
            return
        for batch in _batches(reading.documents(source)):
            self._add(batch)

    def _add(self, batch: Sequence[Document]) -> None:
        import numpy as np

        from reusewatch.detector.labels.page_chunks import chunks_of

        self._told.pages += len(batch)
        hashes = [self._scheme.of_bytes(page.body) for page in batch if page.body]
        self._builder.add_chunks(self.label, chunks_of(batch, self._scheme, self._unit))
        self._builder.add_files(self.label, np.array(hashes, np.uint64))


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Few enough pages and bytes to hash at once."""
    batch: list[Document] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += len(document.body)
        if len(batch) >= _BATCH_PAGES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _opened(path: Path, scheme: HashScheme) -> LabelPack:
    from reusewatch.detector.labels.pack import open_pack

    try:
        return open_pack(path, scheme)
    except DamagedPack:
        raise
    except BadPack as error:
        raise SourceError(str(error)) from error
