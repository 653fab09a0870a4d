"""The verb `labels discover`: what a whole corpus has in common, exact and offline (Ardi, Heidemann
2014, §3.2, blind).

Counts on disk, not in memory, and reads twice: what is over the thresholds is known only at the
end, and a second look finds a page that shows it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from reusewatch.crawler.archives.reading import STDIN
from reusewatch.crawler.errors import SourceError
from reusewatch.crawler.pages.found import Limits
from reusewatch.crawler.replaying.jobs import Job, Reader, job_of
from reusewatch.crawler.replaying.origins import origin_reader
from reusewatch.detector.hashing import HashScheme, hex_of
from reusewatch.streams import kernels, topics
from reusewatch.streams.blocks.block import read_block
from reusewatch.streams.blocks.occurrences import chunks_of, countable, files_of, owners_of
from reusewatch.streams.bus import Message, Partition, Unreachable
from reusewatch.streams.console import fail, print_json, print_rows, say
from reusewatch.streams.opening import open_bus
from reusewatch.streams.records import Origin, Page
from reusewatch.streams.running.topology import fingerprint_stage, only_partition, stop_list
from reusewatch.streams.samples import texts_of
from reusewatch.streams.settings import Settings
from reusewatch.streams.signals import stopping
from reusewatch.streams.sites import Sites
from reusewatch.streams.stages.discovering import LABEL
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.verbs.labels import app
from reusewatch.streams.verbs.options import BUS, JsonOption, with_settings
from reusewatch.streams.wire import page_message

if TYPE_CHECKING:
    from reusewatch.detector.discovery.offline import ExactCounts
    from reusewatch.detector.discovery.online import Occurrences
    from reusewatch.detector.labels.stop_chunks import Counted, StopChunks

_UNITS = ("chunk", "file")
_BATCH_PAGES, _BATCH_BYTES = 64, 8 << 20
_TELL_PAGES = 10_000
_FACTS = ("url", "source", "offset", "file_hash")
Blocks = Callable[[], Iterator[pa.RecordBatch]]
Samples = dict[tuple[str, int], tuple[str, str | None]]


def register() -> None:
    """Add the verb to those of `streams.verbs.labels`."""
    app.command(
        "discover",
        help="What many pages of many sites have in common, the most frequent first. Without "
        "sources, of the pages on the bus.\n\n"
        "Example: reusewatch labels discover crawl-*.warc.gz --pages 500 -o found.pack",
    )(discover)


@with_settings(*BUS)
def discover(
    settings: Settings,
    sources: Annotated[list[str] | None, typer.Argument(metavar="SOURCE…")] = None,
    tree: Annotated[
        list[str] | None,
        typer.Option("--tree", metavar="DIR=URL", help="A directory of HTML, served as that URL."),
    ] = None,
    pages: Annotated[int, typer.Option("--pages", min=1, help="On more pages than this.")] = 100,
    sites: Annotated[int, typer.Option("--sites", min=1, help="Of at least so many sites.")] = 5,
    length: Annotated[
        int, typer.Option("--length", min=0, help="Chunks of more characters than this.")
    ] = 100,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PACK", help="A label pack of it.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Discover content."""
    rules = _Rules(pages, sites, length)
    with stopping() as stop, tempfile.TemporaryDirectory(prefix="reusewatch-") as spool:
        reading = _Reading(settings, _job(settings, sources or [], tree or [], stop), stop)
        kernels.prepare(say)
        from reusewatch.streams.labels.matching import all_stop_chunks

        stops = all_stop_chunks(settings.scheme, stop_list(settings))
        work = _Discovery(settings.scheme, rules, Path(spool), stops)
        common = work.count(reading.blocks)
        shown = work.shown(
            common, reading.blocks, origin_reader(settings.scheme, settings.max_body_bytes)
        )
        if stop.is_set():
            raise typer.Exit(130)
        if output is not None:
            work.write(common, output)
    if not shown:
        say(f"nothing is on more than {pages} pages of {sites} sites")
    if json:
        for row in shown:
            print_json(row)
    elif shown:
        print_rows(tuple(shown[0]), (tuple(row.values()) for row in shown))
    if reading.damaged:
        fail(f"{reading.damaged} damaged records were left out", 1)


