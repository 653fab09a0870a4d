"""What `neighborhoods` tells of two stages."""

from __future__ import annotations

from reusewatch.streams.verbs.neighborhoods import with_reused, worst

LABELED = {"prefix": "http://labeled.example/", "files": 9, "badness": 0.5}
SCRAPER = {"prefix": "http://scraper.example/", "files": 9, "badness": 0.0}
COPIES = {"http://scraper.example/": {"reused": 6, "files": 8}}


def test_a_scraper_of_what_nobody_labeled_is_among_the_worst() -> None:
    first, second = worst(with_reused([LABELED, SCRAPER], COPIES), 5)
    assert (first["prefix"], first["reused"], first["reused_of"]) == (SCRAPER["prefix"], 6, 8)
    assert (second["prefix"], second["reused"]) == (LABELED["prefix"], 0)


def test_where_nobody_counts_copies_nothing_is_said_of_them() -> None:
    rows = worst(with_reused([SCRAPER, LABELED], None), 5)
    assert [row["prefix"] for row in rows] == [LABELED["prefix"], SCRAPER["prefix"]]
    assert rows[0]["reused"] is rows[0]["reused_of"] is None
