"""Changes put on the bus: packs first, then what holds beside them, then the manifest.

Whoever reads sees the old version until the manifest comes, and all that it names is there then. A
small difference to the pack in force travels as hashes; anything else as a whole pack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.bus import Bus
from reusewatch.streams.labels.changes import MOST_CHANGES, Change, push_difference, push_whole
from reusewatch.streams.labels.follower import publish_local
from reusewatch.streams.labels.parts import copy, named, parts_of, withdrawn_parts
from reusewatch.streams.labels.store import LabelStore, checksum_of
from reusewatch.streams.labels.table import LabelTable
from reusewatch.streams.local import LocalBus
from reusewatch.streams.local.database import told
from reusewatch.streams.records import LabelManifest, PackNamed

if TYPE_CHECKING:
    from reusewatch.detector.labels.merging import Changed
    from reusewatch.detector.labels.pack import LabelPack

# About what one changed hash takes on the topic.
_CHANGE_BYTES = 250

Make = Callable[[LabelTable, HashScheme, datetime], Change]


@dataclass(frozen=True, slots=True)
class Desk:
    """Where changes are made: a bus, and the directory of this machine."""

    bus: Bus
    store: LabelStore
    scheme: HashScheme
    say: Callable[[str], None]

    def table(self) -> LabelTable:
        """What the bus says now."""
        return LabelTable.read(self.bus)

    def change(self, make: Make) -> dict[str, Any]:
        """Make a change and send it; what it came to."""
        with told(self.store.directory), self.store.locked():
            table = self.table()
            change = make(table, self.scheme, datetime.now(UTC))
            self._send(change)
        return self._done(table, change.manifest)

    def push(
        self, path: Path, pack: LabelPack, *, whole: bool = False, since: Path | None = None
    ) -> dict[str, Any]:
        """Put a sound pack in force: as its difference where that is small, or whole."""
        with told(self.store.directory), self.store.locked():
            table, now = self.table(), datetime.now(UTC)
            changed = None if whole else self._changed(table, pack, since, path.stat().st_size)
            sent: PackNamed | None = None
            if changed is not None:
                change = push_difference(table, pack, changed, self.scheme, now)
            else:
                sent = named(path, pack)
                change = push_whole(table, sent, self.scheme, now)
            known = table.manifest if change.is_in(table) else None
            if sent and (whole or not known or not self.store.pack_path(sent).exists()):
                self._send_pack(path, sent)
            if known:
                self.say("push: this pack is in force already")
            else:
                self._send(change)
        travelled = {"travelled": "whole" if changed is None else "difference",
                     "changed": None if changed is None else len(changed)}  # fmt: skip
        return self._done(table, known or change.manifest) | travelled

    def _changed(
        self, table: LabelTable, pack: LabelPack, since: Path | None, size: int
    ) -> list[Changed] | None:
        """The difference to the pack in force, where that is here and little changed."""
        from reusewatch.detector.labels.merging import changed
        from reusewatch.detector.labels.pack import open_pack

        before = table.manifest.pack if table.manifest else None
        if before is None:
            return None
        path = self.store.pack_path(before) if since is None else since
        if not path.exists() or (since is not None and checksum_of(since) != before.checksum):
            return None
        old = open_pack(path, self.scheme)
        if _kept(old) != _kept(pack):
            return None
        described = {
            label.name: (label.severity, label.source, label.homes) for label in old.labels
        }
        for label in pack.labels:
            # How a label that was there is described travels with a pack only.
            found = (label.severity, label.source, label.homes)
            # A new one may come as its hashes, which say nothing of its homes.
            if described.get(label.name, (*found[:2], ())) != found:
                return None
        return changed(old, pack, min(MOST_CHANGES, size // _CHANGE_BYTES))

    def _send_pack(self, path: Path, pack: PackNamed) -> None:
        if isinstance(self.bus, LocalBus):
            copy(path, self.store.pack_path(pack))
            return
        outlet = self.bus.outlet()
        try:
            for number, part in enumerate(parts_of(path, pack), 1):
                outlet.send(part)
                if number % 25 == 0:
                    self.say(f"push: {number} of {pack.parts} parts")
            outlet.flush()
        finally:
            outlet.close()

    def _send(self, change: Change) -> None:
        outlet = self.bus.outlet()
        try:
            for message in change.messages():
                outlet.send(message)
            outlet.flush()
            if not isinstance(self.bus, LocalBus):
                for pack in change.dropped:
                    for tombstone in withdrawn_parts(pack):
                        outlet.send(tombstone)
        finally:
            outlet.close()

    def _done(self, before: LabelTable, manifest: LabelManifest) -> dict[str, Any]:
        if isinstance(self.bus, LocalBus):
            with told(self.store.directory):
                publish_local(self.bus, self.store, self.scheme, self.say)
        return {
            "version": self.table().version(self.scheme),
            "previous": before.version(self.scheme),
            "pack": manifest.pack.version if manifest.pack else None,
            "pushed": manifest.pushed,
            "files": manifest.pack.files if manifest.pack else 0,
            "chunks": manifest.pack.chunks if manifest.pack else 0,
            "removed": list(manifest.removed),
        }


def _kept(pack: LabelPack) -> tuple[bool, frozenset[float]]:
    """Whether a pack says where its hashes stood, and which share of the grams its labels keep:
    hashes that travel alone say neither."""
    shares = frozenset(label.gram_share for label in pack.labels if label.gram_share)
    return len(pack.pages) > 0, shares
