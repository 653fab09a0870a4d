"""What a user names as input: files, directories, patterns, packages, standard input."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from reusewatch.crawler.archives import wacz
from reusewatch.crawler.archives.magic import Shape, shape_of
from reusewatch.crawler.compression.views import OnDisk
from reusewatch.crawler.errors import SourceError
from reusewatch.crawler.pages.archive_events import DEFAULT_LIMITS
from reusewatch.crawler.replaying.following import follow_files
from reusewatch.streams.records import STDIN

_NAMES = (".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz", ".wacz", ".wet.gz")
_OPEN = ".open"
_MAGIC = "*?["


@dataclass(frozen=True, slots=True)
class Source:
    """One archive: its name and, where it is known, its size in bytes."""

    name: str
    size: int | None


def expand(paths: Sequence[str]) -> list[Source]:
    """The archives that paths name, each once: files, directories with all below, patterns, `-`.

    In a directory archives are told by name or content; a file that is named itself is always
    read, so that one that is no archive is reported. Raises SourceError for what names nothing.
    """
    found: dict[str, Source] = {}
    for path in paths:
        for source in _expanded(path):
            check_name(source.name)
            found.setdefault(source.name, source)
    return list(found.values())


def check_name(name: str) -> None:
    """A name travels with every page, as text."""
    if not name.isprintable() and any("\ud800" <= char <= "\udfff" for char in name):
        shown = os.fsencode(name).decode("utf-8", "backslashreplace")
        raise SourceError(f"{shown}: the name is no UTF-8; rename it")


def _expanded(path: str) -> list[Source]:
    if path == STDIN:
        return [Source(STDIN, None)]
    if os.path.isdir(path):
        return _directory(path)
    if os.path.exists(path):
        return _file(path)
    if (member := wacz.split(path)) is not None:
        return [source for source in _file(member[0]) if source.name == path] or _missing(path)
    if any(sign in path for sign in _MAGIC):
        matches = sorted(glob.glob(path, recursive=True))
        if not matches:
            raise SourceError(f"nothing matches {path}")
        return [source for match in matches for source in _matched(match)]
    return _missing(path)


def _missing(path: str) -> list[Source]:
    raise SourceError(f"{path} does not exist")


def _matched(path: str) -> list[Source]:
    return _directory(path, needed=False) if os.path.isdir(path) else _file(path)


def _directory(path: str, needed: bool = True) -> list[Source]:
    found = [source for name in archives_below(path) for source in _file(name)]
    if needed and not found:
        raise SourceError(f"{path} holds no archives (WARC, ARC or WACZ)")
    return found


def archives_below(directory: str) -> list[str]:
    """The archives below a directory, sorted; not those that a crawler still writes."""
    files = (os.path.join(at, name) for at, _, names in os.walk(directory) for name in names)
    return sorted(path for path in files if not path.endswith(_OPEN) and is_archive(path))


def is_archive(path: str) -> bool:
    """Whether a file is called an archive, or is one by its content."""
    try:
        # A device or a pipe would be waited for.
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        if path.lower().endswith(_NAMES):
            return True
        with closing(OnDisk(path, size=min(os.path.getsize(path), 1 << 16))) as view:
            return isinstance(shape_of(view, DEFAULT_LIMITS), Shape)
    except OSError:
        return False


def _file(path: str) -> list[Source]:
    if not stat.S_ISREG(os.stat(path).st_mode):
        # Nobody knows how much comes through a pipe, such as the shell's <(…).
        return [Source(path, None)]
    if not wacz.is_package(path):
        size = os.stat(path).st_size
        return [Source(path, size)]
    try:
        members = wacz.members(path)
    except SourceError:
        # Reading it says what is wrong, as for any damaged archive.
        members = []
    found = [Source(f"{path}{wacz.MARK}{name}", size) for name, size in members]
    return found or [Source(path, os.stat(path).st_size)]


def follow(
    directory: str,
    *,
    stop: Callable[[], bool],
    settle_seconds: float = 30.0,
    poll_seconds: float = 1.0,
    wait: Callable[[float], object] | None = None,
    now: Callable[[], float] | None = None,
) -> Iterator[Source]:
    """The archives of a directory as a running crawl finishes them, each once, until `stop`.

    `wait` is called between looks with the seconds to wait, `threading.Event().wait` unless
    given: setting that event makes `stop` heard at once.
    """
    for path in follow_files(
        directory,
        archives_below,
        stop=stop,
        settle_seconds=settle_seconds,
        poll_seconds=poll_seconds,
        wait=wait,
        now=now,
    ):
        yield from _file(path)
