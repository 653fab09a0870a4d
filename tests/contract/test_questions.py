"""What the commands that ask live state, or all of a bus, print."""

from __future__ import annotations

import json

import pytest

from tests.contract.tables import (
    CLUSTER,
    COVER,
    NEIGHBORHOOD,
    OK,
    PHRASE,
    PHRASE_HOST,
    SIMILAR,
    WRONG_USE,
    Tried,
)

pytestmark = pytest.mark.timeout(300)


def test_neighborhoods_are_told_worst_first(tried: Tried) -> None:
    done = tried.run("neighborhoods", "--json")
    rows = done.objects
    assert all(row.keys() >= NEIGHBORHOOD for row in rows)
    assert [row["badness"] for row in rows] == sorted((x["badness"] for x in rows), reverse=True)
    assert all(row["reused"] >= 0 for row in rows)
    assert any(row["reused"] for row in rows)
    opened = [row["prefix"] for row in rows if row["open"]]
    assert opened == [alert["prefix"] for alert in tried.of_kind("bad-neighborhood")]
    under = tried.run("neighborhoods", "--json", "--under", opened[0]).objects
    assert [row["prefix"] for row in under] == opened
    (worst,) = tried.run("neighborhoods", "--json", "--top", "1").objects
    assert worst == rows[0]


def test_clusters_are_told_largest_first(tried: Tried) -> None:
    done = tried.run("clusters", "--json", "--top", "5")
    assert done.code == OK
    assert all(one.keys() >= CLUSTER for one in done.objects)
    sizes = [one["size"] for one in done.objects]
    assert sizes == sorted(sizes, reverse=True)
    largest = done.objects[0]
    assert len(largest["urls"]) == largest["size"]
    assert tried.run("clusters", "--json", "--url", largest["urls"][0]).objects == [largest]


def test_pages_like_a_page_are_told_best_first(tried: Tried) -> None:
    alert = tried.of_kind("near-duplicate")[0]
    done = tried.run("similar", alert["url"], "--json")
    assert done.code == OK, done.err
    assert all(one.keys() >= SIMILAR for one in done.objects)
    assert alert["donors"][0]["url"] in [one["url"] for one in done.objects]
    shares = [one["mwo"] for one in done.objects]
    assert shares == sorted(shares, reverse=True)
    assert "NaN" not in json.dumps(done.objects)


def test_pages_like_one_that_never_came_are_2(tried: Tried) -> None:
    done = tried.run("similar", "https://nowhere.example/", "--json")
    assert (done.code, done.out) == (WRONG_USE, "")
    assert "nowhere.example" in done.err


def test_phrases_are_told_most_documents_first(tried: Tried) -> None:
    done = tried.run("phrases", "--json", "--top", "7")
    assert done.code == OK, done.err
    assert len(done.objects) == 7
    assert all(one.keys() >= PHRASE for one in done.objects)
    assert all(one["documents"] >= 5 and one["sites"] >= 1 for one in done.objects)
    counts = [one["documents"] for one in done.objects]
    assert counts == sorted(counts, reverse=True)
    hosts = tried.run("phrases", "--hosts", "--json")
    assert hosts.code == OK, hosts.err
    assert all(one.keys() >= PHRASE_HOST for one in hosts.objects)


def test_a_cover_has_the_popular_shingles_of_a_page(tried: Tried) -> None:
    asked = tried.of_kind("duplicate")[0]["url"]
    done = tried.run("cover", asked, "--json")
    (found,) = done.objects
    assert found.keys() >= COVER
    assert found["url"] == asked
    assert found["size"] == len(found["donors"])
    assert sum(donor["count"] for donor in found["donors"]) == found["popular_shingles"]
    assert 0 <= found["foreign"] <= found["popular_shingles"]
