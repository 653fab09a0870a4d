"""The demo that crawls: all that is good is fetched, and little of what is bad."""

from __future__ import annotations

from pathlib import Path

from tests.command import run


def test_steering_costs_no_good_page_and_saves_most_bad_ones(tmp_path: Path) -> None:
    done = run("demo", "--live", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    (shown,) = done.objects
    places = {place["place"]: place for place in shown["places"]}
    for good in ("a newspaper", "its mirror", "somebody's hobby"):
        assert places[good]["fetched"] == places[good]["pages"]
    copied = places["a bank's texts, copied"]
    assert copied["fetched"] < copied["pages"] / 2
    assert places["a calendar without end"]["fetched"] < 40
    assert shown["steered"]["dropped"] > copied["pages"] / 2
    assert shown["steered"]["traps"] >= 1
