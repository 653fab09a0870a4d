"""Pages by where they stand: registered domains, hosts, and prefixes of URLs.

`example.org` means all hosts of a registered domain; of any other host it means that host alone,
with all its ports. `example.org:8080`, `example.org/docs/` and `https://example.org/docs/` mean
what begins so, up to the end of a name: `/docs` is no beginning of `/docsearch`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.errors import BadPage
from reusewatch.streams.urls import (
    ascii_host,
    canonical,
    host_of_url,
    is_public_suffix,
    site_of,
)

if TYPE_CHECKING:
    import pyarrow as pa

_SCHEMES = ("http", "https")
_HOST = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?|[0-9a-f:.]+")
_ENDS = "/?"


@dataclass(frozen=True, slots=True)
class _Name:
    """What one name means: a host, and what canonical URLs begin with where it is not all of it."""

    host: str
    prefixes: tuple[str, ...] = ()


class UrlSet:
    """The pages that names mean. ValueError where a name is none."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = tuple(names)
        found = [_meant(name) for name in self.names]
        self._hosts = frozenset(one.host for one in found if not one.prefixes)
        self._prefixes: dict[str, list[str]] = {}
        for one in found:
            if one.prefixes:
                self._prefixes.setdefault(one.host, []).extend(one.prefixes)

    def __bool__(self) -> bool:
        return bool(self.names)

    def has(self, url: str) -> bool:
        """Whether the page of a URL is one of them."""
        if not self:
            return False
        host = host_of_url(url)
        return self._has_host(host) or self._begins(host, url)

    def of(self, block: pa.RecordBatch) -> NDArray[np.bool_]:
        """Whether each page of a block is. Pages are looked at one by one only where a host has
        prefixes."""
        if not self:
            return np.zeros(len(block), np.bool_)
        encoded = block.column("host").dictionary_encode()
        names, of_page = encoded.dictionary.to_pylist(), encoded.indices.to_numpy()
        whole = np.fromiter(map(self._has_host, names), np.bool_, len(names))
        found: NDArray[np.bool_] = whole[of_page]
        if self._prefixes:
            some = np.array([name in self._prefixes for name in names], np.bool_)
            for at in np.flatnonzero(~found & some[of_page]).tolist():
                found[at] = self._begins(names[of_page[at]], block.column("url")[at].as_py())
        return found

    def _has_host(self, host: str) -> bool:
        return host in self._hosts or site_of(host) in self._hosts

    def _begins(self, host: str, url: str) -> bool:
        prefixes = self._prefixes.get(host)
        if prefixes is None:
            return False
        try:
            known = canonical(url)
        except BadPage:
            return False
        return any(_is_under(known, prefix) for prefix in prefixes)


def _is_under(url: str, prefix: str) -> bool:
    """Whether a URL begins with a prefix, up to the end of a name.

    >>> [_is_under(url, "http://a.org/b") for url in ("http://a.org/b/c", "http://a.org/bc")]
    [True, False]
    """
    if not url.startswith(prefix):
        return False
    return prefix[-1] in _ENDS or len(url) == len(prefix) or url[len(prefix)] in _ENDS


def _meant(name: str) -> _Name:
    read = _read(name)
    if not read.prefixes and is_public_suffix(read.host):
        raise ValueError(f"under {read.host!r} anybody may have a site: name one below it")
    return read


def _read(name: str) -> _Name:
    wanted = (
        f"{name!r} is neither a domain or host (example.org), nor the beginning of a URL "
        "(https://example.org/docs/)"
    )
    try:
        scheme, _, rest = name.rpartition("://")
        parts = urlsplit(f"//{rest}")
        host, port = ascii_host(parts.hostname or ""), parts.port
        schemes = (scheme.lower(),) if scheme else _SCHEMES
        plain = not scheme and port is None and not parts.path and not parts.query
        if not set(schemes) <= {*_SCHEMES} or not _HOST.fullmatch(host):
            raise ValueError(wanted)
        if plain:
            return _Name(host)
        return _Name(host, tuple(canonical(f"{one}://{rest}") for one in schemes))
    except (ValueError, BadPage) as error:
        raise ValueError(wanted) from error
