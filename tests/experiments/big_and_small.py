"""A big page made of many small ones, and many small ones made of a big one: who finds them.

Pages of a manual, twenty by twenty: on one site they stand each by itself, on another, a month
later, as one page, without their heads and in another frame; and the other way round. *Whole* is
what pages as a whole tell (duplicates and near-duplicates), as it was before parts were looked at;
*parts* are partial copies and quilts. *Labeled* are pages from 0.3 of contains on, with the chunks
of the manual's own pages as labels, by the paper's denominator and over what can match. *Innocent*
are as many pages of another manual, on the site of the copies.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import msgspec

from reusewatch.crawler.demo.prose import paragraph
from reusewatch.streams.records import Page
from tests import corpora
from tests.experiments.label_contains import chunks_of, dataset_of, rows_of
from tests.experiments.report import Experiment, Row
from tests.experiments.templates import alerts_of, blocks_of, fetched

_TOGETHER, _QUICK, _MOST = 20, 2, 400
_BODY = re.compile(rb"<body[^>]*>(.*)</body>", re.DOTALL | re.IGNORECASE)
_OWN = b"<h1>Collected</h1><p>All that we have on this matter, on one page.</p>"
_WHOLE, _PARTS = {"duplicate", "near-duplicate"}, {"partial-copy", "quilt"}
_LABELED = 0.3
Pages = Sequence[bytes]


def run(output: Path, quick: bool) -> list[Row]:
    """A row for each direction."""
    if quick:
        small, innocent = _made(_QUICK * _TOGETHER, 1), _made(_TOGETHER, 2)
    else:
        small = list(corpora.pages(corpora.POSTGRES_15).values())[:_MOST]
        innocent = list(corpora.pages(corpora.PYTHON_311).values())[:_MOST]
    big = list(_together(small))
    return [
        _row("small ones become a big one", small, big, innocent),
        _row("a big one becomes small ones", big, small, innocent),
    ]


def _made(count: int, seed: int) -> list[bytes]:
    rng = random.Random(seed)
    return [
        f"<body><p>{'</p><p>'.join(paragraph(rng) for _ in range(3))}</p></body>".encode()
        for _ in range(count)
    ]


def _together(small: Pages) -> Iterator[bytes]:
    for at in range(0, len(small), _TOGETHER):
        parts = (_BODY.search(page) for page in small[at : at + _TOGETHER])
        text = b"".join(part[1] for part in parts if part)
        yield b"<html><body>" + _OWN + text + b"</body></html>"


def _row(name: str, originals: Pages, copies: Pages, innocent: Pages) -> Row:
    sites = {"author": originals, "copier": copies, "copier-own": innocent}
    pages = {site: list(_served(site, some)) for site, some in sites.items()}
    blocks = blocks_of([page for some in pages.values() for page in some])
    alerts = alerts_of(blocks, 0.3)
    whole = {one.url for one in alerts if one.kind in _WHOLE}
    told = whole | {one.url for one in alerts if one.kind in _PARTS}
    mine = {one.url for one in pages["copier"]}
    false = {one.url for one in pages["copier-own"]}
    return {
        "what": name, "copies": len(copies),
        "whole": len(mine & whole) / len(mine),
        "parts too": len(mine & told) / len(mine),
        "innocent told": len(false & told),
        **_labeled(originals, copies),
    }  # fmt: skip


def _served(site: str, pages: Pages) -> Iterator[Page]:
    later = timedelta(days=0 if site == "author" else 30)
    for at, html in enumerate(pages):
        page = fetched(at, site.removesuffix("-own"), html, under=site)
        yield msgspec.structs.replace(page, fetched_at=page.fetched_at + later)


def _labeled(originals: Pages, copies: Pages) -> Mapping[str, float]:
    rows = rows_of("copies", chunks_of(copies), dataset_of(chunks_of(originals)))
    return {f"labeled, {row['contains']}": row[f"from {_LABELED}"] for row in rows}


EXPERIMENT = Experiment("big-and-small", run)
