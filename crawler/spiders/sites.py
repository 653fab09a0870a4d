"""The bundled spider: follows links from its start URLs, breadth first, within their sites.

It extracts nothing; what the pages hold is for the detector, by way of the add-on.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from scrapy import Spider
from scrapy.http import HtmlResponse, Request, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from reusewatch.streams.urls import site_of_url

# A page of a million links would fill the memory with requests.
MAX_LINKS = 5_000
_SCHEMES = ("http", "https")


class Sites(Spider):
    """Crawls sites from their start URLs on."""

    name = "reusewatch"

    def __init__(
        self, urls: tuple[str, ...], *, depth: int | None, other_sites: bool, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.urls = urls
        self.depth = depth
        # Start URLs that gave no response, and why.
        self.not_fetched: dict[str, str] = {}
        # Scrapy's OffsiteMiddleware keeps requests, those of redirects too, within these.
        self.allowed_domains = [] if other_sites else sorted({site_of_url(url) for url in urls})
        self._links = LinkExtractor()

    async def start(self) -> AsyncIterator[Request]:
        """The start URLs. Filtered like all others, so that their redirects stay on the sites."""
        for url in self.urls:
            yield Request(url, callback=self.parse, errback=self._missed, cb_kwargs={})

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Request]:
        """The links of a page."""
        deep_enough = self.depth is not None and response.meta["depth"] >= self.depth
        if deep_enough or not isinstance(response, HtmlResponse):
            return
        for link in islice(self._links.extract_links(response), MAX_LINKS):
            if urlsplit(link.url).scheme in _SCHEMES:
                yield Request(link.url, callback=self.parse)

    def _missed(self, failure: Failure) -> None:
        if isinstance(failure.value, HttpError):
            return  # a response all the same
        request = failure.request  # type: ignore[attr-defined]
        first = request.meta.get("redirect_urls", [request.url])[0]
        text = failure.getErrorMessage() or type(failure.value).__name__
        self.not_fetched[first] = text
