"""A labeled dataset and the stop chunks: pages in, marks out (Ardi, Heidemann 2014, §3.1 step 4).

Simple object matching of files and of chunks. A stop chunk is never labeled (§3.4.2), whatever a
pack says. Never changes; another version is another of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.dataset import LabeledDataset
from reusewatch.detector.labels.format import SHORTEST
from reusewatch.detector.labels.pack import open_pack
from reusewatch.detector.labels.page_chunks import stop_chunks_of
from reusewatch.detector.labels.places import ABSENT
from reusewatch.detector.labels.stop_chunks import StopChunks, StopList, shipped
from reusewatch.streams.alert_kinds import SEVERITIES, Severity
from reusewatch.streams.blocks.label_columns import NO_PLACE, Marks, Place, place_of
from reusewatch.streams.labels.gram_marks import GramMatching, KeptGrams
from reusewatch.streams.labels.store import Current, LabelStore
from reusewatch.streams.records import LabelFirst
from reusewatch.streams.url_sets import UrlSet
from reusewatch.streams.urls import site_of_page

if TYPE_CHECKING:
    from reusewatch.detector.labels.pack import Kind, LabelPack
    from reusewatch.detector.ragged import Ragged
    from reusewatch.detector.sketching.fingerprint import Fingerprints
    from reusewatch.streams.labels.table import Overlay

# Of a page, as evidence.
TEXTS = 16
# First pages are known to the second.
_SECOND = timedelta(seconds=1)
_Sighting = tuple[str, datetime]  # of a page: its URL, and when it was fetched
_RANK: Mapping[Severity, int] = {one: rank for rank, one in enumerate(SEVERITIES)}


def matching_of(
    store: LabelStore,
    current: Current,
    scheme: HashScheme,
    listed: StopList | None = None,
    stops: StopChunks | None = None,
) -> Matching:
    """What a store has in force. `stops` are the list's, where they were made before."""
    scheme.require(current.scheme, f"what {store.directory} holds")
    pack = open_pack(store.directory / current.pack, scheme) if current.pack else None
    return matching_with(
        scheme, pack, store.overlay(current), stops or all_stop_chunks(scheme, listed)
    )


def matching_with(
    scheme: HashScheme, pack: LabelPack | None, overlay: Overlay, stops: StopChunks
) -> Matching:
    """A pack with the changes beside it."""
    dataset = LabeledDataset(scheme, pack)
    overlay.laid_on(dataset)
    severities = {label.name: label.severity for label in pack.labels} if pack else {}
    counts = {"files": len(pack.files) if pack else 0, "chunks": len(pack.chunks) if pack else 0}
    for kind, _, names in overlay.changes:
        if kind in counts:
            counts[kind] += bool(names)
    return Matching(
        dataset,
        stops,
        severities | overlay.severities,
        (counts["files"], counts["chunks"]),
        {label.name: UrlSet(label.homes) for label in pack.labels if label.homes} if pack else {},
        overlay.firsts,
        shortest=_shortest(pack, overlay),
    )


def _shortest(pack: LabelPack | None, overlay: Overlay) -> int:
    """What the chunks in force are longer than. Those beside a pack do not say it themselves."""
    said = [label.longer_than for label in pack.labels if label.chunks] if pack else []
    if any(kind == "chunks" for kind, _, _ in overlay.changes):
        said.append(SHORTEST)
    return min(said, default=SHORTEST)


def stops_only(scheme: HashScheme, stops: StopChunks) -> Matching:
    """Where no dataset is in force: stop chunks are marked all the same, for discovery."""
    return Matching(LabeledDataset(scheme), stops, {}, in_force=False)


@lru_cache(1)
def all_stop_chunks(scheme: HashScheme, listed: StopList | None) -> StopChunks:
    """The shipped list and the user's; made once, also for the processes that are forked later."""
    return stop_chunks_of(shipped() + (listed or StopList()), scheme)


class Hashed(NamedTuple):
    """The pages of a batch as they are matched: the hashes of their chunks and files."""

    chunks: Ragged
    files: NDArray[np.uint64]
    urls: Sequence[str]
    fetched: Sequence[datetime]
    # The text of a chunk, by its place among those of all pages. Evidence shows it.
    text_of: Callable[[int, int], str]


