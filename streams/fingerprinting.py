"""The stage `fingerprint`: pages in, fingerprint blocks out. No state, any number of processes.

A page that cannot be read becomes a dead letter; nothing else is lost.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
from resiliparse.parse.encoding import map_encoding_to_html5

from detector.errors import BadPage
from detector.fingerprint import fingerprint
from detector.hashing import HashScheme
from detector.identity_sets import NONE
from streams import topics
from streams.blocks import block_messages
from streams.bus import Message, Outgoing
from streams.records import DeadLetter, Origin, Page
from streams.snapshot import State
from streams.stages import Output
from streams.urls import place
from streams.wire import Headers, WireError, dead_letter_message, read_page

ReadOrigin = Callable[[Origin], Page]
RECEIVED = "received"


@dataclass(frozen=True, slots=True)
class FingerprintStage:
    """Pages → fingerprint blocks. Travels to worker processes: plain values only."""

    scheme: HashScheme
    partition_for: Callable[[str], int]
    # How a page that was too large for the bus is read again; BadPage where that fails.
    read_origin: ReadOrigin | None = None
    name: str = "fingerprint"
    reads: tuple[str, ...] = (topics.PAGES,)
    sole: bool = False

    def process(self, messages: Sequence[Message]) -> Output:
        """One block per partition of the batch, and a dead letter for every page that is bad."""
        rows: dict[int, list[dict[str, Any]]] = defaultdict(list)
        sent: list[Outgoing] = []
        dead: Counter[str] = Counter()
        for message in messages:
            try:
                row = self._row(message)
                rows[self.partition_for(row["site"])].append(row)
            except (WireError, BadPage) as error:
                letter = _dead_letter(message, error)
                dead[letter.reason] += 1
                sent.append(dead_letter_message(letter))
        received = str(min((m.timestamp_ms for m in messages), default=0)).encode()
        headers = ((RECEIVED, received),)
        bad = dead.total()
        for partition, block in rows.items():
            sent += self._blocks(block, partition, headers, dead)
        pages = sum(map(len, rows.values())) - (dead.total() - bad)
        return Output(sent, pages, dead)

    def _blocks(
        self, rows: list[dict[str, Any]], partition: int, headers: Headers, dead: Counter[str]
    ) -> list[Outgoing]:
        """The rows as blocks. One that fits none must not take the others of its batch with it."""
        try:
            return list(block_messages(rows, self.scheme, partition, headers=headers))
        except BadPage as error:
            if len(rows) == 1:
                dead[error.reason] += 1
                return [dead_letter_message(_letter_of_row(rows[0], error))]
        return [sent for row in rows for sent in self._blocks([row], partition, headers, dead)]

    def _row(self, message: Message) -> dict[str, Any]:
        page = read_page(message)
        if page.by_reference:
            page = self._read_again(page)
        where = place(page.url, self.scheme)
        row = {
            "page": int(where.page_id, 16),
            "url": page.url,
            "site": where.site,
            "host": where.host,
            "ip": page.ip,
            "fetched_at": page.fetched_at,
            "status": page.status,
            "content_type": page.content_type,
            "charset": page.charset,
            "source": page.origin.source,
            "offset": page.origin.offset,
        }
        return row | (self._revisit(page) if page.revisit_of else self._sketches(page))

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

    def _sketches(self, page: Page) -> dict[str, Any]:
        made = fingerprint(
            page.body,
            # A crawler may pass on whatever a server said.
            charset=map_encoding_to_html5(page.charset or "utf-8"),
            html=page.content_type != "text/plain",
            scheme=self.scheme,
        )
        return {
            "title": made.title,
            "excerpt": made.excerpt,
            "text_start": made.start,
            "text_end": made.end,
            "tokens": made.tokens,
            "truncated": made.truncated or page.truncated,
            "file_hash": made.file_hash,
            "identity_hash": made.identity_hash,
            "revisit_of": None,
            "revisit_at": None,
        }

    def _revisit(self, page: Page) -> dict[str, Any]:
        assert page.revisit_of is not None  # noqa: S101 - the caller asked
        referred = place(page.revisit_of.url, self.scheme)
        return {
            "title": "",
            "excerpt": "",
            "text_start": 0,
            "text_end": 0,
            "tokens": 0,
            "truncated": False,
            "file_hash": NONE,
            "identity_hash": NONE,
            "revisit_of": int(referred.page_id, 16),
            "revisit_at": page.revisit_of.fetched_at,
        }

    def rows(self) -> int:
        """None."""
        return 0

    def nbytes(self) -> int:
        """None."""
        return 0

    def save(self) -> State | None:
        """Nothing to keep."""
        return None

    def restore(self, state: State | None) -> None:
        """Nothing to take up."""


def _letter_of_row(row: dict[str, Any], error: BadPage) -> DeadLetter:
    return DeadLetter(
        reason=error.reason,
        source=row["source"],
        offset=row["offset"],
        url=row["url"][:2048],
        detail=error.detail,
        at=datetime.now(UTC),
    )


def _dead_letter(message: Message, error: WireError | BadPage) -> DeadLetter:
    at = datetime.now(UTC)
    if isinstance(error, BadPage):
        page = read_page(message)
        source, offset, url = page.origin.source, page.origin.offset, page.url[:2048]
        return DeadLetter(
            reason=error.reason, source=source, offset=offset, url=url, detail=error.detail, at=at
        )
    source = f"{message.partition.topic}/{message.partition.number}"
    return DeadLetter(
        reason=error.reason,
        source=source,
        offset=message.offset,
        url=None,
        detail=str(error),
        at=at,
    )
