"""A file on disk as a page. It has no headers, so the ending of its name says what it is; where it
has none, its bytes do.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reusewatch.crawler.archives.magic import binary
from reusewatch.crawler.errors import SourceError
from reusewatch.crawler.pages.charsets import charset_of
from reusewatch.crawler.pages.encodings import reads_as_text
from reusewatch.crawler.pages.page import looks_like_html
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.charsets import detected
from reusewatch.streams.urls import place

if TYPE_CHECKING:
    from reusewatch.detector.sketching.fingerprint import Document

_HTML, _PLAIN = "text/html", "text/plain"
_TYPES = {
    ".html": _HTML,
    ".htm": _HTML,
    ".xhtml": "application/xhtml+xml",
    ".xht": "application/xhtml+xml",
    ".txt": _PLAIN,
    ".text": _PLAIN,
    ".md": _PLAIN,
}


def may_be_page_file(path: Path) -> bool:
    """Whether a file in a tree is a page, as far as its name tells.

    >>> may_be_page_file(Path("a/index.html")), may_be_page_file(Path("a/logo.png"))
    (True, False)
    """
    return not path.suffix or path.suffix.lower() in _TYPES


def type_of_file(path: Path, body: bytes) -> str | None:
    """The content type of a file; None where its name, or lacking an ending its bytes, tell of
    something else than a page.

    >>> type_of_file(Path("notes.md"), b"# Notes")
    'text/plain'
    >>> type_of_file(Path("about"), b"<!doctype html><p>About us")
    'text/html'
    >>> type_of_file(Path("README"), b"How to begin")
    'text/plain'
    """
    if path.suffix:
        return _TYPES.get(path.suffix.lower())
    if looks_like_html(body):
        return _HTML
    return _PLAIN if body and reads_as_text(body) else None


def document_of_file(path: Path, url: str | None, scheme: HashScheme) -> Document:
    """A file that was named itself, at this URL if it has one. SourceError where it is no page."""
    try:
        body = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    return document_of_bytes(body, path, url, scheme)


def document_of_bytes(body: bytes, path: Path, url: str | None, scheme: HashScheme) -> Document:
    """What a file holds, as a page. An ending that is not known is one of a server's programs:
    whoever names `page.php` means the HTML that it gave.
    """
    from reusewatch.detector.sketching.fingerprint import Document

    if kind := binary(body):
        raise SourceError(f"{path} is {kind}, and no page: HTML or plain text is expected")
    content_type = type_of_file(path, body) or (_HTML if path.suffix else _PLAIN)
    charset = charset_of(body, content_type)[0] or detected(body)
    html = content_type != _PLAIN
    if url is None:
        return Document(body, path.resolve().as_uri(), charset=charset, html=html)
    where = place(url, scheme)
    return Document(body, url, where.host, where.site, charset, html)
