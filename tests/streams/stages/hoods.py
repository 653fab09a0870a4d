"""Fingerprint blocks of pages with labeled chunks, and the neighborhoods that they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from hypothesis import strategies as st

from reusewatch.detector.neighborhoods.figures import PageFacts
from reusewatch.detector.neighborhoods.prefixes import crawl_trap, prefixes
from reusewatch.detector.sketching.fingerprint import Document, Fingerprints, fingerprints
from reusewatch.streams.blocks.format import block_messages
from reusewatch.streams.blocks.label_columns import Marks
from reusewatch.streams.blocks.making import block_of
from reusewatch.streams.bus import Message, Outgoing
from reusewatch.streams.stages.neighboring import NeighborhoodStage
from reusewatch.streams.urls import place
from tests.pages import SCHEME
from tests.streams.page_columns import page_columns
from tests.streams.stages.making import NOW, as_message, zero

BEGIN = datetime(2026, 3, 2, 6, 0, tzinfo=UTC)
Figures = dict[str, tuple[int, float, float, bool]]


@dataclass(frozen=True, slots=True)
class Copied:
    """A page of `total` chunks: the first `labeled` are in L, the last `stopped` stop chunks."""

    url: str
    labeled: int
    total: int
    at: int = 0
    stopped: int = 0
    status: int | None = 200
    revisit: bool = False
    severity: str = "warning"
    # Of the labeled chunks, those whose label has a home.
    homed: int = 100

    @property
    def facts(self) -> PageFacts:
        """As the definition has it."""
        left = self.total - self.stopped
        page = int(place(self.url, SCHEME).page_id, 16)
        return PageFacts(page, self.url, self.at, min(self.labeled, left), left)


def blocks_of(
    pages: Sequence[Copied], partition_for: Callable[[str], int] = zero, version: str = "1" * 16
) -> list[Outgoing]:
    """A block for each page: order is for the test to say."""
    found: list[Outgoing] = []
    for page in pages:
        made = _made(page.total)
        row = _row(page) | {
            "truncated": False,
            "overlong": False,
            "salvaged": False,
            "file_hash": made.facts[0].file_hash,
        }
        block = block_of(
            page_columns([row]), made, grams=False, marks=[_marks(page, version)], shortest=0
        )
        found += block_messages(block, SCHEME, partition_for(str(row["site"])))
    return found


@cache
def _made(chunks: int) -> Fingerprints:
    """Of the words nothing is asked here, but for how many chunks they are."""
    body = "".join(f"<p>chunk{n} of many</p>" for n in range(chunks))
    return fingerprints([Document(f"<html><body>{body}</body></html>".encode())], SCHEME)


def _row(page: Copied) -> dict[str, Any]:
    where = place(page.url, SCHEME)
    return {
        "page": int(where.page_id, 16), "url": page.url, "site": where.site, "host": where.host,
        "ip": None, "fetched_at": BEGIN + timedelta(seconds=page.at), "status": page.status,
        "content_type": "text/html", "charset": "utf-8", "source": "test", "offset": 0,
        "title": "", "excerpt": "", "text_start": 0, "text_end": 0, "revisit_at": None,
        "revisit_of": 1 if page.revisit else None,
    }  # fmt: skip


def _marks(page: Copied, version: str) -> Marks:
    labeled = tuple(range(page.labeled))
    return Marks(
        labels_version=version,
        labels_severity=page.severity if labeled else None,
        labeled=labeled,
        labeled_by=("bank",) * len(labeled),
        labeled_text=("chunk",) * bool(labeled),
        stopped=tuple(range(page.total - page.stopped, page.total)),
        labeled_homed=labeled[: page.homed],
    )


def messages_of(pages: Sequence[Copied]) -> list[Message]:
    return [as_message(sent, n) for n, sent in enumerate(blocks_of(pages))]


def stage_of(**settings: object) -> NeighborhoodStage:
    given: dict[str, object] = {"min_files": 3, "threshold": 0.5}
    return NeighborhoodStage(SCHEME, clock=lambda: NOW, **(given | settings))  # type: ignore[arg-type]


def figures(rows: Iterable[dict[str, object]]) -> Figures:
    return {
        str(row["prefix"]): (row["files"], row["badness"], row["chunk_ratio"], row["open"])
        for row in rows
    }  # type: ignore[misc]


def asked(stage: NeighborhoodStage) -> Figures:
    return figures(stage.answer("neighborhoods", {"top": "1000"}))


def by_definition(pages: Iterable[Copied]) -> dict[str, tuple[int, float, float]]:
    """Files, badness, chunk ratio by prefix: of each page its last version, error pages, revisits
    and traps left out (Ardi, Heidemann 2014, §3.1 step 6)."""
    last: dict[str, PageFacts] = {}
    for page in pages:
        if page.revisit or (page.status or 200) // 100 != 2 or crawl_trap(page.url):
            continue
        facts, old = page.facts, last.get(page.url)
        order = (facts.at, facts.labeled, facts.total)
        if old is None or order > (old.at, old.labeled, old.total):
            last[page.url] = facts
    found = {}
    for prefix in {p for facts in last.values() for p in prefixes(facts.url)}:
        files = [f for f in last.values() if prefix in prefixes(f.url) and f.total]
        if files:
            badness = sum(f.labeled / f.total for f in files) / len(files)
            ratio = sum(f.labeled for f in files) / sum(f.total for f in files)
            found[prefix] = (len(files), badness, ratio)
    return found


@st.composite
def copied_crawls(draw: st.DrawFn) -> list[Copied]:
    """A few sites with directories; pages come again, changed or as errors."""
    paths = st.sampled_from(["", "a/", "a/b/", "c/"])
    found = []
    for _ in range(draw(st.integers(0, 14))):
        site, name = draw(st.integers(0, 2)), draw(st.integers(0, 2))
        url = f"http://www.site{site}.example/{draw(paths)}{name}"
        total = draw(st.integers(0, 4))
        found.append(
            Copied(
                url, draw(st.integers(0, total)), total, draw(st.integers(0, 3)),
                stopped=draw(st.integers(0, min(1, total))),
                status=draw(st.sampled_from([200, 200, 200, 404, None])),
                revisit=draw(st.integers(0, 5)) == 0,
            )
        )  # fmt: skip
    return found


def bad_site(
    site: int, pages: int = 6, *, labeled: int = 4, total: int = 4, at: int = 0, first: int = 0
) -> list[Copied]:
    """A directory of a site, by default nothing but copies."""
    return [
        Copied(f"http://www.site{site}.example/copies/{n}", labeled, total, at)
        for n in range(first, first + pages)
    ]
