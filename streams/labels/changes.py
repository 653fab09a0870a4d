"""What commands change of the labeled dataset: a pack pushed, a name removed, a step back.

A change is what to send, and says in its manifest what was there before, so that one step back is
always possible: `rollback` is a change too, and twice is none. Sends nothing itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from reusewatch.detector.hashing import HashScheme, hex_of
from reusewatch.streams.alert_kinds import Severity
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.labels.table import UNIT_OF, LabelTable, place_said
from reusewatch.streams.records import Label, LabelManifest, LabelsBefore, PackNamed
from reusewatch.streams.wire import label_message, label_withdrawal, manifest_message

if TYPE_CHECKING:
    from reusewatch.detector.labels.merging import Changed
    from reusewatch.detector.labels.pack import LabelPack

# More changed hashes than this travel as a pack.
MOST_CHANGES = 10_000


class NoChange(Exception):
    """There is nothing to change, and why."""


@dataclass(frozen=True, slots=True)
class Change:
    """What to send: hashes first, then the manifest that counts on them."""

    manifest: LabelManifest
    labels: tuple[Label, ...] = ()
    withdrawn: tuple[str, ...] = ()
    # Packs that nothing goes back to any more.
    dropped: tuple[PackNamed, ...] = ()

    def messages(self) -> Iterable[Outgoing]:
        """In the order of sending."""
        yield from map(label_message, self.labels)
        yield from map(label_withdrawal, self.withdrawn)
        yield manifest_message(self.manifest)

    def is_in(self, table: LabelTable) -> bool:
        """Whether all of it is in force; made again, it would lose what one step back leads to."""
        new, old = self.manifest, table.manifest
        return (
            old is not None
            and (new.pack, new.pushed, new.removed) == (old.pack, old.pushed, old.removed)
            and not self.withdrawn
            and all(table.labels.get(label.hash) == label for label in self.labels)
        )


def push_whole(table: LabelTable, pack: PackNamed, scheme: HashScheme, now: datetime) -> Change:
    """A pack in place of the one in force, and of the differences that were pushed since.

    What discovery labeled stays; names that the pack has are no longer removed.
    """
    withdrawn = tuple(value for value, label in table.labels.items() if label.pushed)
    names = {label.name for label in pack.labels}
    removed = tuple(name for name in _removed(table) if name not in names)
    return _change(table, scheme, now, pack, pack.version, removed, {}, withdrawn)


def push_difference(
    table: LabelTable,
    new: LabelPack,
    changed: Sequence[Changed],
    scheme: HashScheme,
    now: datetime,
) -> Change:
    """What makes the pack in force say what a new one does; `changed` is from the one to it."""
    severity: Mapping[str, Severity] = {label.name: label.severity for label in new.labels}
    labels = {
        label.hash: label for label in (_label(one, severity, new.version) for one in changed)
    }
    withdrawn = tuple(
        value for value, label in table.labels.items() if label.pushed and value not in labels
    )
    removed = tuple(name for name in _removed(table) if name not in severity)
    pack = table.manifest.pack if table.manifest else None
    return _change(table, scheme, now, pack, new.version, removed, labels, withdrawn)


def _label(changed: Changed, severity: Mapping[str, Severity], version: str) -> Label:
    kind, value, names, stood = changed
    first, *also = sorted(names) or [""]
    return Label(
        hash=hex_of(value), unit=UNIT_OF[kind], name=first, also=tuple(also), removed=not names,
        version=version, severity=severity.get(first, "warning"), pushed=True,
        stood=None if stood is None else place_said(stood),
    )  # fmt: skip


def remove(table: LabelTable, name: str, scheme: HashScheme, now: datetime) -> Change:
    """A name counts no more, in the pack and in what was discovered: its tombstone."""
    removed = _removed(table)
    if name in removed:
        raise NoChange(f"{name} is removed already")
    if name not in known_names(table):
        names = ", ".join(sorted(known_names(table))) or "none"
        raise NoChange(f"no label is called {name}; in force are: {names}")
    manifest = table.manifest
    pack, pushed = (manifest.pack, manifest.pushed) if manifest else (None, None)
    return _change(table, scheme, now, pack, pushed, (*removed, name), {}, ())


def rollback(table: LabelTable, scheme: HashScheme, now: datetime) -> Change:
    """Back to what was in force before the last change."""
    before = table.manifest.previous if table.manifest else None
    if before is None:
        raise NoChange("there is no version before this one")
    labels = {label.hash: label for label in before.labels}
    return _change(table, scheme, now, before.pack, before.pushed, before.removed, labels,
                   before.withdrawn)  # fmt: skip


def known_names(table: LabelTable) -> set[str]:
    """Names that are in force."""
    pack = table.manifest.pack if table.manifest else None
    names = {label.name for label in pack.labels} if pack else set()
    return (names | {name for name, _, _ in table.names()}) - set(_removed(table))


def _removed(table: LabelTable) -> tuple[str, ...]:
    return table.manifest.removed if table.manifest else ()


def _change(
    table: LabelTable,
    scheme: HashScheme,
    now: datetime,
    pack: PackNamed | None,
    pushed: str | None,
    removed: tuple[str, ...],
    labels: Mapping[str, Label],
    withdrawn: Sequence[str],
) -> Change:
    old = table.manifest
    touched = sorted({*labels, *withdrawn})
    before = LabelsBefore(
        pack=old.pack if old else None,
        pushed=old.pushed if old else None,
        removed=_removed(table),
        labels=tuple(table.labels[value] for value in touched if value in table.labels),
        withdrawn=tuple(value for value in touched if value not in table.labels),
    )
    manifest = LabelManifest(
        scheme=scheme.name, pack=pack, pushed=pushed, removed=removed, at=now, previous=before
    )
    kept = {named.checksum for named in (pack, before.pack) if named}
    older = (old.previous.pack if old and old.previous else None, old.pack if old else None)
    dropped = tuple(named for named in older if named and named.checksum not in kept)
    return Change(manifest, tuple(labels.values()), tuple(withdrawn), dropped)
