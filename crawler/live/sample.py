"""A sample of every host instead of all of one: no host is asked for more pages than so many.

Hosts cost nothing where a name server answers for any name, so a site has a bound of its own: as
many pages as twenty of its hosts. Counted when a request is made, so that what fails counts too; a
page that many link to counts once.
"""

from __future__ import annotations

from collections import Counter

from w3lib.url import canonicalize_url

from reusewatch.streams.urls import host_of_url, site_of

HOSTS_PER_SITE = 20


class Sample:
    """Which requests are within the sample."""

    def __init__(self, pages: int | None) -> None:
        self._pages = pages
        self._of_host: Counter[str] = Counter()
        self._of_site: Counter[str] = Counter()
        # Hashes: those of no more than are taken, and a mistaken one costs a page.
        self._taken: set[int] = set()

    def take(self, url: str) -> bool:
        """Whether this page may be asked for; it counts if so."""
        if self._pages is None:
            return True
        host = host_of_url(url)
        site = site_of(host)
        if self._of_site[site] >= self._pages * HOSTS_PER_SITE:
            return False
        if self._of_host[host] >= self._pages:
            return False
        # As Scrapy has it, which asks for each page once.
        if (page := hash(canonicalize_url(url))) in self._taken:
            return True
        self._taken.add(page)
        self._of_host[host] += 1
        self._of_site[site] += 1
        return True
