"""A directory of saved HTML as the site that it was: files become pages of a base URL.

`index.html` is the directory itself; names are percent-encoded; a page counts as fetched when
its file was last written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from reusewatch.crawler.errors import OriginLost, SourceError
from reusewatch.crawler.pages.archive_events import DEFAULT_LIMITS, Found, Limits, Reading
from reusewatch.crawler.pages.page import page_from_response
from reusewatch.crawler.replaying.files import may_be_page_file, type_of_file
from reusewatch.detector.errors import BadPage
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.records import Origin, Page

_INDEX = frozenset({"index.html", "index.htm"})
# `tree:URL#PATH`: a URL made here holds no #, since names are percent-encoded.
_MARK = "tree:"


def tree_pages(
    directory: str,
    base_url: str,
    *,
    scheme: HashScheme,
    limits: Limits = DEFAULT_LIMITS,
    start: int = 0,
    clock: Callable[[], datetime],
    follow_links: bool = False,
    dated: datetime | None = None,
) -> Iterator[Found]:
    """The pages of a directory, by name. An offset is the number of a file among all files.

    A file that a link leads to outside of the directory is skipped, unless `follow_links`: who
    saved a site may have saved links to any file of this machine.
    Raises SourceError if there is no such directory.
    """
    if not os.path.isdir(directory):
        raise SourceError(f"{directory} is no directory; --tree takes DIR=URL")
    if "#" in base_url:
        raise SourceError(f"{base_url} has a fragment; --tree takes DIR=URL with a plain URL")
    for number, path in enumerate(_files(Path(directory))):
        if number >= start:
            url = url_of(path.relative_to(directory), base_url)
            reading = Reading(f"{_MARK}{url}#{_text_of(path)}", scheme, limits, clock, dated)
            if not follow_links and not _is_inside(path, directory):
                yield reading.skip("link", number, number + 1)
            else:
                yield _found(path, url, number, reading)


def _is_inside(path: Path, directory: str) -> bool:
    real = os.path.realpath(directory)
    return os.path.commonpath([os.path.realpath(path), real]) == real


def _text_of(path: Path) -> str:
    """A name as text; names travel with pages, and those that are no UTF-8 cannot."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _files(directory: Path) -> list[Path]:
    found = [Path(at) / name for at, _, names in os.walk(directory) for name in names]
    # A pipe would be waited for; a socket or a device is no page either.
    return sorted((path for path in found if path.is_file()), key=lambda path: path.parts)


def url_of(relative: Path, base_url: str) -> str:
    """The URL of a file in a tree.

    >>> url_of(Path("a b/index.html"), "http://example.org")
    'http://example.org/a%20b/'
    """
    *folders, name = relative.parts
    parts = [quote(os.fsencode(part)) for part in folders]
    parts.append("" if name.lower() in _INDEX else quote(os.fsencode(name)))
    return base_url.rstrip("/") + "/" + "/".join(parts)


def _found(path: Path, url: str, number: int, reading: Reading) -> Found:
    if (shown := _text_of(path)) != str(path):
        detail = f"{shown}: the name is no UTF-8; rename it"
        return reading.damage("unreadable", detail, number, number + 1, url)
    try:
        page = _page(path, url, reading.scheme, reading.limits, reading.origin(number))
    except OSError as error:
        reason, detail = "unreadable", f"{path}: {error.strerror or error}"
        return reading.damage(reason, detail, number, number + 1, url)
    except BadPage as bad:
        return reading.damage(bad.reason, bad.detail, number, number + 1, url)
    if page is None:
        return reading.skip("content-type", number, number + 1)
    return reading.page(page, number + 1)


def _page(path: Path, url: str, scheme: HashScheme, limits: Limits, origin: Origin) -> Page | None:
    if not may_be_page_file(path):
        return None
    with path.open("rb") as file:
        # One byte more tells a file that was cut from one that just fits.
        body = file.read(limits.max_body_bytes + 1)
        fetched_at = datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, UTC)
    if (content_type := type_of_file(path, body)) is None:
        return None
    return page_from_response(
        url,
        fetched_at=fetched_at,
        status=None,
        content_type=content_type,
        body=body,
        origin=origin,
        scheme=scheme,
        limits=limits,
    )


def is_tree_origin(source: str) -> bool:
    """Whether a page came from a tree."""
    return source.startswith(_MARK) and "#" in source


def origin_of_file(path: str, url: str) -> Origin:
    """Where a file that was named itself is read again, as a tree of one page at this URL."""
    return Origin(source=f"{_MARK}{url}#{_text_of(Path(path))}", offset=0)


def path_of_tree_origin(source: str) -> str:
    """The file of a tree's page."""
    return source.removeprefix(_MARK).partition("#")[2]


def tree_page_again(origin: Origin, *, scheme: HashScheme, limits: Limits) -> Page:
    """A tree's page, read again. Raises OriginLost if its file is gone or no page any more."""
    url = origin.source.removeprefix(_MARK).partition("#")[0]
    path = path_of_tree_origin(origin.source)
    try:
        page = _page(Path(path), url, scheme, limits, origin)
    except (OSError, BadPage) as error:
        raise OriginLost(f"{path} cannot be read again: {error}") from error
    if page is None:
        raise OriginLost(f"{path} is no page any more")
    return page
