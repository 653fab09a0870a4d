"""What a server says before its body is bounded: status lines and headers of a response.

Scrapy bounds bodies (DOWNLOAD_MAXSIZE), and Twisted the length of a line. Of how many lines there
are nobody keeps count: a server that sends headers for as long as a download may take fills the
memory of the crawl. So the bytes are counted that come before a body, those of `100 Continue` too,
and past the bound the download fails as one that cannot be understood.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from twisted.python.failure import Failure
from twisted.web._newclient import BODY, HTTP11ClientProtocol, ParseError

# As much as browsers take.
HEAD_BYTES = 256 << 10


class BoundedHeads(HTTP11DownloadHandler):
    """Scrapy's handler of http and https."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._pool._factory = _bounding(self._pool._factory)


def _bounding(factory: Any) -> type[Any]:
    """The factory of a pool's connections, each of which counts."""

    class Bounding(factory):  # type: ignore[misc]
        noisy = False

        def buildProtocol(self, addr: object) -> HTTP11ClientProtocol:  # noqa: N802
            protocol: HTTP11ClientProtocol = super().buildProtocol(addr)
            protocol.dataReceived = _Head(protocol).received  # type: ignore[method-assign]
            return protocol

    return Bounding


class _Head:
    """How much came on a connection since the last body."""

    def __init__(self, protocol: HTTP11ClientProtocol) -> None:
        self._protocol = protocol
        self._receive: Callable[[bytes], None] = protocol.dataReceived
        self._bytes = 0

    def received(self, data: bytes) -> None:
        """Take what came, unless it is too much."""
        self._receive(data)
        parser = self._protocol._parser
        if parser is None or parser.state == BODY:
            self._bytes = 0
            return
        self._bytes += len(data)
        if self._bytes > HEAD_BYTES:
            error = ParseError("more headers than are taken", b"")  # type: ignore[no-untyped-call]
            self._protocol._giveUp(Failure(error))  # type: ignore[no-untyped-call]
