"""A template taken for a copy: alerts at each `near_own`, with pages' own phrases as truth.

Pages of one documentation strewn over eight sites, which share their template, and a tenth of them
copied with a few words changed; 75 pages of one on two hosts; the parts of one (Erlang's
applications, LilyPond's manuals, Scala's packages), each on a site of its own; and editions of one
manual, which share all. Each page goes through the stages as in a replay. Own phrases are those on
less than a tenth of the corpus's pages. A near-duplicate is of the *template* where those of
subject and donor have a Jaccard below 0.1, a partial copy where less than a tenth of neither's is
the other's.
*Copies* are pages that have an earlier one on another site with the same own phrases, from 0.9 on.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from reusewatch.crawler.demo.prose import paragraph
from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.detector.sketching.shingles import PHRASE_K, phrases
from reusewatch.streams import topics
from reusewatch.streams.bus import Message, Partition
from reusewatch.streams.records import Alert, Origin, Page
from reusewatch.streams.stages.fingerprinting import GRAM_SAMPLES, FingerprintStage
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.stages.quilting import Quilting
from reusewatch.streams.urls import place
from reusewatch.streams.wire import page_message
from tests.corpora import (
    EIGEN_34,
    ERLANG_25,
    FREE_PASCAL_32,
    GHC_90,
    JAVA_17,
    LILYPOND_224,
    PYTHON_313,
    SCALA_211,
    Package,
    pages,
)
from tests.experiments.near_sites import (
    SCHEME,
    Served,
    all_served,
    jaccard,
    made_up,
    own_phrases,
    strewn,
    tokens_of_batch,
)
from tests.experiments.report import Experiment, Row

THRESHOLDS = (0.0, 0.1, 0.3, 0.5)
_SPLIT = {"Eigen": EIGEN_34, "Free Pascal": FREE_PASCAL_32, "GHC": GHC_90, "Java": JAVA_17,
          "Python": PYTHON_313}  # fmt: skip
_PARTS = {"Erlang": (ERLANG_25, 2), "LilyPond": (LILYPOND_224, 1), "Scala": (SCALA_211, 3)}
"""Which folders of a path name a part: so many of the first ones."""
_FEW, _HOSTS, _PART = 75, 2, 100
_BEGIN, _NOW = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC)
_BATCH, _SEED, _COPIED = 32, 5, 0.1
_ALONE, _SAME = 0.1, 0.9
_LEAST = 20


def run(output: Path, quick: bool) -> list[Row]:
    """A row for each corpus and threshold."""
    corpora = {"made up": made_up(24)} if quick else {**all_served(quick), **_split(), **_parts()}
    return [
        row
        for name, served in corpora.items()
        for row in _rows(
            name,
            _with_copies(served) if "strewn" in name else served,
            THRESHOLDS[::2] if quick else THRESHOLDS,
        )
    ]


def _split() -> dict[str, list[Served]]:
    """Few pages of a documentation, as they come, on two hosts."""
    return {
        f"{name}, two hosts": [
            (f"host{at % _HOSTS}.example", html)
            for at, html in enumerate(list(pages(package).values())[:_FEW])
        ]
        for name, package in _SPLIT.items()
    }


def _parts() -> dict[str, list[Served]]:
    """Documentations of one template: strewn over eight sites, and a site for each part."""
    found = {f"{name}, strewn": strewn(package) for name, (package, _) in _PARTS.items()}
    return found | {f"{name}, by parts": _by_parts(*one) for name, one in _PARTS.items()}


def _by_parts(package: Package, depth: int) -> list[Served]:
    parts: dict[str, list[bytes]] = {}
    for path, html in pages(package).items():
        part = "-".join(re.sub(r"[^a-z]", "", one.lower()) for one in path.split("/")[:-1][:depth])
        parts.setdefault(part or "root", []).append(html)
    # As a crawl brings them: a page of each site in turn.
    rows = (
        (at, part, html) for part, some in parts.items() for at, html in enumerate(some[:_PART])
    )
    return [(f"{part}.example", html) for _, part, html in sorted(rows)]


def _with_copies(served: Sequence[Served]) -> list[Served]:
    """A tenth of the pages stand on another site of the same template too, with a line more."""
    rng = random.Random(_SEED)
    copied = [
        (f"mirror{rng.randrange(4)}.example", html + paragraph(rng)[:30].encode())
        for _, html in served if rng.random() < _COPIED
    ]  # fmt: skip
    others = [(f"mirror{rng.randrange(4)}.example", html) for _, html in served[::5]]
    return [*served, *copied, *others[: len(copied)]]


def _rows(name: str, served: Sequence[Served], thresholds: Sequence[float]) -> list[Row]:
    own, same = _truth(served)
    served_pages = [fetched(at, site, html) for at, (site, html) in enumerate(served)]
    number = {page.url: at for at, page in enumerate(served_pages)}
    blocks = blocks_of(served_pages)
    rows = []
    for threshold in thresholds:
        alerts = alerts_of(blocks, threshold)
        found = [(number[one.url or ""], number[one.donors[0].url], one.kind) for one in alerts]
        near = [(a, b) for a, b, kind in found if kind == "near-duplicate"]
        parts = [(a, b) for a, b, kind in found if kind == "partial-copy"]
        told = {a for a, _, _ in found}
        rows.append({
            "corpus": name, "near_own": threshold, "near-duplicates": len(near),
            "of the template": _alone(near, own), "partial copies": len(parts),
            "partial of the template": sum(within(own[a], own[b]) < _ALONE for a, b in parts),
            "copies": len(same), "found": len(told & same) / max(len(same), 1),
        })  # fmt: skip
    return rows


def _alone(pairs: Sequence[tuple[int, int]], own: Sequence[NDArray[np.uint64]]) -> int:
    return sum(jaccard(own[a], own[b]) < _ALONE for a, b in pairs)


def within(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> float:
    """The larger share of either that is in the other."""
    common = np.intersect1d(one, other, assume_unique=True).size
    return common / max(min(one.size, other.size), 1)


def _truth(served: Sequence[Served]) -> tuple[list[NDArray[np.uint64]], set[int]]:
    """Each page's own phrases; and the pages that have what an earlier one elsewhere has."""
    sets: list[NDArray[np.uint64]] = []
    for at in range(0, len(served), _BATCH):
        tokens = tokens_of_batch([html for _, html in served[at : at + _BATCH]])
        sets += [np.unique(page) for page in phrases(tokens, PHRASE_K, SCHEME, circular=True)]
    own = own_phrases(sets)
    holders: dict[int, list[int]] = {}
    same = set()
    for at, page in enumerate(own):
        some = page[:: max(1, page.size // 16)].tolist()
        candidates = {other for gram in some for other in holders.get(gram, ())}
        if page.size >= _LEAST and any(
            served[other][0] != served[at][0]
            and jaccard(page, own[other]) >= _SAME and not np.array_equal(sets[at], sets[other])
            for other in candidates
        ):  # fmt: skip
            same.add(at)
        for gram in page.tolist():
            holders.setdefault(gram, []).append(at)
    return own, same


def fetched(at: int, site: str, html: bytes, *, under: str = "") -> Page:
    """A page of a site, fetched an hour after the one before it; `under` is its directory."""
    folder = f"{under}/" if under else ""
    where = place(f"http://{site if '.' in site else site + '.example'}/{folder}{at}.html", SCHEME)
    url = f"http://{where.host}/{folder}{at}.html"
    return Page(
        id=where.page_id, url=url, site=where.site, host=where.host,
        fetched_at=_BEGIN + timedelta(hours=at), content_type="text/html", charset="utf-8",
        body=html, origin=Origin(source="templates", offset=at), status=200,
    )  # fmt: skip


def blocks_of(some: Sequence[Page]) -> list[Message]:
    """Fingerprint blocks of these pages."""
    stage = FingerprintStage(SCHEME, lambda site: 0, grams="sampled")
    return [
        Message(Partition(sent.topic, 0), 0, sent.key, sent.value, sent.headers, 0)
        for at in range(0, len(some), _BATCH)
        for sent in stage.process([
            Message(Partition("pages", 0), 0, one.key, one.value, one.headers, 0)
            for one in map(page_message, some[at : at + _BATCH])
        ]).messages
        if sent.topic == topics.FINGERPRINTS
    ]  # fmt: skip


def alerts_of(blocks: Sequence[Message], near_own: float) -> list[Alert]:
    """What the index tells of pages with donors."""
    index = IndexStage(
        SCHEME, clock=lambda: _NOW, max_pages=100_000, settle_pages=2000,
        rules=Rules(policy="across", thresholds={"least_shared": 8}, near_own=near_own),
        quilting=Quilting(
            SCHEME, QuiltRules(), sample=GRAM_SAMPLES["sampled"], max_bytes=1 << 27
        ),
    )  # fmt: skip
    sent = [one for block in blocks for one in index.process([block]).messages]
    sent += index.settle().messages
    alerts = [
        msgspec.json.decode(one.value, type=Alert)
        for one in sent if one.topic == topics.ALERTS and one.value
    ]  # fmt: skip
    return [one for one in alerts if one.donors]


EXPERIMENT = Experiment("templates", run)
