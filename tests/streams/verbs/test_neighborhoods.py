"""What `neighborhoods` tells of two stages."""

from __future__ import annotations

from reusewatch.streams.verbs.neighborhoods import with_reused, worst

LABELED = {"prefix": "http://labeled.example/", "files": 9, "badness": 0.5}
SCRAPER = {"prefix": "http://scraper.example/", "files": 9, "badness": 0.0}
COPIES = {"http://scraper.example/": {"reused": 6, "files": 8}}


def test_a_scraper_of_what_nobody_labeled_is_before_what_is_not_bad() -> None:
    harmless = {"prefix": "http://a.example/", "files": 90, "badness": 0.0}
    rows = worst(with_reused([harmless, SCRAPER, LABELED], COPIES), 2)
    assert [row["prefix"] for row in rows] == [LABELED["prefix"], SCRAPER["prefix"]]
    assert [(row["reused"], row["reused_of"]) for row in rows] == [(0, None), (6, 8)]


def test_where_nobody_counts_copies_nothing_is_said_of_them() -> None:
    rows = worst(with_reused([SCRAPER, LABELED], None), 5)
    assert [row["prefix"] for row in rows] == [LABELED["prefix"], SCRAPER["prefix"]]
    assert rows[0]["reused"] is rows[0]["reused_of"] is None