def _job(settings: Settings, sources: list[str], tree: list[str], stop: Event) -> Job | None:
    if not sources and not tree:
        return None
    if STDIN in sources:
        raise SourceError("standard input cannot be read twice: keep it as a file")
    reader = Reader(settings.scheme, Limits(max_body_bytes=settings.max_body_bytes))
    return job_of(sources, tree, None, reader=reader, settle_seconds=0.0, stop=stop)


@dataclass(frozen=True, slots=True)
class _Rules:
    pages: int
    sites: int
    length: int


class _Reading:
    """The blocks of the sources, or those on the bus; as often as they are asked for."""

    def __init__(self, found: Settings, job: Job | None, stop: Event) -> None:
        self._found = found
        self._job = job
        self._stop = stop
        self.damaged = 0

    def blocks(self) -> Iterator[pa.RecordBatch]:
        """Those of pages whose content is theirs."""
        self.damaged = read = told = 0
        for block in self._of_bus() if self._job is None else self._of_job(self._job):
            if self._stop.is_set():
                return
            read += len(block)
            if read - told >= _TELL_PAGES:
                told = read
                say(f"{read:,} pages")
            if len(kept := countable(block)):
                yield kept

    def _of_bus(self) -> Iterator[pa.RecordBatch]:
        for message in open_bus(self._found, say=say).read(topics.FINGERPRINTS):
            yield read_block(message, self._found.scheme)

    def _of_job(self, job: Job) -> Iterator[pa.RecordBatch]:
        stage = fingerprint_stage(self._found, only_partition)
        batch: list[Page] = []
        size = 0
        for source in job.archives:
            for record in source.read(0):
                self.damaged += record.damage is not None
                if record.page is None:
                    continue
                batch.append(record.page)
                size += len(record.page.body)
                if len(batch) >= _BATCH_PAGES or size >= _BATCH_BYTES:
                    yield from self._made(stage, batch)
                    batch, size = [], 0
        yield from self._made(stage, batch)

    def _made(self, stage: FingerprintStage, batch: list[Page]) -> Iterator[pa.RecordBatch]:
        made = stage.process([_message(page_message(page)) for page in batch])
        for sent in made.messages:
            if sent.topic == topics.FINGERPRINTS:
                yield read_block(_message(sent), self._found.scheme)
            else:
                self.damaged += 1


