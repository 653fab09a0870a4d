"""Which files may be opened because a message names them.

Evidence, and pages that are too large for the bus, name the archive that they come from. Who can
write to the bus could name any file of this machine, or a pipe that nobody ever writes to. So a
file is opened only if it is a regular one, and either below a directory that the settings name
(`archive_roots`) or one that was replayed from here: a replay notes what it reads beside its
cursors. Only looks at names and kinds of files, never into them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import xxhash

from reusewatch.crawler.archives import wacz
from reusewatch.crawler.errors import OriginLost
from reusewatch.crawler.replaying.cursors import DIRECTORY
from reusewatch.crawler.replaying.trees import is_tree_origin, path_of_tree_origin
from reusewatch.streams.bus import Unreachable
from reusewatch.streams.disk import replace_file

# Apart from the cursors, which change all the time: notes are read again when one is written.
_NOTES = "read"
_NOTED = ".read"


def file_of(source: str) -> str:
    """The file that an origin's source names: of a package the package, of a tree the page's."""
    if is_tree_origin(source):
        return path_of_tree_origin(source)
    member = wacz.split(source)
    return member[0] if member else source


def require_regular(source: str) -> None:
    """OriginLost where the source is no regular file: opening a pipe may never return."""
    path = file_of(source)
    try:
        kind = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        raise OriginLost(f"{path} cannot be read again: {error}") from error
    if not stat.S_ISREG(kind):
        raise OriginLost(f"{path} cannot be read again: it is no regular file")


@dataclass(frozen=True, slots=True)
class Readable:
    """Directories that the settings name, and the state directory where replays note theirs."""

    roots: tuple[str, ...]
    state: Path

    def require(self, source: str) -> None:
        """OriginLost where the file may not be opened."""
        path = os.path.realpath(file_of(source))
        roots = (*map(os.path.realpath, self.roots), *self._noted())
        if not any(is_below(path, root) for root in roots):
            raise OriginLost(
                f"{path} was not replayed from here: name its directory in `archive_roots`"
            )

    def _noted(self) -> frozenset[str]:
        directory = self.state / DIRECTORY / _NOTES
        try:
            return _read_notes(directory, directory.stat().st_mtime_ns)
        except FileNotFoundError:
            return frozenset()

    def note(self, job: str, files: Sequence[str]) -> None:
        """These files and directories are replayed."""
        name = f"{xxhash.xxh3_64_hexdigest(job.encode())}{_NOTED}"
        path = self.state / DIRECTORY / _NOTES / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, b"\0".join(os.fsencode(os.path.realpath(x)) for x in files))
        except OSError as error:
            raise Unreachable(f"{path} cannot be written: {error.strerror}") from error


def is_below(path: str, root: str) -> bool:
    """Whether a real path is this one, or in it."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


# A replay replaces its note: the directory has another time then, and is read again.
@lru_cache(maxsize=4)
def _read_notes(directory: Path, changed_ns: int) -> frozenset[str]:
    notes = (path.read_bytes().split(b"\0") for path in directory.glob(f"*{_NOTED}"))
    return frozenset(os.fsdecode(name) for note in notes for name in note if name)
