"""Labeled pages: what is reported, with which evidence, and when order matters."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any

import pytest

from reusewatch.streams.blocks.label_columns import LABEL_FIELDS, Marks
from reusewatch.streams.stages.labeled import NOT_JUDGED, Labeled, LabeledPages
from reusewatch.streams.stages.snapshot import State
from tests.pages import SCHEME

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def row(page: int, chunks: int, marks: Marks, **facts: Any) -> dict[str, Any]:
    found = {
        "page": page, "url": f"http://a.test/{page}", "site": "a.test", "ip": None, "status": 200,
        "fetched_at": NOW, "revisit_of": None, "text_start": 3, "text_end": 900, "excerpt": "Once",
        "salvaged": False, "source": "a.warc.gz", "offset": page, "record_id": None,
        "truncated": False, "overlong": False,
        "obfuscated": 0.0,
        "file_hash": page + 1000, "identity_hash": page + 2000, "chunks": list(range(chunks)),
        "chunk_starts": [10 * at for at in range(chunks)],
        "chunk_ends": [10 * at + 8 for at in range(chunks)],
    }  # fmt: skip
    columns = {field.name: getattr(marks, field.name) for field in LABEL_FIELDS}
    return found | columns | facts


def with_chunks(*places: int, **others: Any) -> Marks:
    names = ("sea",) * len(places)
    texts = tuple(f"text {place}" for place in places[:16])
    return Marks("v1", "critical", (), places, names, texts, **others)


def judged(pages: LabeledPages, one: dict[str, Any]) -> Labeled:
    """Where every chunk but the stop chunks counts."""
    return pages.judge(one, len(one["chunks"]) - len(one["stopped"]), NOW)


def test_content_is_reported_with_the_chunks_that_are_labeled() -> None:
    found = judged(LabeledPages(SCHEME), row(1, 5, with_chunks(1, 3, stopped=(0,))))
    assert found.contains == 0.5
    assert (found.labels, found.labels_version) == (("sea",), "v1")
    (alert,) = found.alerts
    assert (alert.kind, alert.severity, alert.labels) == ("labeled-content", "critical", ("sea",))
    assert (alert.figure, alert.threshold, alert.labels_version) == (0.5, 0.144, "v1")
    assert [(e.start, e.end, e.text, e.label) for e in alert.evidence] == [
        (10, 18, "text 1", "sea"), (30, 38, "text 3", "sea"),
    ]  # fmt: skip


def test_a_file_that_is_labeled_is_a_labeled_page() -> None:
    marks = Marks("v1", "info", ("sea", "ships"))
    (alert,) = judged(LabeledPages(SCHEME), row(1, 5, marks)).alerts
    assert (alert.kind, alert.severity, alert.figure) == ("labeled-page", "info", 1.0)
    assert [e.label for e in alert.evidence] == ["sea", "ships"]


def test_a_chunk_with_two_labels_counts_once() -> None:
    marks = Marks("v1", "info", (), (2, 2), ("a", "b"), ("x", "x"))
    assert judged(LabeledPages(SCHEME), row(1, 4, marks)).contains == 0.25


def test_what_is_no_page_of_content_is_not_judged() -> None:
    pages = LabeledPages(SCHEME)
    for one in (
        row(1, 2, Marks()),
        row(1, 2, with_chunks(1), status=404),
        row(1, 0, with_chunks(), revisit_of=7),
    ):
        assert judged(pages, one) is NOT_JUDGED
    assert pages.save() == LabeledPages(SCHEME).save()


def test_a_page_without_a_chunk_that_counts_has_no_contains_and_is_in_no_mean() -> None:
    pages = LabeledPages(SCHEME, fixed=0.01)
    said = judged(pages, row(1, 2, Marks("v1", stopped=(0, 1))))
    assert (said.contains, said.labels_version, said.alerts) == (None, "v1", ())
    assert pages.save().facts["seen"] == ["0", "0", "0"]


def test_judged_again_an_alert_has_the_same_id() -> None:
    pages = LabeledPages(SCHEME, fixed=0.1)
    first, second = (judged(pages, row(1, 4, with_chunks(1))).alerts[0] for _ in range(2))
    assert first == second
    changed = row(1, 4, with_chunks(1), identity_hash=5)
    assert judged(pages, changed).alerts[0].id != first.id


ROWS = [row(at, 10, with_chunks(*range(at))) for at in range(5)]


def test_with_a_fixed_threshold_the_order_does_not_matter() -> None:
    def ids(order: tuple[dict[str, Any], ...]) -> set[str]:
        pages = LabeledPages(SCHEME, fixed=0.2)
        return {alert.id for one in order for alert in judged(pages, one).alerts}

    assert {frozenset(ids(order)) for order in itertools.permutations(ROWS)} == {
        frozenset(ids(tuple(ROWS)))
    }


def test_the_threshold_is_mean_plus_deviation_and_survives_a_restart() -> None:
    pages = LabeledPages(SCHEME)
    clean, quoting = row(1, 40, Marks("v1")), row(2, 40, with_chunks(0))
    for one in [clean, quoting] * 500:
        judged(pages, one)
    assert pages.threshold == pytest.approx(0.025)
    again = LabeledPages(SCHEME)
    again.restore(State(facts=pages.save().facts))
    assert again.threshold == pages.threshold
    again.restore(None)
    assert again.threshold == 0.144
