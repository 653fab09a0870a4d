"""What a crawl should keep out of, for whoever asks a worker: `GET /prefixes?format=…`.

No worker holds all prefixes, so each reads the topic of alerts, from the first time that it is
asked on. An answer has an ETag, and who has that text already is told so without it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from time import monotonic
from typing import cast

from reusewatch.streams.bus import Bus
from reusewatch.streams.questions import BadQuestion, Unanswered
from reusewatch.streams.steering.following import Following
from reusewatch.streams.steering.formats import FORMATS, Format, written
from reusewatch.streams.steering.places import KeptOut, Places

_WAIT_SECONDS, _LOOK_SECONDS = 10.0, 0.05


@dataclass(frozen=True, slots=True)
class Answer:
    """A text and its tag; without the text for who has it."""

    etag: str
    body: bytes | None


class PrefixAnswers:
    """Answers from what the topic says; reads it in a thread, once somebody asked."""

    def __init__(
        self, open_bus: Callable[[threading.Event], Bus], say: Callable[[str], None]
    ) -> None:
        self._following = Following(open_bus, Places, self._hold, say)
        self._rows: Sequence[KeptOut] = ()
        self._started = self._closed = False

    def _hold(self, rows: Sequence[KeptOut]) -> None:
        self._rows = rows

    async def answer(self, asked: Mapping[str, str], known: Collection[str]) -> Answer:
        """The prefixes that hold now, in the `format` that is asked for; `known`: tags of texts
        that the client has. Raises BadQuestion, and Unanswered while the topic is not read
        through. One event loop asks."""
        form = asked.get("format", "prefixes")
        # A name that is mistyped would be answered with another format than is asked for.
        if unknown := sorted(asked.keys() - {"format"}):
            raise BadQuestion(f"{unknown[0][:100]}: there is format")
        if form not in FORMATS:
            raise BadQuestion(f"format={form[:100]}: there is {', '.join(FORMATS)}")
        await self._read_through()
        found = await asyncio.to_thread(self._text, cast("Format", form))
        # Weakened by a proxy that compresses, it is the same all the same (RFC 9110, §13.1.2).
        tags = {tag.removeprefix("W/") for tag in known}
        return Answer(found.etag, None) if found.etag in tags or "*" in tags else found

    async def _read_through(self) -> None:
        if not self._started:
            self._following.start()
            self._started = True
        end = monotonic() + _WAIT_SECONDS
        while not self._following.known.is_set():
            if self._closed or monotonic() > end:
                raise Unanswered("the topic of alerts is being read")
            await asyncio.sleep(_LOOK_SECONDS)

    def _text(self, form: Format) -> Answer:
        moment = datetime.now(UTC)
        rows = (row.prefix for row in self._rows if row.expires > moment)
        body = written(rows, form).text.encode()
        return Answer(f'"{blake2b(body, digest_size=16).hexdigest()}"', body)

    def close(self) -> None:
        """Read no more."""
        self._closed = True
        self._following.stop()
