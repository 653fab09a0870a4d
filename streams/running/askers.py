"""Who may put a question to a worker: a program, and no page that a browser has open.

A browser sends requests to loopback for any page that asks it to, and a name that a stranger's DNS
points at 127.0.0.1 makes the answer that page's to read. So the name asked for must be one of this
machine or one of the settings (`question_hosts`), and what a browser says of the page that asks
must not name another one. Metrics and health are for whoever reaches the port.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from typing import Protocol


class Headers(Protocol):
    """The headers of a request, found by name."""

    def get(self, name: str, /) -> str | None:
        """What a header says."""


_OWN = frozenset({"same-origin", "none"})


def refusal(headers: Headers, names: Collection[str]) -> str | None:
    """Why a request with these headers is not answered; `names` are hosts beside loopback.

    >>> refusal({"Host": "127.0.0.1:9462"}, ())
    >>> refusal({"Host": "evil.example:9462"}, ())
    'this is not evil.example; name it in `question_hosts` if it is'
    """
    host = _name(headers.get("Host") or "")
    if not _is_loopback(host) and host not in names:
        return f"this is not {host[:100] or 'anywhere'}; name it in `question_hosts` if it is"
    origin = headers.get("Origin")
    if origin is not None and _name(origin.partition("://")[2]) != host:
        return "a page of another origin asks"
    if (headers.get("Sec-Fetch-Site") or "none") not in _OWN:
        return "a page of another site asks"
    return None


def _name(host: str) -> str:
    """A host without its port, as names are compared.

    >>> _name("LOCALHOST:80"), _name("[::1]:80"), _name("a.example")
    ('localhost', '::1', 'a.example')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
