"""WACZ packages: a zip whose folder `archive/` holds WARCs.

Members are stored as they are, so that each is read like a file of its own, from where it stands
in the package; compressed ones, which the format forbids, are read as a stream. The name of a
member is `PACKAGE.wacz!archive/NAME.warc.gz`.
"""

from __future__ import annotations

import lzma
import os
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import lru_cache

from reusewatch.crawler.compression.views import OnDisk, View, Window
from reusewatch.crawler.errors import SourceError

MARK = "!"
_LOCAL_HEADER = 30
_LONGEST_NAME = 8192


def is_package(path: str) -> bool:
    """Whether a file is a zip, by its first bytes."""
    try:
        # Opening a pipe waits for whoever writes to it.
        if not os.path.isfile(path):
            return False
        with closing(OnDisk(path)) as view:
            return view.at(0, 4) == b"PK\x03\x04"
    except OSError:
        return False


def split(source: str) -> tuple[str, str] | None:
    """The package and the member that a source names; None where it names a file."""
    # A name without end, from a message, would be looked for at each of its marks.
    if len(source) > _LONGEST_NAME or os.path.lexists(source):
        return None
    path, mark, member = source.partition(MARK)
    while mark:
        if os.path.isfile(path):
            return path, member
        more, mark, member = member.partition(MARK)
        path = f"{path}{MARK}{more}"
    return None


def members(path: str) -> list[tuple[str, int]]:
    """Names and sizes of the archives in a package. Raises SourceError if it is damaged."""
    return sorted(
        (info.filename, info.file_size)
        for info in _opened(path).infolist()
        if info.filename.startswith("archive/") and not info.is_dir()
    )


@contextmanager
def opened(path: str, member: str) -> Iterator[View]:
    """The bytes of a member. Raises SourceError if there is none of this name."""
    package = _opened(path)
    try:
        info = package.getinfo(member)
    except KeyError:
        raise SourceError(f"{path} holds no member {member!r}") from None
    if info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & 1:
        if info.file_size != info.compress_size:
            # Members would overlap after all: it is by the other number that this is refused.
            raise SourceError(f"{path} is no sound package: {member!r} has two sizes")
        with closing(OnDisk(path, _start(path, info), info.file_size)) as view:
            yield view
        return
    try:
        with package.open(info) as stream:
            yield Window(stream.read, lambda: 0)
    except (RuntimeError, NotImplementedError, zipfile.BadZipFile, lzma.LZMAError) as error:
        raise SourceError(f"{path}{MARK}{member} cannot be unpacked: {error}") from error


def _opened(path: str) -> zipfile.ZipFile:
    state = os.stat(path)
    # By process too: two that share a file share its position.
    return _read_once(path, (os.getpid(), state.st_ino, state.st_size, state.st_mtime_ns))


# A package is read member by member, and each needs the directory: read for each of them, it would
# make a package quadratic in its members.
@lru_cache(maxsize=2)
def _read_once(path: str, _state: tuple[int, ...]) -> zipfile.ZipFile:
    try:
        package = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError) as error:
        raise SourceError(f"{path} is no sound package: {error}") from error
    _refuse_overlaps(path, package)
    return package


def _refuse_overlaps(path: str, package: zipfile.ZipFile) -> None:
    """Members that share bytes: a directory of thousands that all name the same large one."""
    end = 0
    for info in sorted(package.infolist(), key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise SourceError(f"{path} is no sound package: {info.filename!r} overlaps another")
        end = info.header_offset + _LOCAL_HEADER + info.compress_size


def _start(path: str, info: zipfile.ZipInfo) -> int:
    """Where a stored member's bytes start: its local header has lengths of its own."""
    with closing(OnDisk(path)) as view:
        header = view.at(info.header_offset, _LOCAL_HEADER)
    if not header.startswith(b"PK\x03\x04") or len(header) < _LOCAL_HEADER:
        raise SourceError(f"{path} is no sound package: no member at byte {info.header_offset}")
    name = int.from_bytes(header[26:28], "little")
    extra = int.from_bytes(header[28:30], "little")
    return info.header_offset + _LOCAL_HEADER + name + extra
