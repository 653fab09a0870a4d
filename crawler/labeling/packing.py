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
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reusewatch.crawler.errors import SourceError
from reusewatch.crawler.labeling.reading import LabelReading, PageRead
from reusewatch.crawler.labeling.sources import LabelSource, label_source
from reusewatch.crawler.pages.archive_events import DEFAULT_LIMITS, Limits
from reusewatch.detector.errors import BadPack, DamagedPack
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.bus import Unreachable

if TYPE_CHECKING:
    from reusewatch.detector.labels.building import BuildReport, LabelBuilder, Progress
    from reusewatch.detector.labels.format import PackLabel
    from reusewatch.detector.labels.pack import LabelPack
    from reusewatch.detector.labels.stop_chunks import StopChunks
    from reusewatch.detector.sketching.chunks import Unit

# Puts content that is no source under a label, and says how many pages at a time; told are what to
# keep of it, and the sites that it is from.
More = Callable[["LabelBuilder", int, "Kept", Counter[str]], Iterator[int]]
_BATCH_PAGES, _BATCH_BYTES = 64, 8 << 20
_SAY_SECONDS = 5.0
_NAMED = 3
MOST_SITES = 10
"""Sites that a summary names: those whose pages brought most chunks, the first of them first."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a pack keeps beside hashes of chunks and files: this share of the grams, chosen by
    value, and where everything stood."""

    gram_share: float = 1.0
    places: bool = True


_ALL = Kept()


def build_pack(
    label: PackLabel,
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
    kept: Kept = _ALL,
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
                LabelBuilder(Path(spool), scheme, min_length=min_length, stops=stops,
                             places=kept.places, progress=told)
            ) as builder,
        ):  # fmt: skip
            packing = _Packing(builder, builder.label(label), scheme, unit, told, kept)
            for source in named:
                packing.take(source, reading)
            for pages in more(builder, packing.label, kept, packing.sites) if more else ():
                told.pages += pages
            report = builder.build(output)
    except OSError as error:
        raise Unreachable(
            f"{error.filename or output}: {error.strerror or error}: the pack was not written"
        ) from error
    _say_missing(reading, say)
    return _summary(report, told.pages, reading.left_out, packing.sites)


def _say_missing(reading: LabelReading, say: Callable[[str], None]) -> None:
    if missing := reading.missing():
        reading.left_out["not-found"] = len(missing)
        some = ", ".join(missing[:_NAMED]) + (", …" if len(missing) > _NAMED else "")
        say(f"build: no page for {len(missing)} of the listed URLs: {some}")


def _summary(
    report: BuildReport, pages: int, left_out: Counter[str], sites: Counter[str]
) -> dict[str, Any]:
    sizes = report.pack.sizes
    grams = sum(size for name, size in sizes.items() if name.startswith("grams."))
    places = sum(
        size
        for name, size in sizes.items()
        if name.startswith("pages.") or name in ("files.places", "chunks.places")
    )
    ranked = sorted(sites.items(), key=lambda item: (-item[1], item[0]))
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
        "grams": report.pack.grams,
        "gram_share": report.pack.labels[0].gram_share,
        "left_out": dict(sorted(left_out.items())),
        "sites": dict(ranked[:MOST_SITES]),
        "site_chunks": sum(sites.values()),
        "bytes": report.pack.path.stat().st_size,
        "gram_bytes": grams,
        "place_bytes": places,
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
        self,
        builder: LabelBuilder,
        label: int,
        scheme: HashScheme,
        unit: Unit,
        told: _Told,
        kept: Kept,
    ) -> None:
        self._builder = builder
        self.label = label
        self._scheme = scheme
        self._unit: Unit = unit
        self._told = told
        self._kept = kept
        # Of each site the chunks that are long enough to be labeled.
        self.sites: Counter[str] = Counter()

    def take(self, source: LabelSource, reading: LabelReading) -> None:
        """All of one source."""
        if source.kind == "pack":
            pack = _opened(Path(source.name), self._scheme)
            self._builder.add_pack(self.label, pack, gram_share=self._kept.gram_share)
            return
        for batch in _batches(reading.pages(source)):
            self._add(batch)

    def _add(self, batch: Sequence[PageRead]) -> None:
        import numpy as np

        from reusewatch.detector.labels.contains import per_page
        from reusewatch.detector.labels.labeled_page import LabeledPage
        from reusewatch.detector.labels.page_chunks import content_of
        from reusewatch.detector.labels.stood import places, whole_pages

        self._told.pages += len(batch)
        documents, share = [page.document for page in batch], self._kept.gram_share
        files = np.array([self._scheme.of_bytes(x.body) if x.body else 0 for x in documents], "u8")
        found = content_of(documents, self._scheme, self._unit, gram_share=share)
        numbers = np.array(
            [
                self._builder.page(
                    self.label,
                    LabeledPage(page.url, page.origin.source, page.origin.offset, file),
                )
                for page, file in zip(batch, files.tolist(), strict=True)
            ],
            np.uint32,
        )
        chunks, grams = found.chunks, found.grams
        long = self._builder.add_chunks(
            self.label, chunks, places(numbers, chunks.hashes.offsets, *found.chunk_spans)
        )
        for page, count in zip(batch, per_page(long, chunks.hashes.offsets), strict=True):
            if page.site:
                self.sites[page.site] += int(count)
        some = files != 0
        self._builder.add_files(self.label, files[some], whole_pages(numbers)[some])
        if share:
            stood = places(numbers, grams.offsets, *found.gram_spans)
            self._builder.add_grams(self.label, grams.values, stood, share=share)


def _batches(pages: Iterable[PageRead]) -> Iterator[list[PageRead]]:
    """Few enough pages and bytes to hash at once."""
    batch: list[PageRead] = []
    size = 0
    for page in pages:
        batch.append(page)
        size += len(page.document.body)
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
