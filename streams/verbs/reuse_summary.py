"""Which site holds how many pages of which other site: the first question about many alerts.

A page counts once for a pair of sites, whatever the number of its alerts. Its other site is that of
its first donor; `originals` counts where the original is, for each alert of a page. A finding of a
whole host that names another (`mirror-host`) is counted among the kinds of its pair, and is no
page. One that is closed, and alerts without a donor on another site, are left out and counted.
Holds the URLs of the alerts that it is given, and nothing else of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from reusewatch.streams.records import Alert
from reusewatch.streams.urls import host_of_url, simple_site, site_of

SiteOf = Callable[[str], str]
# What is one site, by the value of the setting `site`.
SITES: dict[str, SiteOf] = {"registered-domain": site_of, "simple": simple_site}


@dataclass(slots=True)
class _Pair:
    pages: set[str] = field(default_factory=set)
    kinds: Counter[str] = field(default_factory=Counter)
    originals: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Summary:
    """A row for each pair of sites, most pages first; and what is in none of them, by kind."""

    rows: list[dict[str, Any]]
    left_out: Counter[str]


def summarized(alerts: Iterable[Alert], site: str = "registered-domain") -> Summary:
    """The alerts by the site of their page and the site of its first donor."""
    site_of_host = SITES[site]
    pairs: dict[tuple[str, str], _Pair] = defaultdict(_Pair)
    left_out: Counter[str] = Counter()
    for alert in alerts:
        here = site_of_host(host_of_url(alert.url or alert.prefix or ""))
        there = site_of_host(host_of_url(alert.donors[0].url)) if alert.donors else here
        if here == there:
            left_out[alert.kind] += 1
            continue
        if alert.url is None and alert.state == "closed":
            left_out[f"closed {alert.kind}"] += 1
            continue
        pair = pairs[here, there]
        if alert.url is not None:
            pair.pages.add(alert.url)
        pair.kinds[alert.kind] += 1
        if alert.url is not None and alert.direction is not None:
            pair.originals[alert.direction.original] += 1
    ordered = sorted(pairs.items(), key=lambda item: (-len(item[1].pages), item[0]))
    return Summary([_row(*sites, pair) for sites, pair in ordered], left_out)


def _row(here: str, there: str, pair: _Pair) -> dict[str, Any]:
    kinds = dict(sorted(pair.kinds.items()))
    originals = dict(sorted(pair.originals.items()))
    return {
        "site": here, "donor_site": there, "pages": len(pair.pages), "kinds": kinds,
        "originals": originals,
    }  # fmt: skip
