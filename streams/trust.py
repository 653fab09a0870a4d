"""Whether somebody else could have written a file that this process is about to trust.

Machine code, and the notes of a crawl, are taken up only from files that belong to this user or to
root and that no other user can replace. A directory with the sticky bit, such as /tmp, may hold
directories of ours: others cannot rename or delete them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def make_private(path: Path) -> None:
    """Make a directory, and those above it that are missing, which no other user may enter."""
    for each in reversed((path, *path.parents)):
        each.mkdir(exist_ok=True, mode=0o700)


def foreign(path: Path) -> str | None:
    """Why others could have written in a directory, or in one above it; None if they could not.

    `path` is without symbolic links (`os.path.realpath`), and need not exist. Ask again once it
    does: until then others may create it in /tmp.
    """
    if (about := _about(path)) and (why := _of_others(path, about)):
        return why
    return next(filter(None, map(_parent_of_others, path.parents)), None)


def foreign_within(path: Path) -> str | None:
    """The same of a directory, of those above it, and of all that is in it."""
    return foreign(path) or next(filter(None, map(_inside, _entries(path))), None)


def foreign_file(path: Path, about: os.stat_result) -> str | None:
    """The same of an open file, of which `about` is what `os.fstat` says."""
    return _of_others(path, about)


def _of_others(path: Path, about: os.stat_result) -> str | None:
    if about.st_uid not in (0, os.geteuid()):
        return f"{path} belongs to another user (uid {about.st_uid})"
    if about.st_mode & _BY_OTHERS:
        return f"{path} can be written by other users (mode {stat.S_IMODE(about.st_mode):o})"
    return None


def _parent_of_others(path: Path) -> str | None:
    about = _about(path)
    if about is None or (about.st_mode & stat.S_ISVTX and about.st_uid in (0, os.geteuid())):
        return None
    return _of_others(path, about)


def _about(path: Path) -> os.stat_result | None:
    """None where nothing is, or can be."""
    with suppress(OSError):
        return path.lstat()
    return None


def _entries(path: Path) -> Iterator[Path]:
    for directory, folders, files in os.walk(path):
        yield from (Path(directory, name) for name in (*folders, *files))


def _inside(path: Path) -> str | None:
    if (about := _about(path)) is None:  # another process has just replaced it
        return None
    return f"{path} is a link" if stat.S_ISLNK(about.st_mode) else _of_others(path, about)
