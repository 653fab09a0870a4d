"""Where a crawl may connect: not to this machine, not to its network, unless allowed.

A page, a redirect or a name server of strangers can point anywhere. So each request (start URLs,
links, every hop of a redirect, robots.txt) is checked by the address that its host is or resolves
to, and refused before anything is sent; and the resolver, through which every connection to a name
goes, checks again what it hands out, so that a name whose address changes in between is refused
as well. Connections through a proxy are not checked: the proxy resolves.

`GUARD_ALLOW` is a list of networks that are allowed beside the public ones.
"""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Any

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http import Request
from scrapy.resolver import CachingThreadedResolver
from scrapy.robotstxt import ProtegoRobotParser
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.base import ReactorBase
from twisted.internet.defer import Deferred
from twisted.internet.error import DNSLookupError

from reusewatch.crawler.live.fetched import is_robots

logger = logging.getLogger(__name__)

ALLOW = "GUARD_ALLOW"
EVERYWHERE = ("0.0.0.0/0", "::/0")
# RFC 9309, §2.5: a crawler parses at least so much, and need not more.
ROBOTS_BYTES = 500 << 10
# What these may be unpacked to: of rules far less, of packed zeros gigabytes.
ROBOTS_UNPACKED = 64 * ROBOTS_BYTES
# Names whose requests have not asked yet why they failed.
_MOST_REFUSED = 10_000
_TAKEN, _REFUSED = "_reusewatch_taken", "_reusewatch_refused"

Address = IPv4Address | IPv6Address
# An IPv4 address in an IPv6 one: NAT64 (RFC 6052).
_NAT64 = IPv6Network("64:ff9b::/96")
# The last label of a host that browsers, and resolvers, take for an IPv4 address (127.1, 0x7f.1).
_NUMERIC = re.compile(r"(?:.*\.)?(?:[0-9]+|0[xX][0-9a-fA-F]*)\.?")


class Refused(IgnoreRequest):
    """A request to an address that is not allowed."""


class RefusedAddress(DNSLookupError):
    """A name that resolves to an address that is not allowed."""


@dataclass(frozen=True, slots=True)
class Fence:
    """The addresses that may be connected to: the public ones, and the networks named."""

    allowed: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def of(cls, networks: Iterable[str]) -> Fence:
        """A fence with these networks open. Raises ValueError for what is no network."""
        return cls(tuple(ip_network(network) for network in networks))

    def lets(self, address: Address) -> bool:
        """Whether this address may be connected to.

        >>> Fence().lets(ip_address("127.0.0.1")), Fence().lets(ip_address("192.0.43.8"))
        (False, True)
        """
        meant = embedded(address)
        if any(address in network or meant in network for network in self.allowed):
            return True
        return meant.is_global and not meant.is_multicast and not meant.is_reserved


