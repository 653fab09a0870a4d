"""The demo that crawls: what is there is found, all that is good is fetched, and little of what is
bad; a place that was cleaned comes back."""

from __future__ import annotations

from pathlib import Path

from tests.command import run


def test_steering_costs_no_good_page_and_saves_most_bad_ones(tmp_path: Path) -> None:
    done = run("demo", "--live", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    (shown,) = done.objects
    assert {row["kind"] for row in shown["found"]} == {
        "bad-neighborhood", "crawl-trap", "duplicate", "labeled-content", "mirror-host",
        "near-duplicate", "phrase-host",
    }  # fmt: skip
    assert [row for row in shown["found"] if row["found"] != row["there"] or row["else"]] == []
    places = {place["place"]: place for place in shown["places"]}
    for good in ("a newspaper", "somebody's hobby", "its scraper", "a link farm"):
        assert places[good]["fetched"] == places[good]["pages"]
    assert 20 <= places["its mirror"]["fetched"] < places["its mirror"]["pages"]
    copied = places["a bank's texts, copied"]
    assert copied["fetched"] < copied["pages"] / 2
    assert places["a calendar without end"]["fetched"] < 40
    assert places["links without end"]["fetched"] < 10
    assert shown["steered"]["dropped"] > copied["pages"] / 2
    assert shown["steered"]["traps"] >= 2
    assert shown["refused"] == 1
    assert shown["steer_seconds"]["response_most"] >= shown["steer_seconds"]["finding_median"] >= 0
