"""What the commands that ask live state print: `neighborhoods`, `clusters`, `similar`."""

from __future__ import annotations

import json

import pytest

from tests.contract.tables import CLUSTER, NEIGHBORHOOD, OK, SIMILAR, WRONG_USE, Tried

pytestmark = pytest.mark.timeout(300)


def test_neighborhoods_are_told_worst_first(tried: Tried) -> None:
    done = tried.run("neighborhoods", "--json")
    rows = done.objects
    assert all(row.keys() >= NEIGHBORHOOD for row in rows)
    assert [row["badness"] for row in rows] == sorted((x["badness"] for x in rows), reverse=True)
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
