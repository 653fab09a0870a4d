"""The labeled dataset on one machine: a directory that all of its fingerprint processes look at.

    current             what is in force: small, replaced by renaming
    CHECKSUM.pack       packs, never changed
    CHECKSUM.overlay    what holds beside a pack
    lock                held by who writes

Who reads needs no lock: a file that `current` names is whole. Never maps nor matches.
"""

from __future__ import annotations

import fcntl
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import msgspec
import xxhash

from reusewatch.detector.errors import BadPack
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.bus import Unreachable
from reusewatch.streams.disk import replace_file
from reusewatch.streams.labels.table import Overlay
from reusewatch.streams.records import PackNamed

FORMAT = 1
_CHECKSUM = re.compile("[0-9a-f]{32}")
_LOOK_SECONDS = 0.1
_BLOCK = 1 << 24

Stamp = tuple[int, int, int]


class Current(msgspec.Struct, frozen=True, kw_only=True):
    """What is in force. `end` is how much of the topic it says."""

    format: int = FORMAT
    scheme: str
    version: str | None
    pack: str | None = None
    overlay: str | None = None
    end: int = 0


class LabelStore:
    """The directory. It need not exist: then nothing is in force."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._current = directory / "current"

    def stamp(self) -> Stamp | None:
        """What changes whenever `current` does: cheap enough for every batch."""
        try:
            found = self._current.stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_ino, found.st_size

    def current(self) -> Current | None:
        """What is in force."""
        try:
            data = self._current.read_bytes()
        except FileNotFoundError:
            return None
        try:
            found = msgspec.json.decode(data, type=Current)
        except msgspec.DecodeError as error:
            raise BadPack(f"{self._current} cannot be read ({error}): push a pack anew") from error
        if found.format > FORMAT:
            raise BadPack(f"{self._current} was written by a newer reusewatch: upgrade this one")
        return found

    def pack_path(self, pack: PackNamed) -> Path:
        """Where this machine keeps a pack. Named by its content: what a topic says is no path."""
        if not _CHECKSUM.fullmatch(pack.checksum):
            raise BadPack(f"label pack {pack.version[:80]!r} names no checksum: push it anew")
        return self.directory / f"{pack.checksum}.pack"

    def overlay(self, current: Current) -> Overlay:
        """What holds beside the pack."""
        if current.overlay is None:
            return Overlay()
        path = self.directory / current.overlay
        data = path.read_bytes()
        if f"{xxhash.xxh3_128_hexdigest(data)}.overlay" != current.overlay:
            raise BadPack(f"{path} is damaged: its checksum does not hold; push a pack anew")
        return Overlay.decoded(data)

    @contextmanager
    def locked(self, stopping: Callable[[], bool] | None = None) -> Iterator[None]:
        """Be the one who writes here. Waits for another, but not past `stopping`."""
        self.directory.mkdir(parents=True, exist_ok=True)
        with (self.directory / "lock").open("a") as lock:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if stopping is not None and stopping():
                        raise Unreachable(f"{self.directory} is being written to") from None
                    Event().wait(_LOOK_SECONDS)
            yield

    def publish(
        self,
        scheme: HashScheme,
        version: str | None,
        pack: PackNamed | None,
        overlay: Overlay,
        end: int,
        keep: PackNamed | None = None,
    ) -> None:
        """Put this in force; files that neither it nor what was in force needs leave.

        The pack is here already; `keep` is one that stays for a rollback.
        """
        before = self._readable()
        current = Current(
            scheme=scheme.name, version=version, end=end,
            pack=self.pack_path(pack).name if pack else None,
            overlay=self._written(overlay) if overlay else None,
        )  # fmt: skip
        if current == before:
            return
        replace_file(self._current, msgspec.json.encode(current))
        kept = {current.pack, current.overlay, self.pack_path(keep).name if keep else None}
        if before is not None:
            # A process may have read `current` a moment ago, and open these only now.
            kept |= {before.pack, before.overlay}
        # The last are what a process left that was killed while it wrote here.
        for pattern in ("*.pack", "*.overlay", ".*.partial"):
            for path in self.directory.glob(pattern):
                if path.name not in kept:
                    path.unlink(missing_ok=True)

    def _readable(self) -> Current | None:
        try:
            return self.current()
        except BadPack:
            return None

    def _written(self, overlay: Overlay) -> str:
        data = overlay.encoded()
        name = f"{xxhash.xxh3_128_hexdigest(data)}.overlay"
        replace_file(self.directory / name, data)
        return name


def checksum_of(path: Path) -> str:
    """The checksum of a file's bytes."""
    running = xxhash.xxh3_128()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            running.update(block)
    return running.hexdigest()
