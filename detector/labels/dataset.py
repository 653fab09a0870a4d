"""The labeled dataset L as a worker matches with it: a mapped pack, and what changed since.

Simple object matching (Ardi, Heidemann 2014, §3.1 step 4) of files in L_f and chunks in L_c. What
discovery finds while the crawl goes on, and what an operator removes, is an overlay on the pack. A
`Delta` says all that is known of one hash, so that replaying deltas twice, or only the last of each
hash, gives the same dataset. Never writes the pack; a new one is swapped in between two batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.format import check_name
from reusewatch.detector.labels.gram_filter import candidates, filter_of
from reusewatch.detector.labels.hash_table import HashTable
from reusewatch.detector.labels.labeled_page import LabeledPage, Stood
from reusewatch.detector.labels.pack import KINDS, Kind, LabelPack
from reusewatch.detector.labels.places import ABSENT
from reusewatch.detector.labels.stood import NO_PAGE, nowhere
from reusewatch.detector.ragged import Ragged

UNPACKED = "none"


@dataclass(frozen=True, slots=True)
class Delta:
    """The names that one hash stands under from now on; with none, it is in L no more. And where it
    stood, if that is known."""

    kind: Kind
    hash: int
    labels: frozenset[str]
    stood: Stood | None = None

    def __post_init__(self) -> None:
        # Refused here, where it can be named: in the overlay it would fail every match.
        if self.kind not in KINDS or not 0 <= self.hash < 1 << 64:
            raise ValueError(f"there is no hash {self.hash} of {self.kind!r}")
        for name in self.labels:
            check_name(name)


@dataclass(frozen=True, slots=True, eq=False)
class _Overlay:
    table: HashTable
    sets: NDArray[np.int64]
    # Places whose pages are numbered behind those of the pack.
    places: NDArray[np.void]
    # Before the table of grams, where it has any; made once for each change.
    filter: NDArray[np.uint64] | None


class LabeledDataset:
    """L: `match` is pure; `apply`, `remove`, `restore` and `swap` change it.

    A set's number is good until the next change.
    """

    def __init__(self, scheme: HashScheme, pack: LabelPack | None = None) -> None:
        self._scheme = scheme
        self._stated: dict[Kind, dict[int, frozenset[str]]] = {kind: {} for kind in KINDS}
        self._stood: dict[Kind, dict[int, Stood]] = {kind: {} for kind in KINDS}
        self._removed: set[str] = set()
        self._digest = 0
        self._overlays: dict[Kind, _Overlay] | None = None
        self.swap(pack)

    def __len__(self) -> int:
        """How many hashes the overlay holds: at some millions, `compact` it into a pack."""
        return sum(map(len, self._stated.values()))

    @property
    def version(self) -> str:
        """The pack's version and a digest of the overlay, the same in whatever order it came."""
        pack = self._pack.version if self._pack else UNPACKED
        return f"{pack}+{self._digest:016x}" if self._digest else pack

    @property
    def removed(self) -> frozenset[str]:
        """Names that were removed: the pack's hashes under them do not count."""
        return frozenset(self._removed)

    def deltas(self) -> Iterator[Delta]:
        """The overlay: to be kept beside a worker's other state, with `removed`.

        To restore it, `remove` those names first, then `apply` these.
        """
        for kind in KINDS:
            for value, labels in self._stated[kind].items():
                yield Delta(kind, value, labels, self._stood[kind].get(value))

    def swap(self, pack: LabelPack | None) -> None:
        """Put another pack under the overlay."""
        if pack is not None:
            self._scheme.require(pack.scheme, f"label pack {pack.path}")
        self._pack = pack
        self._overlays = None

    def apply(self, deltas: Iterable[Delta]) -> None:
        """What became known of some hashes; the last word on a hash counts."""
        for delta in deltas:
            stated = self._stated[delta.kind]
            self._toggle(delta.kind, delta.hash, stated.get(delta.hash))
            stated[delta.hash] = delta.labels
            self._stood[delta.kind].pop(delta.hash, None)
            if delta.stood is not None:
                self._stood[delta.kind][delta.hash] = delta.stood
            self._toggle(delta.kind, delta.hash, delta.labels)
        self._overlays = None

    def remove(self, name: str) -> None:
        """Take a name out of L. Deltas that name it later put those hashes back."""
        changed = [
            Delta(delta.kind, delta.hash, delta.labels - {name}, delta.stood)
            for delta in self.deltas()
            if name in delta.labels
        ]
        self.apply(changed)
        if name not in self._removed:
            self._removed.add(name)
            self._digest ^= xxhash.xxh3_64_intdigest(f"removed {name}".encode())

    def restore(self, name: str) -> None:
        """Let the pack's hashes under a removed name count again."""
        if name in self._removed:
            self._removed.remove(name)
            self._digest ^= xxhash.xxh3_64_intdigest(f"removed {name}".encode())
            self._overlays = None

    def _toggle(self, kind: Kind, value: int, labels: frozenset[str] | None) -> None:
        """Put a statement into the digest, or take it out: the same operation."""
        if labels is not None:
            said = msgspec.json.encode([kind, value, sorted(labels)])
            self._digest ^= xxhash.xxh3_64_intdigest(said)

    def match(self, kind: Kind, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The number of each hash's set of labels; `ABSENT` where it is not in L."""
        overlay = (self._overlays or self._laid())[kind]
        if self._pack is None:
            found = np.full(len(hashes), ABSENT, np.int64)
        else:
            found = self._pack.find(kind, hashes)
        if self._renumbered is not None:
            hits = np.flatnonzero(found != ABSENT)
            found[hits] = self._renumbered[found[hits]]
        places = overlay.table.find(hashes)
        hits = np.flatnonzero(places != ABSENT)
        found[hits] = overlay.sets[places[hits]]
        return found

    def match_grams(
        self, phrases: Ragged, *, wrapped: int = 0
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which phrases of these pages are labeled, as places in their column, and the number of
        each one's set; of each page without the last `wrapped` ones."""
        overlay = (self._overlays or self._laid())["grams"]
        parts = [np.empty(0, np.int64)]
        if self._pack is not None and len(self._pack.grams):
            parts.append(candidates(self._pack.gram_filter, phrases, wrapped=wrapped))
        if overlay.filter is not None:
            parts.append(candidates(overlay.filter, phrases, wrapped=wrapped))
        # Each of the filters says its own in rising order.
        at = np.unique(np.concatenate(parts)) if len(parts) > 2 else parts[-1]
        sets = self.match("grams", phrases.values[at])
        hits = sets != ABSENT
        return at[hits], sets[hits]

    @property
    def gram_share(self) -> float:
        """Which share of the grams of labeled pages is there, the least of all labels'; 0 where
        none is."""
        labels = self._pack.labels if self._pack is not None else ()
        shares = [x.gram_share for x in labels if x.gram_share and x.name not in self._removed]
        return min(shares, default=0.0)

    def places(self, kind: Kind, hashes: NDArray[np.uint64]) -> NDArray[np.void]:
        """Where each hash stood; `NOWHERE` where that is not known."""
        overlay = (self._overlays or self._laid())[kind]
        found = nowhere(len(hashes)) if self._pack is None else self._pack.stood(kind, hashes)
        at = overlay.table.find(hashes)
        hits = np.flatnonzero(at != ABSENT)
        said = overlay.places[at[hits]]
        known = said["page"] != NO_PAGE
        found[hits[known]] = said[known]
        return found

    def page(self, number: int) -> tuple[LabeledPage, str]:
        """A page that something stood on, and the label that it came under."""
        if self._pack is not None and number < len(self._pack.pages):
            return self._pack.page(number)
        return self._pages[number - self._first_page]

    def stood(self, kind: Kind, hashes: NDArray[np.uint64]) -> list[Stood | None]:
        """Where each of a few hashes stood, as far as that is known."""
        return [
            None if number == NO_PAGE else Stood(*self.page(number), start, start + length)
            for number, start, length in self.places(kind, hashes).tolist()
        ]

    def labels_of(self, number: int) -> tuple[str, ...]:
        """The names in a set that `match` found."""
        if self._pack is not None and number < len(self._pack.sets):
            return self._pack.labels_of(number)
        return self._sets[number - self._first]

    def _laid(self) -> dict[Kind, _Overlay]:
        """Make the overlay's tables anew, after a change."""
        self._first = len(self._pack.sets) if self._pack else 0
        self._first_page = len(self._pack.pages) if self._pack else 0
        self._pages: list[tuple[LabeledPage, str]] = []
        self._numbers: dict[tuple[LabeledPage, str], int] = {}
        self._sets: list[tuple[str, ...]] = []
        self._known: dict[tuple[str, ...], int] = {}
        self._renumbered = self._without_removed()
        self._overlays = {kind: self._overlay(kind) for kind in KINDS}
        return self._overlays

    def _overlay(self, kind: Kind) -> _Overlay:
        stated = self._stated[kind]
        hashes = np.fromiter(stated, np.uint64, len(stated))
        numbers = [self._number(tuple(sorted(labels))) for labels in stated.values()]
        order = np.argsort(hashes)
        stood = nowhere(len(stated))
        for at, value in enumerate(stated):
            if (one := self._stood[kind].get(value)) is not None:
                stood[at] = (self._page_number(one), one.start, one.end - one.start)
        sets = np.array(numbers, np.int64)[order]
        table = HashTable.of(hashes[order])
        passed = filter_of(table.hashes) if kind == "grams" and len(table) else None
        return _Overlay(table, sets, stood[order], passed)

    def _page_number(self, stood: Stood) -> int:
        key = stood.page, stood.label
        number = self._numbers.setdefault(key, self._first_page + len(self._pages))
        if number == self._first_page + len(self._pages):
            self._pages.append(key)
        return number

    def _without_removed(self) -> NDArray[np.int64] | None:
        """What the pack's sets are without the removed names; None if nothing was removed."""
        if self._pack is None or not self._removed:
            return None
        numbers = np.arange(self._first)
        for number in range(self._first):
            names = self._pack.labels_of(number)
            if not self._removed.isdisjoint(names):
                numbers[number] = self._number(tuple(n for n in names if n not in self._removed))
        return numbers

    def _number(self, labels: tuple[str, ...]) -> int:
        if not labels:
            return ABSENT
        number = self._known.setdefault(labels, self._first + len(self._sets))
        if number == self._first + len(self._sets):
            self._sets.append(labels)
        return number
