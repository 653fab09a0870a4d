"""The stage `fingerprint`: pages in, fingerprint blocks out. No state, any number of processes.

A page that cannot be read becomes a dead letter; nothing else is lost.

Pages come and blocks go as packed messages, even where one process runs every stage: the index is
restored by reading the log of blocks again, and so a restart takes the same way as the first run.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
import numpy as np
import pyarrow as pa

from reusewatch.detector.errors import BadPage
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.format import SHORTEST
from reusewatch.streams import topics
from reusewatch.streams.blocks.format import block_messages
from reusewatch.streams.blocks.making import block_of, lists_of
from reusewatch.streams.blocks.page_columns import PageColumns
from reusewatch.streams.bus import Message, Outgoing
from reusewatch.streams.charsets import charset_of
from reusewatch.streams.documents import documents_of
from reusewatch.streams.labels.marking import Labeler
from reusewatch.streams.origins import kafka_origin
from reusewatch.streams.questions import Parameters, Rows, no_questions
from reusewatch.streams.records import DeadLetter, Origin, Page
from reusewatch.streams.stages.snapshot import State
from reusewatch.streams.stages.stage import Condition, Output
from reusewatch.streams.urls import place, placed
from reusewatch.streams.wire import (
    RECEIVED,
    Headers,
    WireError,
    dead_letter_message,
    read_page,
    unread,
)

if TYPE_CHECKING:
    from reusewatch.detector.sketching.fingerprint import Fingerprints
    from reusewatch.detector.sketching.outlinks import Outlinks

T = TypeVar("T")
ReadOrigin = Callable[[Origin], Page]
# Bodies held at a time, whatever a batch refers to.
PART_BYTES = 16 << 20
_MOST_START = (1 << 32) - 1
Target = Callable[[str], tuple[int, int] | None]
# One gram in so many, by its value: the same grams on every page.
GRAM_SAMPLES = {"all": 1.0, "sampled": 1 / 8, "none": 0.0}


@dataclass(frozen=True, slots=True)
class FingerprintStage:
    """Pages → fingerprint blocks. Travels to worker processes: plain values only."""

    scheme: HashScheme
    partition_for: Callable[[str], int]
    # How a page that was too large for the bus is read again; BadPage where that fails.
    read_origin: ReadOrigin | None = None
    # The grams of quilts make a block several times larger.
    grams: Literal["all", "sampled", "none"] = "none"
    chunks: Literal["text", "raw"] = "text"
    labeler: Labeler | None = None
    # Of pages that no archive holds: the topic that they stand on, by its name on the broker.
    topic: str | None = None
    name: str = "fingerprint"
    reads: tuple[str, ...] = (topics.PAGES,)
    sole: bool = False

    def process(self, messages: Sequence[Message]) -> Output:
        """One block per partition of the batch, and a dead letter for every page that is bad."""
        received = min((m.timestamp_ms for m in messages), default=0)
        return self._made(messages, self._read, _dead_letter, received)

    def pages(self, pages: Sequence[Page]) -> Output:
        """The same of pages that came here without a bus."""
        return self._made(pages, self._placed, _letter, time.time_ns() // 1_000_000)

    def _made(
        self,
        brought: Sequence[T],
        read: Callable[[T], Page],
        letter: Callable[[T, Any], DeadLetter],
        received_ms: int,
    ) -> Output:
        # Between two batches, never within one: a batch has one version.
        labels = self.labeler.look() if self.labeler else None
        letters: list[DeadLetter] = []
        pages: list[Page] = []
        blocks: list[Outgoing] = []
        size = 0
        headers = ((RECEIVED, str(received_ms).encode()),)
        for one in brought:
            try:
                page = read(one)
            except (WireError, BadPage) as error:
                letters.append(letter(one, error))
                continue
            pages.append(page)
            size += len(page.body)
            # A message by reference is small, and its page is not.
            if size >= PART_BYTES:
                blocks += self._blocks(pages, headers, letters)
                pages, size = [], 0
        blocks += self._blocks(pages, headers, letters)
        dead = Counter(letter.reason for letter in letters)
        sent = [*blocks, *map(dead_letter_message, letters)]
        return Output(sent, len(brought) - len(letters), dead, labels=labels)

    def _blocks(
        self, pages: Sequence[Page], headers: Headers, letters: list[DeadLetter]
    ) -> list[Outgoing]:
        """The pages as blocks. One that fits none must not take the others of its batch with it."""
        if not pages:
            return []
        try:
            return list(self._blocks_of_all(pages, headers))
        except BadPage as error:
            if len(pages) == 1:
                letters.append(_letter(pages[0], error))
                return []
        return [sent for page in pages for sent in self._blocks([page], headers, letters)]

    def _blocks_of_all(self, pages: Sequence[Page], headers: Headers) -> Iterator[Outgoing]:
        by_partition: dict[int, list[Page]] = {}
        for page in pages:
            by_partition.setdefault(self.partition_for(page.site), []).append(page)
        # Those of a partition follow each other, so that each has a slice, which copies nothing.
        block = self._block_of([page for some in by_partition.values() for page in some])
        begin = 0
        for partition, some in by_partition.items():
            part = block.slice(begin, len(some))
            begin += len(some)
            yield from block_messages(part, self.scheme, partition, headers=headers)

    def _block_of(self, pages: Sequence[Page]) -> pa.RecordBatch:
        """All that a block says of these pages. By itself: what it was made of, as much again, is
        gone before it is encoded."""
        from reusewatch.detector.sketching.fingerprint import (
            fingerprints,  # kernels, loaded by who really works
        )

        documents = documents_of(pages)
        sample = GRAM_SAMPLES[self.grams]
        made = fingerprints(documents, self.scheme, gram_sample=sample, chunks=self.chunks)
        told = self._told(pages, made)
        urls, fetched = [page.url for page in pages], [page.fetched_at for page in pages]
        marks = self.labeler.marks(made, urls, fetched) if self.labeler else None
        shortest = self.labeler.shortest if self.labeler else SHORTEST
        return block_of(told, made, grams=self.grams != "none", marks=marks, shortest=shortest)

    def _told(self, pages: Sequence[Page], made: Fingerprints) -> PageColumns:
        """What a block says of its pages beside their sketches: a column at a time, since each
        object that is made for a page costs as much as a sketch of it."""
        ids = bytes.fromhex("".join([page.id for page in pages]))
        origins = [page.origin for page in pages]
        referred = [page.revisit_of for page in pages]
        hashes, titles, excerpts, starts, ends, over, _, canonical = zip(*made.facts, strict=True)
        return PageColumns(
            page=np.frombuffer(ids, ">u8").astype(np.uint64),
            url=[page.url for page in pages],
            site=[page.site for page in pages],
            host=[page.host for page in pages],
            ip=[page.ip for page in pages],
            fetched_at=[page.fetched_at for page in pages],
            status=[page.status for page in pages],
            content_type=[page.content_type for page in pages],
            charset=[page.charset for page in pages],
            source=[origin.source for origin in origins],
            offset=[origin.offset for origin in origins],
            title=titles,
            excerpt=excerpts,
            text_start=starts,
            text_end=ends,
            truncated=[page.truncated or cut for page, cut in zip(pages, over, strict=True)],
            overlong=over,
            salvaged=[page.salvaged for page in pages],
            file_hash=hashes,
            revisit_of=[placed(one.url, self.scheme)[0] if one else None for one in referred],
            revisit_at=[one.fetched_at if one else None for one in referred],
            canonical=[
                self._named(page, named) if named else None
                for page, named in zip(pages, canonical, strict=True)
            ],
            record_id=[origin.record_id for origin in origins],
            **_led_to(made.outlinks, _targets(self.scheme)),
        )

    def _named(self, page: Page, canonical: str) -> int | None:
        """The page that a page names as its source; None where that is none."""
        if canonical == page.url:
            return int(page.id, 16)
        try:
            return placed(canonical, self.scheme)[0]
        except BadPage:
            return None  # a claim that says nothing costs the page nothing

    def _read(self, message: Message) -> Page:
        """A message's page, with its body, its charset and its place.

        The place is taken from the URL: whoever wrote the message may have said another one.
        """
        page = read_page(message)
        if page.by_reference:
            page = self._read_again(page)
        elif self.topic is not None and page.origin.offset is None:
            origin = kafka_origin(self.topic, message.partition.number, message.offset)
            page = msgspec.structs.replace(page, origin=origin)
        return self._placed(page)

    def _placed(self, page: Page) -> Page:
        """A page with its charset and its place."""
        where = place(page.url, self.scheme)
        # As every page is that was read here of an archive, and whose encoding is known.
        is_placed = page.id == where.page_id and page.host == where.host and page.site == where.site
        if is_placed and page.charset is not None and page.revisit_of is None:
            return page
        at = {"id": where.page_id, "host": where.host, "site": where.site}
        if page.revisit_of is None:
            return msgspec.structs.replace(page, charset=charset_of(page), **at)
        # A URL that is none raises here, where it costs this page alone and not its batch.
        place(page.revisit_of.url, self.scheme)
        # A revisit stored no body: it has no words, and the index knows whose words it has.
        return msgspec.structs.replace(page, body=b"", **at)

    def _read_again(self, page: Page) -> Page:
        if self.read_origin is None:
            raise BadPage("too-large", f"{page.origin.source} cannot be read from this process")
        try:
            again = self.read_origin(page.origin)
        except (OSError, ValueError) as error:
            raise BadPage(
                "too-large", f"too large for the bus, and its archive: {error}"
            ) from error
        if again.id != page.id:
            raise BadPage("too-large", f"too large for the bus, and {page.origin.source} changed")
        return msgspec.structs.replace(page, body=again.body, by_reference=False)

    def get_ready(self) -> None:
        """Load what makes fingerprints, before there are pages."""
        from reusewatch.detector.sketching import fingerprint  # noqa: F401 - kernels

        if self.labeler is not None:
            self.labeler.look()

    def settle(self) -> Output:
        """Nothing waits for later pages here."""
        return Output()

    def rows(self) -> int:
        """None."""
        return 0

    def nbytes(self) -> int:
        """None."""
        return 0

    def condition(self) -> Condition:
        """There is no state."""
        return Condition()

    def save(self) -> State | None:
        """Nothing to keep."""
        return None

    def restore(self, state: State | None, *, question: str | None = None) -> None:
        """Nothing to take up."""

    def answer(self, name: str, parameters: Parameters) -> Rows:
        """There is no state to ask."""
        return no_questions(name, parameters)


def _led_to(outlinks: Outlinks, target: Target) -> dict[str, pa.ListArray]:
    """Where pages lead on other sites, as columns; what is no page is left out."""
    found = [target(address) if address else None for address in outlinks.addresses]
    places = np.array([one or (0, 0) for one in found], np.uint64).reshape(-1, 2)
    is_place = np.array([one is not None for one in found], np.bool_)
    kept = is_place[outlinks.which]
    which = outlinks.which[kept]
    at = np.concatenate(([0], np.cumsum(kept)))[outlinks.at]
    return {
        "links": lists_of(at, places[which, 0]),
        "link_sites": lists_of(at, places[which, 1]),
        "link_starts": lists_of(at, outlinks.starts[kept].clip(0, _MOST_START).astype(np.uint32)),
    }


@lru_cache(1)
def _targets(scheme: HashScheme) -> Target:
    """The page at an address and its site, as hashes; remembered, since pages of a site lead to
    the same places. Apart for a scheme, which takes longer to hash than the address."""

    @lru_cache(1 << 16)
    def target(address: str) -> tuple[int, int] | None:
        try:
            page, _, site = placed(address, scheme)
        except BadPage:
            return None
        return page, scheme.of_text(site)

    return target


def _dead_letter(message: Message, error: WireError | BadPage) -> DeadLetter:
    if isinstance(error, BadPage):
        return _letter(read_page(message), error)
    return unread(message, error, datetime.now(UTC))


def _letter(page: Page, error: BadPage) -> DeadLetter:
    return DeadLetter(
        reason=error.reason,
        source=page.origin.source,
        offset=page.origin.offset,
        url=page.url[:2048],
        detail=error.detail,
        at=datetime.now(UTC),
    )
