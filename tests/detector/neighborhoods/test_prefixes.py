"""Neighborhoods of a URL, and recursion errors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.neighborhoods.prefixes import (
    LONGEST_PREFIX,
    _crawl_trap,
    _prefixes,
    crawl_trap,
    prefixes,
)

components = st.lists(st.text("ab.-%é", max_size=3), max_size=120)


@given(components, st.sampled_from(["", "?q=/a/", "#/b/"]))
def test_every_directory_is_a_neighborhood(components: list[str], tail: str) -> None:
    path = "/" + "/".join(components)
    found = prefixes("http://h.org" + path + tail)
    wanted = ["http://h.org" + path[: i + 1] for i, char in enumerate(path) if char == "/"]
    assert found == wanted


short = st.lists(st.sampled_from(["a", "b", "", "abc", "é"]), max_size=8)
many = st.lists(st.sampled_from(["a", "bcd"]), min_size=90, max_size=100)


@given(
    st.sampled_from(["http://h.org", "http://h.org/", "http://h.org//", "", "/", "x/", "http://"]),
    short | many,
    st.sampled_from(["", "?", "?q=/a/a/a/", "#/b/", "#?"]),
)
def test_what_is_known_of_a_directory_changes_nothing(
    host: str, components: list[str], tail: str
) -> None:
    url = host + "/".join(components) + tail
    assert prefixes(url) == _prefixes(url)
    assert crawl_trap(url) == _crawl_trap(url)


def test_a_url_of_a_megabyte_has_few_neighborhoods() -> None:
    found = prefixes("http://h.org/" + "abc/" * 250_000)
    assert len(found) < LONGEST_PREFIX / 4
    assert max(map(len, found)) <= LONGEST_PREFIX
    trap = crawl_trap("http://h.org/" + "abc/" * 250_000)
    assert trap
    assert (trap.prefix, trap.reason) == ("http://h.org/", "deep")


@pytest.mark.parametrize(
    ("path", "prefix", "reason"),
    [
        ("a/b/a/b/a/b/", "", "loop"),
        ("x/a/b/a/b/a/b/page.html", "x/", "loop"),
        ("img/img/img/", "", "loop"),
        ("y/about/about/about", "y/", "loop"),
        ("0/0/0/0/0/", "", "loop"),
        ("a/b/c/d/a/b/c/d/a/b/c/d/e", "", "loop"),
        ("en/news/x/news/y/news/z/news/w/news/v", "en/", "repeated"),
        ("/".join(map(str, range(97))), "", "deep"),
    ],
)
def test_recursion_errors(path: str, prefix: str, reason: str) -> None:
    trap = crawl_trap(f"http://h.org/{path}")
    assert trap
    assert (trap.prefix, trap.reason) == (f"http://h.org/{prefix}", reason)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "2014/01/01/01.html",
        "tiles/0/0/0.png",
        "a/a/a/file",
        "wiki/wiki/page",
        "en/us/en/us/page",
        "en/us/products/en/us",
        "/".join(map(str, range(96))),
        "?a/b/a/b/a/b/a/b",
        "#img/img/img/img",
    ],
)
def test_ordinary_paths_are_no_traps(path: str) -> None:
    assert crawl_trap(f"http://h.org/{path}") is None


@given(st.lists(st.sampled_from(["aaa", "bbb", "ccc"]), max_size=12))
def test_loop_twin(components: list[str]) -> None:
    looped = any(
        components[at : at + size] * 3 == components[at : at + 3 * size]
        for size in range(1, 5)
        for at in range(len(components) - 3 * size + 1)
    )
    trap = crawl_trap("http://h.org/" + "/".join(components))
    assert (trap is not None and trap.reason == "loop") == looped


@given(components)
def test_a_trap_begins_in_its_url(components: list[str]) -> None:
    url = "http://h.org/" + "/".join(components)
    trap = crawl_trap(url)
    assert trap is None or url.startswith(trap.prefix)
