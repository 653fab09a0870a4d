"""The labeled dataset as the topic `labels` says it: the manifest, and what is known of hashes.

What cannot be understood is kept apart with its reason, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from reusewatch.detector.hashing import HashScheme, hex_of
from reusewatch.detector.labels.labeled_page import LabeledPage, Stood
from reusewatch.streams import topics
from reusewatch.streams.alert_kinds import Severity
from reusewatch.streams.bus import Bus, Message
from reusewatch.streams.records import (
    Label,
    LabelFirst,
    LabelManifest,
    LabelPlace,
    Origin,
    PackNamed,
)
from reusewatch.streams.wire import MANIFEST_KEY, Malformed, WireError, read_json, read_manifest

if TYPE_CHECKING:
    # the kernels behind them are loaded by who really works.
    from reusewatch.detector.labels.dataset import Delta, LabeledDataset

# Of four MiB each: far more than any pack has, and few enough to be counted through.
MOST_PARTS = 1 << 16
Kind = Literal["files", "chunks", "grams"]
KIND_OF: Mapping[str, Kind] = {"file": "files", "chunk": "chunks", "gram": "grams"}
UNIT_OF: Mapping[Kind, Any] = {"files": "file", "chunks": "chunk", "grams": "gram"}


class Overlay(msgspec.Struct, frozen=True):
    """What holds beside a pack: names removed, hashes with their names, names' severities, where
    some of the hashes stood, and where those that were discovered were first."""

    removed: tuple[str, ...] = ()
    changes: tuple[tuple[Kind, int, tuple[str, ...]], ...] = ()
    severities: dict[str, Severity] = {}
    stood: dict[int, Stood] = {}
    firsts: dict[int, LabelFirst] = {}

    def __bool__(self) -> bool:
        return bool(self.removed or self.changes)

    def laid_on(self, dataset: LabeledDataset) -> None:
        """Change a dataset to what holds. A removed name counts nowhere until it is pushed."""
        from reusewatch.detector.labels.dataset import Delta

        dataset.apply(
            Delta(kind, value, frozenset(names), self.stood.get(value))
            for kind, value, names in self.changes
        )
        for name in self.removed:
            dataset.remove(name)

    def encoded(self) -> bytes:
        """As bytes, the same for the same content."""
        return msgspec.msgpack.encode(self)

    @classmethod
    def decoded(cls, data: bytes) -> Overlay:
        """What was encoded. ValueError where it is none."""
        return msgspec.msgpack.decode(data, type=cls)


@dataclass(slots=True)
class LabelTable:
    """The last message of each key. `end` is the offset after the last one that was taken."""

    manifest: LabelManifest | None = None
    labels: dict[str, Label] = field(default_factory=dict)
    end: int = 0
    refused: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, bus: Bus, stop: Callable[[], bool] | None = None) -> LabelTable:
        """The topic as it is now."""
        table = cls()
        for message in bus.read(topics.LABELS, stop=stop):
            table.take(message)
        return table

    def take(self, message: Message) -> None:
        """One more message, a tombstone or a record."""
        self.end = max(self.end, message.offset + 1)
        self.refused.pop(message.key, None)
        try:
            self._take(message)
        except (WireError, ValueError) as error:
            self.refused[message.key] = f"{message.key[:80]} on {topics.LABELS}: {error}"

    def _take(self, message: Message) -> None:
        if message.key == MANIFEST_KEY:
            manifest = None if message.value is None else read_manifest(message)
            for pack in _packs(manifest):
                if not 0 <= pack.parts <= MOST_PARTS:
                    raise Malformed(f"a pack of {pack.parts} parts; there are up to {MOST_PARTS}")
            self.manifest = manifest
        elif message.value is None:
            self.labels.pop(message.key, None)
        else:
            label = read_json(message, Label)
            if label.hash != message.key:
                raise Malformed(f"what is said of {label.hash[:80]} stands under another key")
            _delta(label)  # refused here, where it can be named
            self.labels[message.key] = label

    def overlay(self) -> Overlay:
        """What holds beside the pack, in an order of its own."""
        deltas = sorted(map(_delta, self.labels.values()), key=lambda one: (one.kind, one.hash))
        changes = [(one.kind, one.hash, tuple(sorted(one.labels))) for one in deltas]
        severities = {
            name: label.severity
            for _, label in sorted(self.labels.items())
            if not label.removed
            for name in (label.name, *label.also)
        }
        removed = tuple(sorted(self.manifest.removed)) if self.manifest else ()
        stood = {one.hash: one.stood for one in deltas if one.stood is not None}
        firsts = {
            int(value, 16): label.first
            for value, label in sorted(self.labels.items()) if label.first is not None
        }  # fmt: skip
        return Overlay(removed, tuple(changes), dict(sorted(severities.items())), stood, firsts)

    def version(self, scheme: HashScheme) -> str | None:
        """The name of what is in force; None where nothing is."""
        overlay = self.overlay()
        pack = self.manifest.pack if self.manifest else None
        if pack is None and not overlay.changes:
            return None
        from reusewatch.detector.labels.dataset import LabeledDataset

        empty = LabeledDataset(scheme)
        overlay.laid_on(empty)
        own, plus, digest = empty.version.partition("+")
        return (pack.version if pack else own) + plus + digest

    def names(self) -> Iterator[tuple[str, str, int]]:
        """Names that the changes give, each with its unit and its number of hashes."""
        counts: dict[tuple[str, str], int] = {}
        for label in self.labels.values():
            if not label.removed:
                for name in (label.name, *label.also):
                    counts[name, label.unit] = counts.get((name, label.unit), 0) + 1
        yield from ((name, unit, count) for (name, unit), count in sorted(counts.items()))


def _packs(manifest: LabelManifest | None) -> list[PackNamed]:
    """The packs that a manifest names: the one in force, and the one before."""
    if manifest is None:
        return []
    before = manifest.previous.pack if manifest.previous else None
    return [pack for pack in (manifest.pack, before) if pack is not None]


def _delta(label: Label) -> Delta:
    from reusewatch.detector.labels.dataset import Delta

    names = frozenset() if label.removed else frozenset((label.name, *label.also))
    stood = None if label.stood is None else _stood(label.stood)
    return Delta(KIND_OF[label.unit], int(label.hash, 16), names, stood)


def place_said(stood: Stood) -> LabelPlace:
    """Where something stood, as the topic says it."""
    page = stood.page
    origin = Origin(source=page.source, offset=page.offset) if page.source else None
    return LabelPlace(
        url=page.url, label=stood.label, start=stood.start, end=stood.end, origin=origin,
        file_hash=hex_of(page.file_hash),
    )  # fmt: skip


def _stood(said: LabelPlace) -> Stood:
    origin = said.origin or Origin(source="")
    file_hash = int(said.file_hash or "0", 16)
    if not (0 <= file_hash < 1 << 64 and 0 <= said.start <= said.end < 1 << 63):
        raise ValueError("a labeled hash that stood nowhere on a page")
    page = LabeledPage(said.url, origin.source, origin.offset, file_hash)
    return Stood(page, said.label, said.start, said.end)
