"""Pages matched with the labeled dataset in force (Ardi, Heidemann 2014, §3.1 step 4).

Looks between two batches whether another version is in force, and takes it up; while one cannot
be, the one before it stays, and the reason is told. Travels to worker processes: where to look, and
which chunks are stop chunks. Never waits for labels, and costs nothing where there are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from reusewatch.detector.errors import BadPack, DetectorError
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.format import SHORTEST
from reusewatch.streams.blocks.label_columns import Marks
from reusewatch.streams.labels.store import LabelStore, Stamp

if TYPE_CHECKING:
    from reusewatch.detector.labels.stop_chunks import StopList
    from reusewatch.detector.sketching.fingerprint import Fingerprints
    from reusewatch.streams.labels.matching import Matching

_TRIES = 3


@dataclass(frozen=True, slots=True)
class InForce:
    """What a process matches with, and why it is not something newer."""

    version: str | None = None
    files: int = 0
    chunks: int = 0
    trouble: str | None = None


class Labeler:
    """The labeled dataset of one process."""

    def __init__(self, directory: Path, scheme: HashScheme, stops: StopList | None = None) -> None:
        self._made_of = (directory, scheme, stops)
        self._store = LabelStore(directory)
        self._scheme = scheme
        self._listed = stops
        self._stamp: Stamp | None = None
        self._matching: Matching | None = None
        self._trouble: str | None = None
        self._looked = False

    def __reduce__(self) -> Any:
        return Labeler, self._made_of

    def look(self) -> InForce:
        """Take up what is in force now."""
        stamp = self._store.stamp()
        if stamp != self._stamp or not self._looked:
            self._take_up()
            self._stamp = stamp
        matching = self._matching
        if matching is None:
            return InForce(trouble=self._trouble)
        return InForce(matching.version, *matching.size, self._trouble)

    def marks(
        self, made: Fingerprints, urls: Sequence[str], fetched: Sequence[datetime]
    ) -> Sequence[Marks] | None:
        """What of each page is labeled, and its stop chunks; None before the first look."""
        if self._matching is None:
            return None
        try:
            return self._matching.marks(made, urls, fetched)
        except BadPack as error:
            # Damaged on disk after it was opened: without labels rather than without pages.
            self._trouble, self._matching = f"labels: {error}", None
            return None

    @property
    def shortest(self) -> int:
        """Characters that chunks in force have more of."""
        return SHORTEST if self._matching is None else self._matching.shortest

    def _take_up(self) -> None:
        try:
            self._matching = self._opened()
            self._trouble, self._looked = None, True
        except OSError as error:
            # It may pass: looked for again with the next batch.
            self._trouble, self._looked = f"labels: {error}", False
        except (DetectorError, ValueError, msgspec.MsgspecError) as error:
            self._trouble, self._looked = f"labels: {error}", True

    def _opened(self) -> Matching | None:
        for attempt in range(_TRIES):
            current = self._store.current()
            from reusewatch.streams.labels.matching import (
                all_stop_chunks,
                matching_of,
                stops_only,
            )

            stops = self._matching.stops if self._matching else None
            stops = stops or all_stop_chunks(self._scheme, self._listed)
            if current is None or current.version is None:
                return stops_only(self._scheme, stops)
            try:
                return matching_of(self._store, current, self._scheme, self._listed, stops)
            except FileNotFoundError:
                # Replaced, and its files taken away, between reading `current` and opening them.
                if attempt == _TRIES - 1:
                    raise
        raise AssertionError