class _Discovery:
    """Counts, then samples of what is over the thresholds."""

    def __init__(self, scheme: HashScheme, rules: _Rules, spool: Path, known: StopChunks) -> None:
        self._scheme = scheme
        self._rules = rules
        self._spool = spool
        self._known = known

    def count(self, blocks: Blocks) -> dict[str, list[Counted]]:
        """What is common, by unit."""
        from reusewatch.detector.discovery.offline import ExactCounts
        from reusewatch.detector.labels.occurrences import SplitByHash

        with ExitStack() as stack:
            counts: dict[str, ExactCounts] = {}
            for unit in _UNITS:
                (self._spool / unit).mkdir()
                files = stack.enter_context(SplitByHash(self._spool / unit))
                counts[unit] = ExactCounts(files)
            for block in blocks():
                for unit, seen in self._seen(block).items():
                    _add(counts[unit], seen)
            over = {
                unit: list(counts[unit].over(self._rules.pages, min_sites=self._rules.sites))
                for unit in _UNITS
            }
        return {"chunk": self._unstopped(over["chunk"]), "file": over["file"]}

    def _unstopped(self, found: list[Counted]) -> list[Counted]:
        stopped = self._known.has_chunks(np.array([one.hash for one in found], np.uint64))
        return [one for one, stop in zip(found, stopped.tolist(), strict=True) if not stop]

    def _seen(self, block: pa.RecordBatch) -> dict[str, Occurrences]:
        sites = Sites(self._scheme).hashes(owners_of(block.column("site")))
        return {
            "chunk": chunks_of(block, sites, min_length=self._rules.length),
            "file": files_of(block, sites, is_stop=self._known.has_files),
        }

    def shown(
        self,
        common: dict[str, list[Counted]],
        blocks: Blocks,
        read_origin: Callable[[Origin], Page],
    ) -> list[dict[str, Any]]:
        """A line for each, the most frequent first, with a page that has it."""
        wanted = {unit: {one.hash for one in found} for unit, found in common.items()}
        samples: Samples = {}
        if any(wanted.values()):
            for block in blocks():
                for unit, seen in self._seen(block).items():
                    self._sample(unit, seen, wanted[unit], block, read_origin, samples)
                if not any(wanted.values()):
                    break
        rows = [
            {"unit": unit, "hash": hex_of(one.hash), "pages": one.pages, "sites": one.sites,
             "url": samples[unit, one.hash][0], "text": samples[unit, one.hash][1]}
            for unit, found in common.items() for one in found if (unit, one.hash) in samples
        ]  # fmt: skip
        return sorted(rows, key=lambda row: (-int(row["pages"]), row["unit"], row["hash"]))

    def _sample(
        self, unit: str, seen: Occurrences, wanted: set[int], block: pa.RecordBatch,
        read_origin: Callable[[Origin], Page], samples: Samples,
    ) -> None:  # fmt: skip
        values = seen.hashes.values
        for at in np.flatnonzero(np.isin(values, np.array([*wanted], np.uint64)) & ~seen.skipped):
            value = int(values[at])
            if value not in wanted:
                continue
            wanted.remove(value)
            row = int(np.searchsorted(seen.hashes.offsets, at, "right")) - 1
            page = block.slice(row, 1).select(_FACTS).to_pylist()[0]
            (text,) = texts_of(
                read_origin, Origin(source=page["source"], offset=page["offset"]),
                [(int(seen.starts[at]), int(seen.ends[at]))],
                file_hash=page["file_hash"], scheme=self._scheme,
            )  # fmt: skip
            samples[unit, value] = page["url"], text

    def write(self, common: dict[str, list[Counted]], path: Path) -> None:
        """A label pack of what is common."""
        from reusewatch.detector.labels.building import LabelBuilder
        from reusewatch.detector.labels.format import Label
        from reusewatch.detector.ragged import Ragged
        from reusewatch.detector.sketching.chunks import Chunks

        hashes = {u: np.array([c.hash for c in found], np.uint64) for u, found in common.items()}
        lengths = np.array([one.length for one in common["chunk"]], np.uint32)
        nowhere = np.zeros(len(lengths), np.uint32)
        with LabelBuilder(self._spool, self._scheme, min_length=0) as builder:
            label = builder.label(Label(name=LABEL, severity="info"))
            chunks = Ragged.of([hashes["chunk"]])
            builder.add_chunks(label, Chunks(chunks, lengths, nowhere, nowhere))
            builder.add_files(label, hashes["file"])
            try:
                builder.build(path)
            except OSError as error:
                raise Unreachable(f"{path} cannot be written: {error.strerror}") from error
        say(f"{path}: {len(hashes['chunk'])} chunks, {len(hashes['file'])} files")


def _add(counts: ExactCounts, seen: Occurrences) -> None:
    kept = ~seen.skipped
    of = np.repeat(np.arange(len(seen.pages)), seen.hashes.counts)[kept]
    lengths = (seen.ends - seen.starts)[kept]
    counts.add(seen.hashes.values[kept], seen.pages[of], seen.sites[of], lengths)


def _message(sent: Any) -> Message:
    return Message(Partition(sent.topic, 0), 0, sent.key, sent.value, sent.headers, 0)
