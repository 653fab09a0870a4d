"""URL → page id, host, site. A page is a URL without fragment, host lower-cased, default port off.

The site is the registered domain by the public suffix list that publicsuffixlist bundles: nothing
is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

import msgspec

from reusewatch.detector.errors import BadPage
from reusewatch.detector.hashing import HashScheme, hex_of

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

MAX_URL = 16_384
# Most URLs are canonical but for their fragment: nothing to split, nothing to put together.
_PLAIN = re.compile(r"(https?://([a-z0-9.-]*[a-z0-9])/[!\"$->@-~]*(?:\?[!\"$-~]+)?)(?:#[!-~]*)?")
_ROOT = re.compile(r"https?://[A-Za-z0-9._:-]{1,300}/")
# A page's place is asked for by who reads it and by who fingerprints it; a batch fits.
_PLACES = 1024
_ADDRESS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
# How the labels of a host begin that are written in punycode (RFC 5890, §2.3.1).
_ENCODED = "xn--"
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where a page stands."""

    page_id: str
    host: str
    site: str


def _suffixes(host: str, *, of_registries: bool = False) -> PublicSuffixList:
    """Private suffixes count, as in browsers: two authors under one blog host are two sites."""
    return _rules(of_registries, _ENCODED in host.lower())


@cache
def _rules(of_registries: bool, encoded: bool) -> PublicSuffixList:
    """Without those in punycode, which match no host that has none: to encode them takes twice as
    long as to read all ten thousand."""
    from reusewatch.streams.public_suffixes import PublicSuffixes  # many commands ask for none

    return PublicSuffixes(
        accept_unknown=False, accept_encoded_idn=encoded, only_icann=of_registries
    )


@lru_cache(maxsize=_PLACES)
def place(url: str, scheme: HashScheme) -> Place:
    """Where the page of this URL stands. BadPage where the URL is none of a page."""
    page, host, site = placed(url, scheme)
    return Place(hex_of(page), host, site)


def placed(url: str, scheme: HashScheme) -> tuple[int, str, str]:
    """The same, the page's id as a number, for who asks once: nothing is kept. BadPage too."""
    canonical, host = _split(url)
    return scheme.of_text(canonical), host, site_of(host)


def host_and_site(url: str) -> tuple[str, str]:
    """The same without the page's id. BadPage where the URL is none of a page."""
    host = _split(url)[1]
    return host, site_of(host)


def site_of_page(url: str) -> str:
    """The site of a page: of many pages of one host, it is looked for once.

    >>> site_of_page("https://www.example.co.uk:8080/a")
    'example.co.uk'
    """
    plain = _ROOT.match(url)
    # What does not begin plainly has its host where only a whole look at it says.
    return _site_of_root(plain[0]) if plain else host_and_site(url)[1]


@lru_cache(maxsize=65_536)
def _site_of_root(root: str) -> str:
    return host_and_site(root)[1]


@lru_cache(maxsize=_PLACES)
def canonical(url: str) -> str:
    """The URL by which this one's page is known. BadPage where there is none."""
    return _split(url)[0]


def canonical_urls(urls: Sequence[str]) -> list[str]:
    """The same of the pages of a block. BadPage where one has none."""
    # Each is asked for once: to be kept in a table takes as long as to be looked at.
    looked = zip(map(_PLAIN.fullmatch, urls), urls, strict=True)
    return [
        plain[1] if plain is not None and len(url) <= MAX_URL else canonical(url)
        for plain, url in looked
    ]


def directory(url: str) -> str:
    """A prefix as neighborhoods have it: canonical, and ending where a directory does.

    >>> directory("http://Example.org/a?b")
    'http://example.org/a/'
    """
    return canonical(url).partition("?")[0].rstrip("/") + "/"


def _split(url: str) -> tuple[str, str]:
    """The canonical URL and its host."""
    if len(url) > MAX_URL:
        raise BadPage("bad-url", f"a URL of {len(url)} characters; the limit is {MAX_URL}")
    if (plain := _PLAIN.fullmatch(url)) is not None:
        return plain[1], plain[2]
    return _split_any(url)


