"""What φ and links tell apart: news digests, stitched spam, and pages that quote a little of many.

A digest has the first words of six articles of other sites, each with a link to its article; spam
has parts of six articles without a link; who quotes has most of his words from one or two articles,
and a few from each of eight others. Pages go through the stages as in a replay: what is told of
them by φ, how loud, and how much of a quilt is attributed.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import escape
from pathlib import Path

import msgspec

from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.streams import topics
from reusewatch.streams.records import Alert, Origin, Page, Verdict
from reusewatch.streams.stages.fingerprinting import GRAM_SAMPLES, FingerprintStage
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.stages.quilting import Quilting
from reusewatch.streams.urls import place
from reusewatch.streams.wire import page_message
from tests.corpora import POSTGRES_15, PYTHON_311
from tests.experiments.parts import (
    SCHEME,
    SEED,
    made_up_manual,
    manual,
    own_text,
    paragraphs,
    vocabulary,
)
from tests.experiments.report import Experiment, Row
from tests.streams.stages.making import as_message, zero

PHI = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15)
_NAME = "quilt-digests"
_PAGES, _ARTICLES, _EXCERPTS = 40, 400, 6
_BEGIN, _NOW = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC)
_BATCH = 32


@dataclass(frozen=True, slots=True)
class Article:
    """A page of a site of its own."""

    url: str
    words: tuple[str, ...]


def _articles(quick: bool) -> list[Article]:
    pages = (
        [*made_up_manual(60, 1), *made_up_manual(60, 2)] if quick
        else [*manual(POSTGRES_15, _ARTICLES), *manual(PYTHON_311, _ARTICLES)]
    )  # fmt: skip
    # Without the first paragraph, which may be of the manual's frame.
    texts = (" ".join(paragraphs(page)[1:]).split() for page in pages)
    found = [tuple(words) for words in texts if 150 <= len(words) <= 3000]
    return [Article(f"http://paper{at}.example/story", one) for at, one in enumerate(found)]


def _html(parts: Sequence[tuple[str, str]], own: Sequence[str]) -> bytes:
    """Parts of articles, each with a link or with none, among own words."""
    made = [f"<p>{escape(one)}</p>" for one in own]
    for at, (text, url) in enumerate(parts):
        link = f' <a href="{url}">read on</a>' if url else ""
        made.insert(2 * at + 1, f"<p>{escape(text)}{link}</p>")
    return "".join(made).encode()


def subjects(articles: Sequence[Article], quick: bool) -> dict[str, list[bytes]]:
    """Pages of each kind."""
    rng = random.Random(SEED)
    words = vocabulary([" ".join(one.words).encode() for one in articles[:50]])
    made: dict[str, list[bytes]] = {"digest": [], "spam": [], "quoting": []}
    for _ in range(6 if quick else _PAGES):
        chosen = rng.sample(articles, _EXCERPTS)
        own = [own_text(words, 12, rng) for _ in chosen]
        made["digest"].append(_html([(" ".join(a.words[:60]), a.url) for a in chosen], own))
        parts = []
        for one in rng.sample(articles, _EXCERPTS):
            begin = rng.randrange(len(one.words) - 60)
            parts.append((" ".join(one.words[begin : begin + 60]), ""))
        made["spam"].append(_html(parts, own))
        most, few = rng.sample(articles, 2), rng.sample(articles, 8)
        parts = [(" ".join(one.words[:130]), "") for one in most]
        parts += [(" ".join(one.words[20:29]), "") for one in few]
        made["quoting"].append(_html(parts, [own_text(words, 10, rng) for _ in parts]))
    return made


def _page(url: str, html: bytes, seconds: float) -> Page:
    where = place(url, SCHEME)
    return Page(
        id=where.page_id, url=url, site=where.site, host=where.host,
        fetched_at=_BEGIN + timedelta(seconds=seconds), content_type="text/html", charset="utf-8",
        body=html, origin=Origin(source="digests", offset=len(html)), status=200,
    )  # fmt: skip


def _judge(pages: Sequence[Page], phi: float) -> tuple[list[Alert], dict[str, Verdict]]:
    fingerprint = FingerprintStage(SCHEME, zero, grams="all")
    quilting = Quilting(
        SCHEME, QuiltRules(phi=phi), sample=GRAM_SAMPLES["all"], max_bytes=1 << 28,
    )  # fmt: skip
    index = IndexStage(
        SCHEME, clock=lambda: _NOW, max_pages=10_000, rules=Rules(policy="across", near_own=0.3),
        quilting=quilting, settle_pages=len(pages),
    )  # fmt: skip
    sent = []
    for at in range(0, len(pages), _BATCH):
        messages = [as_message(page_message(one)) for one in pages[at : at + _BATCH]]
        for block in fingerprint.process(messages).messages:
            sent += index.process([as_message(block)]).messages
    sent += index.settle().messages
    alerts = {
        one.key: msgspec.json.decode(one.value, type=Alert)
        for one in sent if one.topic == topics.ALERTS and one.value
    }  # fmt: skip
    verdicts = [
        msgspec.json.decode(one.value, type=Verdict)
        for one in sent if one.topic == topics.VERDICTS and one.value
    ]  # fmt: skip
    return [*alerts.values()], {one.url: one for one in verdicts}


def run(output: Path, quick: bool) -> list[Row]:
    """A row for each kind of page and each φ; shares are of the pages of the kind."""
    articles = _articles(quick)
    made = subjects(articles, quick)
    pages = [
        _page(one.url, f"<p>{escape(' '.join(one.words))}</p>".encode(), at)
        for at, one in enumerate(articles)
    ]
    pages += [
        _page(f"http://{kind}{at}.example/page", html, 3 * 86_400 + at)
        for kind, some in made.items() for at, html in enumerate(some)
    ]  # fmt: skip
    made["paper"] = [b"" for _ in articles]
    rows: list[Row] = []
    for phi in PHI[::3] if quick else PHI:
        alerts, verdicts = _judge(pages, phi)
        rows += [_row(kind, phi, len(some), alerts, verdicts) for kind, some in made.items()]
    return rows


def _row(
    kind: str, phi: float, number: int, alerts: Sequence[Alert], verdicts: Mapping[str, Verdict]
) -> Row:
    mine = [one for one in alerts if (one.url or "").startswith(f"http://{kind}")]
    quilts = [one for one in mine if one.kind == "quilt"]
    said = [verdicts[one.url].quilt for one in quilts if one.url is not None]
    known = [one for one in said if one is not None]
    return {
        "pages": kind, "φ": phi, "number": number, "quilts": len(quilts) / number,
        "warnings": sum(one.severity != "info" for one in quilts) / number,
        "sources": sum(one.sources for one in known) / len(known) if known else None,
        "attributed": sum(one.attributed for one in known) / len(known) if known else None,
        "partial copies": sum(one.kind == "partial-copy" for one in mine) / number,
    }  # fmt: skip


EXPERIMENT = Experiment(_NAME, run)
