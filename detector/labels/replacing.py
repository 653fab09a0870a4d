"""Replacing a file as a whole: readers see the old content or the new, also after a power cut."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write to. It replaces `path` when the block ends, and is on disk then.

    If the block raises, `path` stays as it was. The new file has the permissions of the old one.
    Where `path` is a symbolic link, the link stays, and the file behind it is replaced.
    """
    target = Path(os.path.realpath(path))
    # Two processes may replace the same file: each writes to a file of its own.
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        with partial.open("x+b") as file:
            with suppress(FileNotFoundError):
                os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            # Without this, a power cut may leave an empty file under the name.
            os.fsync(file.fileno())
        partial.replace(target)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise
    sync_directory(target.parent)


def sync_directory(directory: Path) -> None:
    """Return when the names in a directory are on disk: a synced file without one is lost."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