def _split_any(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
        host = ascii_host(parts.hostname or "")
        canonical = canonical_url(url, parts, host)
    except ValueError as error:
        raise BadPage("bad-url", str(error)) from error
    if parts.scheme not in _DEFAULT_PORTS or not host:
        raise BadPage("bad-url", f"not an http or https URL: {url[:200]!r}")
    return canonical, host


def canonical_url(url: str, parts: SplitResult, host: str) -> str:
    """The URL by which a page is known.

    >>> url = "HTTP://Example.ORG:80/a?b#c"
    >>> canonical_url(url, urlsplit(url), "example.org")
    'http://example.org/a?b'
    """
    port = parts.port
    if ":" in host:
        host = f"[{host}]"
    netloc = host if port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f"{host}:{port}"
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{netloc}{parts.path or '/'}{query}"


@lru_cache(maxsize=65_536)
def ascii_host(host: str) -> str:
    """A host name as DNS has it: lower case, punycode, no dot at the end.

    >>> ascii_host("Bücher.example.")
    'xn--bcher-kva.example'
    """
    host = host.lower().rstrip(".")
    if host.isascii():
        return host
    return host.encode("idna").decode("ascii")


def root_of(url: str) -> str:
    """The URL of a page's host, by which a host is told.

    >>> root_of("https://www.example.org:8080/a/b?c")
    'https://www.example.org:8080/'
    """
    # What is asked for each page of a site should cost little: nearly all begin with their root.
    plain = _ROOT.match(url)
    if plain is not None:
        return plain[0]
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/"


def site_of_url(url: str) -> str:
    """The site that a URL is on; of what is no URL, nothing.

    >>> site_of_url("https://www.example.co.uk:8080/a"), site_of_url("http://[")
    ('example.co.uk', '')
    """
    return site_of(host_of_url(url))


def host_of_url(url: str) -> str:
    """The host of a URL, in ASCII; of what is no URL, nothing."""
    try:
        return ascii_host(urlsplit(url).hostname or "")
    except ValueError:
        return ""


def simple_site(host: str) -> str:
    """Henzinger's rule (2006, §2): of a name with two dots or more, what follows the first.

    >>> simple_site("www.cs.berkeley.edu"), simple_site("berkeley.edu"), simple_site("127.0.0.1")
    ('cs.berkeley.edu', 'berkeley.edu', '127.0.0.1')
    """
    rest = host.partition(".")[2]
    address = ":" in host or host.replace(".", "").isdigit()
    return rest if "." in rest and not address else host


@lru_cache(maxsize=65_536)
def site_of(host: str) -> str:
    """The registered domain of a host; an address, or a name of one label, is its own site.

    >>> site_of("www.news.example.co.uk"), site_of("127.0.0.1"), site_of("www.alpha.test")
    ('example.co.uk', '127.0.0.1', 'alpha.test')
    """
    if ":" in host or _ADDRESS.fullmatch(host):
        return host
    suffixes = _suffixes(host)
    if suffixes.publicsuffix(host):
        return suffixes.privatesuffix(host) or host
    # The list's own last rule: a suffix it does not know is one label.
    return ".".join(host.split(".")[-2:])


def is_public_suffix(host: str) -> bool:
    """Whether anybody may have a name below this one.

    >>> is_public_suffix("co.uk"), is_public_suffix("example.co.uk"), is_public_suffix("localhost")
    (True, False, False)
    """
    return _suffixes(host).publicsuffix(host) == host


@lru_cache(maxsize=65_536)
def owner_of(site: str) -> str:
    """The domain that somebody paid for: names under a hosting domain belong to that domain.

    Where sites are counted to see how far something is spread, six free names of one blog host
    say no more than one does.

    >>> owner_of("one.blogspot.com"), owner_of("example.co.uk"), owner_of("alpha.test")
    ('blogspot.com', 'example.co.uk', 'alpha.test')
    """
    return _suffixes(site, of_registries=True).privatesuffix(site) or site
