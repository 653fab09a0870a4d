"""Label packs made of label packs, and what is new from one to the next.

L grows: by another expert's list, by what discovery found, by a newer dump of the same source
(Ardi, Heidemann 2014, §3.2). Packs of one hash scheme are merged as sorted runs, without their
sources, in memory that does not grow with them. Never changes a pack.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.errors import SchemeMismatch
from reusewatch.detector.labels.format import Built, PackLabel
from reusewatch.detector.labels.labeled_page import Stood
from reusewatch.detector.labels.pack import KINDS, Kind, LabelPack
from reusewatch.detector.labels.pairs import Pairs, Source, merged
from reusewatch.detector.labels.stood import NO_PAGE, PageSpool
from reusewatch.detector.labels.writing import Written, write_pack

# A hash, the names that it stands under from now on, and where it stood.
Changed = tuple[Kind, int, frozenset[str], Stood | None]
_DROPPED = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Difference:
    """How many hashes came to a label, and how many left it; homes that came and went."""

    name: str
    added_files: int = 0
    removed_files: int = 0
    added_chunks: int = 0
    removed_chunks: int = 0
    added_grams: int = 0
    removed_grams: int = 0
    added_homes: tuple[str, ...] = ()
    removed_homes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any((self.added_files, self.removed_files, self.added_chunks, self.removed_chunks,
                    self.added_grams, self.removed_grams, self.added_homes,
                    self.removed_homes))  # fmt: skip


class _Renamed:
    """A source whose labels have other numbers; those that are `_DROPPED` are left out. Its pages
    have others as well, where they are asked for."""

    def __init__(
        self, source: Source, numbers: NDArray[np.uint32], pages: NDArray[np.uint32] | None = None
    ) -> None:
        self._source = source
        self._numbers = numbers
        self._pages = None if pages is None else np.append(pages, np.uint32(NO_PAGE))

    def __len__(self) -> int:
        return len(self._source)

    def read(self, start: int, count: int) -> Pairs:
        """A piece of the source, without what is left out."""
        pairs = self._source.read(start, count)
        labels = self._numbers[pairs.labels]
        places = None
        if self._pages is not None and pairs.places is not None:
            places = pairs.places
            places["page"] = self._pages[places["page"].clip(0, len(self._pages) - 1)]
        return Pairs(pairs.hashes, labels, places)[labels != _DROPPED]


def merge(
    packs: Sequence[LabelPack],
    path: Path,
    *,
    drop: frozenset[str] = frozenset(),
    version: str | None = None,
    written: Callable[[Kind, int], None] | None = None,
) -> Written:
    """One pack of all labels but the dropped ones. Of labels with one name, the last is described.

    A hash stands under every name that any of the packs gives it, and where the first of them
    says. Pages of the packs are named, but for those of dropped labels.
    """
    scheme = _one_scheme(packs)
    described = {label.name: label for pack in packs for label in pack.labels}
    labels = [label for name, label in described.items() if name not in drop]
    numbers = _numbers(packs, [label.name for label in labels])
    kinds = [kind for kind in KINDS if kind != "grams" or any(len(x.grams) for x in packs)]
    fresh = [
        msgspec.structs.replace(
            label,
            files=0,
            chunks=0,
            grams=0,
            gram_share=_share(packs, label),
            built=_built(packs, label),
        )
        for label in labels
    ]
    spool = PageSpool(path.with_name(f".{path.name}.pages")) if _placed(packs) else None
    try:
        pages = [
            spool.copy(pack.pages, numbering, _DROPPED) if spool is not None else None
            for pack, numbering in zip(packs, numbers, strict=True)
        ]
        pairs = {kind: merged(_sources(packs, numbers, kind, pages)) for kind in kinds}
        return write_pack(path, scheme=scheme, labels=fresh, pairs=pairs, pages=spool,
                          version=version, written=written)  # fmt: skip
    finally:
        if spool is not None:
            spool.close()


def _placed(packs: Sequence[LabelPack]) -> bool:
    return any(len(pack.pages) for pack in packs)


def _built(packs: Sequence[LabelPack], label: PackLabel) -> Built | None:
    """How a label was built, where that is one way."""
    ways = {x.built for pack in packs for x in pack.labels if x.name == label.name}
    return next(iter(ways)) if len(ways) == 1 else None


def _share(packs: Sequence[LabelPack], label: PackLabel) -> float:
    """Of the grams of a label that several packs have, the least share that one of them kept."""
    shares = [x.gram_share for pack in packs for x in pack.labels if x.name == label.name]
    return min((share for share in shares if share), default=0.0)


def diff(old: LabelPack, new: LabelPack) -> tuple[Difference, ...]:
    """What came and went, label by label; labels without a change are left out."""
    _one_scheme([old, new])
    names = list(dict.fromkeys(label.name for pack in (old, new) for label in pack.labels))
    both = _both(old, new, names)
    counted = {kind: _differences(_sources([old, new], both, kind), len(names)) for kind in KINDS}
    before, after = ({x.name: frozenset(x.homes) for x in pack.labels} for pack in (old, new))
    none: frozenset[str] = frozenset()
    changes = (
        Difference(
            name,
            int(counted["files"][1][at]),
            int(counted["files"][0][at]),
            int(counted["chunks"][1][at]),
            int(counted["chunks"][0][at]),
            int(counted["grams"][1][at]),
            int(counted["grams"][0][at]),
            tuple(sorted(after.get(name, none) - before.get(name, none))),
            tuple(sorted(before.get(name, none) - after.get(name, none))),
        )
        for at, name in enumerate(names)
    )
    return tuple(change for change in changes if change)


def _differences(sources: list[Source], names: int) -> NDArray[np.int64]:
    """How many pairs only the old pack has, and how many only the new one, by label."""
    counts = np.zeros((2, names), np.int64)
    for piece in merged(sources):
        labels, alone, is_new = _compared(piece, names)
        for side in (0, 1):
            found = labels[alone & (is_new == side)]
            counts[side] += np.bincount(found, minlength=names)
    return counts


def changed(old: LabelPack, new: LabelPack, limit: int) -> list[Changed] | None:
    """What makes the old pack say what the new one does; None if it is more than `limit` hashes.

    A hash under another set of names is given with all of its names, as the new pack has them, and
    where that says it stood. One that only stands elsewhere now has not changed.
    """
    _one_scheme([old, new])
    names = list(dict.fromkeys(label.name for pack in (old, new) for label in pack.labels))
    found: list[Changed] = []
    for kind in KINDS:
        for piece in merged(_sources([old, new], _both(old, new, names), kind)):
            now = _new_names(piece, len(names))
            if len(found) + len(now) > limit:
                return None
            stood = new.stood_at(kind, np.array([*now], np.uint64))
            found += (
                (kind, value, frozenset(names[label] for label in labels), place)
                for (value, labels), place in zip(now.items(), stood, strict=True)
            )
    return found


def _new_names(piece: Pairs, names: int) -> dict[int, list[int]]:
    """The hashes that stand under other names than before, and the labels that they have now."""
    labels, alone, is_new = _compared(piece, names)
    hashes = np.sort(piece.hashes, kind="stable")
    touched = np.isin(hashes, hashes[alone])
    found: dict[int, list[int]] = {value: [] for value in hashes[touched].tolist()}
    rows = np.flatnonzero(touched & is_new)
    for value, label in zip(hashes[rows].tolist(), labels[rows].tolist(), strict=True):
        found[value].append(label)
    return found


def _both(old: LabelPack, new: LabelPack, names: list[str]) -> list[NDArray[np.uint32]]:
    """Each label twice: as the old pack has it, and behind those as the new one has it."""
    both = _numbers([old, new], names)
    both[1] = np.where(both[1] == _DROPPED, both[1], both[1] + np.uint32(len(names)))
    return both


def _compared(
    piece: Pairs, names: int
) -> tuple[NDArray[np.uint32], NDArray[np.bool_], NDArray[np.bool_]]:
    """Of pairs in order of hash and label: the label, whether only one side has it, which side."""
    labels = piece.labels % np.uint32(names)
    order = np.lexsort((labels, piece.hashes))
    hashes, labels, is_new = piece.hashes[order], labels[order], piece.labels[order] >= names
    again = (hashes[1:] == hashes[:-1]) & (labels[1:] == labels[:-1])
    return labels, ~(np.append(again, False) | np.append(False, again)), is_new


def _sources(
    packs: Sequence[LabelPack],
    numbers: list[NDArray[np.uint32]],
    kind: Kind,
    pages: Sequence[NDArray[np.uint32] | None] | None = None,
) -> list[Source]:
    renumbered = pages if pages is not None else [None] * len(packs)
    return [
        _Renamed(pack.source(kind), numbering, of)
        for pack, numbering, of in zip(packs, numbers, renumbered, strict=True)
    ]


def _numbers(packs: Sequence[LabelPack], names: list[str]) -> list[NDArray[np.uint32]]:
    """The place in `names` of each pack's labels."""
    places = {name: at for at, name in enumerate(names)}
    return [
        np.array([places.get(label.name, _DROPPED) for label in pack.labels], np.uint32)
        for pack in packs
    ]


def _one_scheme(packs: Sequence[LabelPack]) -> str:
    if not packs:
        raise ValueError("no packs")
    for pack in packs[1:]:
        if pack.scheme != packs[0].scheme:
            raise SchemeMismatch(f"label pack {pack.path}", pack.scheme, packs[0].scheme)
    return packs[0].scheme