class Matching:
    """A dataset and the stop chunks: pages in, marks out."""

    def __init__(
        self,
        dataset: LabeledDataset,
        stops: StopChunks,
        severities: Mapping[str, Severity],
        size: tuple[int, int] = (0, 0),
        homes: Mapping[str, UrlSet] | None = None,
        firsts: Mapping[int, LabelFirst] | None = None,
        *,
        shortest: int = SHORTEST,
        in_force: bool = True,
    ) -> None:
        self.stops = stops
        self.size = size
        self.shortest = shortest
        self.version = dataset.version if in_force else None
        self._dataset = dataset
        self._severities = severities
        self._homes = homes or {}
        self._firsts = firsts or {}
        self._grams = GramMatching(dataset, stops, self._foreign, self._told)

    def _told(self, names: Sequence[str]) -> Mapping[str, Any]:
        """The severity of these labels, and whether one of them has a home."""
        highest = max((self._severity(name) for name in names), key=_RANK.__getitem__, default=None)
        return {"severity": highest, "homed": any(name in self._homes for name in names)}

    def marks(
        self, made: Fingerprints, urls: Sequence[str], fetched: Sequence[datetime]
    ) -> list[Marks]:
        """What of each page is labeled, and which of its chunks are stop chunks.

        A page at the home of a label is free of that label, and of no other. The site that first
        had what was discovered is free of it, and so is a page that was fetched before.
        """
        files = np.array([facts.file_hash for facts in made.facts], np.uint64)
        chunks = made.sketches.chunks.hashes
        found = self._of_hashes(Hashed(chunks, files, urls, fetched, made.texts.of))
        for page, marked in self._grams.marks(made, urls).items():
            found[page] = found[page]._replace(labeled_grams=marked)
        return found

    def marks_of_kept(self, pages: Hashed, grams: KeptGrams | None) -> list[Marks]:
        """The marks of pages of which only the hashes are left, by the same rules; without texts
        and passages."""
        found = self._of_hashes(pages)
        if grams is not None:
            for page, marked in self._grams.marks_of_kept(grams, pages.urls).items():
                found[page] = found[page]._replace(labeled_grams=marked)
        return found

    def _of_hashes(self, pages: Hashed) -> list[Marks]:
        hashes = pages.chunks
        stopped = self.stops.has_chunks(hashes.values)
        labeled = self._dataset.match("chunks", hashes.values)
        labeled[stopped] = ABSENT
        files = self._files(pages.files)
        found = [Marks(self.version)] * len(pages.urls)
        for page, places in _places(stopped, hashes.offsets):
            found[page] = Marks(self.version, stopped=places)
        hit = np.searchsorted(hashes.offsets, np.flatnonzero(labeled != ABSENT), "right") - 1
        for page in {*hit.tolist(), *np.flatnonzero(files != ABSENT).tolist()}:
            stops = found[page].stopped
            found[page] = self._marks(pages, page, labeled, stops, int(files[page]))
        return found

    def _files(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        found = self._dataset.match("files", hashes)
        found[self.stops.has_files(hashes)] = ABSENT
        return found

    def _stood(self, kind: Kind, hashes: NDArray[np.uint64], names: Sequence[str]) -> list[Place]:
        """Where each hash stood under its name; what is not known is a place without a URL."""
        return [
            place_of(one) if one is not None and one.label == name else NO_PLACE
            for one, name in zip(self._dataset.stood(kind, hashes), names, strict=True)
        ]

    def _marks(
        self,
        pages: Hashed,
        page: int,
        labeled: NDArray[np.int64],
        stops: tuple[int, ...],
        file: int,
    ) -> Marks:
        sighting = pages.urls[page], pages.fetched[page]
        chunks = slice(*pages.chunks.offsets[page : page + 2].tolist())
        places = np.flatnonzero(labeled[chunks] != ABSENT).tolist()
        sets = labeled[chunks][places].tolist()
        hashes = pages.chunks.values[chunks]
        pairs = [
            (place, name)
            for place, number in zip(places, sets, strict=True)
            for name in self._accusing(int(hashes[place]), number, sighting)
        ]
        shown = pairs[:TEXTS]
        at = np.array([place for place, _ in shown], np.int64)
        whole = int(pages.files[page])
        file_labels = () if file == ABSENT else self._accusing(whole, file, sighting)
        file_hash = np.array([whole], np.uint64)
        file_at = self._stood("files", file_hash, file_labels[:1])[0] if file_labels else NO_PLACE
        names = {name for _, name in pairs} | set(file_labels)
        told = self._told([*names])
        return Marks(
            self.version,
            told["severity"],
            file_labels,
            tuple(place for place, _ in pairs),
            tuple(name for _, name in pairs),
            tuple(pages.text_of(page, chunks.start + place) for place, _ in shown),
            stops,
            told["homed"],
            file_at if file_at["url"] is not None else None,
            tuple(self._stood("chunks", hashes[at], [name for _, name in shown])),
            labeled_homed=tuple(sorted({place for place, name in pairs if name in self._homes})),
        )

    def _accusing(self, value: int, number: int, sighting: _Sighting) -> tuple[str, ...]:
        """The labels of a hash that count on a page: none where the hash was first."""
        url, fetched = sighting
        first = self._firsts.get(value)
        if first is not None:
            # As blocks have them: what says no time zone is UTC.
            at = fetched if fetched.tzinfo else fetched.replace(tzinfo=UTC)
            if at - first.fetched_at < _SECOND or site_of_page(url) == first.site:
                return ()
        return self._foreign(number, url)

    def _foreign(self, number: int, url: str) -> tuple[str, ...]:
        """The labels of a set, but for those that are at home on this page."""
        names = self._dataset.labels_of(number)
        if not self._homes:
            return names
        return tuple(n for n in names if n not in self._homes or not self._homes[n].has(url))

    def _severity(self, name: str) -> Severity:
        return self._severities.get(name, "warning")


def _places(
    marked: NDArray[np.bool_], offsets: NDArray[np.int64]
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The pages with marked chunks, and the places of those among the page's own."""
    at = np.flatnonzero(marked)
    bounds = np.searchsorted(at, offsets)
    places = (at - np.repeat(offsets[:-1], np.diff(bounds))).tolist()
    for page, (start, end) in enumerate(pairwise(bounds.tolist())):
        if start < end:
            yield page, tuple(places[start:end])