def embedded(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for, if it stands for one.

    >>> embedded(ip_address("::ffff:127.0.0.1"))
    IPv4Address('127.0.0.1')
    """
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo[1] if address.teredo else None
    return address.ipv4_mapped or address.sixtofour or teredo or address


def literal(host: str) -> Address | None:
    """The address that a host is, in any spelling that a resolver takes; None for a name.

    >>> literal("2130706433"), literal("[::1]"), literal("example.org")
    (IPv4Address('127.0.0.1'), IPv6Address('::1'), None)
    """
    try:
        return ip_address(host.removeprefix("[").removesuffix("]").partition("%")[0])
    except ValueError:
        pass
    if not _NUMERIC.fullmatch(host):
        return None
    try:
        return IPv4Address(socket.inet_aton(host.rstrip(".")))
    except OSError:
        return None


def is_here(host: str) -> bool:
    """Whether a host is of this machine or its network, as far as its name says.

    >>> is_here("localhost"), is_here("10.1.2.3"), is_here("example.org")
    (True, True, False)
    """
    address = literal(host)
    if address is None:
        return host == "localhost" or host.endswith(".localhost")
    return not Fence().lets(address)


class Guard:
    """The downloader middleware that refuses requests."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._fence = Fence.of(crawler.settings.getlist(ALLOW))
        crawler.signals.connect(self._received, signals.bytes_received)
        crawler.signals.connect(self._scheduled, signals.request_scheduled)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Guard:
        """As Scrapy makes its components."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Raise Refused for a request that leads inside."""
        host = urlparse_cached(request).hostname or ""
        address = literal(host)
        if address is None:
            address = await self._resolved(host)
        if address is not None and not self._fence.lets(address):
            self._count(request, address)
            raise Refused(f"{host} is {address}, an address that is not allowed")
        # One machine is not asked more often because it has many names; and not in the turn of the
        # one that redirected there, which is noted still.
        request.meta.pop("download_slot", None)
        if address is not None:
            request.meta["download_slot"] = str(address)
        if is_robots(request.url) or _TAKEN in request.meta:
            # However long it is: what is too large would count as if there were none. Where it
            # leads elsewhere, too: what is noted of a request goes with it.
            request.meta["download_maxsize"] = 0
            request.meta[_TAKEN] = 0

    def process_exception(self, request: Request, exception: Exception) -> None:
        """The name leads elsewhere by now: the resolver did not hand that address out."""
        from twisted.internet import reactor

        # What fails to resolve says no more than that.
        address = refused_by(reactor.resolver, urlparse_cached(request).hostname or "")
        if address is not None:
            self._count(request, address)

    def _scheduled(self, request: Request, spider: Spider) -> None:
        """An address that stands in the URL: counted also where the request is dropped as one to
        another site, before it comes here."""
        address = literal(urlparse_cached(request).hostname or "")
        if address is not None and not self._fence.lets(address):
            self._count(request, address)

    def _count(self, request: Request, address: Address) -> None:
        if not request.meta.get(_REFUSED):
            request.meta[_REFUSED] = True
            self._crawler.stats.inc_value("reusewatch/refused")
            logger.info("refused: %s leads to %s", request, address)

    def _received(self, data: bytes, request: Request, spider: Spider) -> None:
        """Of a robots.txt the beginning is read, and no more is taken."""
        if _TAKEN in request.meta:
            # It comes: from now on this bounds what it is unpacked to.
            request.meta["download_maxsize"] = ROBOTS_UNPACKED
            request.meta[_TAKEN] += len(data)
            if request.meta[_TAKEN] >= ROBOTS_BYTES:
                raise StopDownload(fail=False)

    async def _resolved(self, host: str) -> Address | None:
        """None where there is no answer: then the download says so."""
        from twisted.internet import reactor

        resolve: Callable[[str], Deferred[str]] = reactor.resolve  # type: ignore[assignment]
        try:
            found: str = await maybe_deferred_to_future(resolve(host))
            return ip_address(found)
        except RefusedAddress as error:
            refused_by(reactor.resolver, host)
            address: Address = error.args[0]
            return address
        except Exception:
            return None


class GuardedResolver(CachingThreadedResolver):
    """Scrapy's resolver, which does not hand out an address that is not allowed."""

    fence = Fence()
    refused: dict[str, Address]

    @classmethod
    def from_crawler(cls, crawler: Any, reactor: ReactorBase) -> GuardedResolver:
        """As Scrapy makes it, once a process."""
        made = super().from_crawler(crawler, reactor)
        made.fence = Fence.of(crawler.settings.getlist(ALLOW))
        made.refused = {}
        return made

    def getHostByName(self, name: str, timeout: Sequence[int] = ()) -> Deferred[str]:  # noqa: N802
        """An IPv4 address of the name."""
        return super().getHostByName(name, timeout).addCallback(self._checked, name)

    def _checked(self, found: str, name: str) -> str:
        address = ip_address(found)
        if not self.fence.lets(address):
            if len(self.refused) < _MOST_REFUSED:
                self.refused[name] = address
            raise RefusedAddress(address)
        return found


def refused_by(resolver: object, name: str) -> Address | None:
    """The address of a name that was not handed out; asked once."""
    found = resolver.refused if isinstance(resolver, GuardedResolver) else {}
    return found.pop(name, None)


class CappedRobots(ProtegoRobotParser):
    """A parser of robots.txt that reads its beginning, however long it is."""

    # What was read.
    beginning = b""

    @classmethod
    def from_crawler(cls, crawler: Crawler, robotstxt_body: bytes) -> CappedRobots:
        """As Scrapy makes it for each host."""
        beginning = robotstxt_body[:ROBOTS_BYTES]
        made = super().from_crawler(crawler, beginning)
        made.beginning = beginning
        return made
