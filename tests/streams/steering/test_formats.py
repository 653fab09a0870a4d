r"""Formats of other crawlers, held against readers written from their sources, in a few lines each.

Java's and JavaScript's regular expressions are Python's here: what is written is an anchor, plain
characters, and escapes of characters that mean something in all three.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.streams.steering.formats import FORMATS, Place, Refused, written

Reader = Callable[[str, str], bool]

PREFIX = "https://www.bad.example/copies/"
HOSTILE = [
    "http://h.example/a\nHost good.example\n  DenyPath .*\n/",
    "http://h.example/a\r\n-http://(example,good,)/\u2028/",
    'http://h.example/"],"patterns":["DenyPath .*/',
    "http://h.example/.*(a+)+$[b]{2}|\\/",
    "http://h.example/a #b?c/",
    "http://h.example/\ud800é\x00/",
]


def heritrix(text: str, url: str) -> bool:
    """`considerAsAddDirective` and `containsPrefixOf`."""
    parts = urlsplit(url)
    host = ",".join(reversed((parts.hostname or "").split("."))) + ","
    port = f":{parts.port}" if parts.port else ""
    candidate = f"http://({host}{port}){parts.path}".lower()
    prefixes = [line.removeprefix("-").strip() for line in text.split("\n") if line[:1] == "-"]
    assert all("(" in one and not re.search(r"\s", one) for one in prefixes)
    return any(candidate.startswith(one.lower()) for one in prefixes)


def found(rule: str, path: str) -> bool:
    """A rule of both filters that are called FastURLFilter."""
    name, expression = rule.split()
    assert name == "DenyPath"
    return re.search(expression, path) is not None


def nutch(text: str, url: str) -> bool:
    """`reloadRules` and `filter`."""
    rules: dict[str, list[str]] = {}
    current = ""
    for raw in text.splitlines():
        line = raw.split("#")[0].strip()
        if line.startswith("Host"):
            current = line.split()[1]
        elif line:
            rules.setdefault(current, []).append(line)
    parts = urlsplit(url)
    return any(found(rule, parts.path) for rule in rules.get(parts.hostname or "", []))


def stormcrawler(text: str, url: str) -> bool:
    """`loadJSONResources` and `checkScope`."""
    (scopes,) = json.loads(text).values()
    names = [one["scope"] for one in scopes]
    assert len(set(names)) == len(names)  # or the last one would replace the others
    parts = urlsplit(url)
    of_host = (one for one in scopes if one["scope"] == f"host:{parts.hostname}")
    return any(found(rule, parts.path) for one in of_host for rule in one["patterns"])


def browsertrix(text: str, url: str) -> bool:
    """`processMessage` and `addExclusion`."""
    messages = [json.loads(line) for line in text.split("\n") if line]
    assert all(one.keys() == {"type", "regex"} for one in messages)
    assert {one["type"] for one in messages} <= {"addExclusion"}
    return any(re.search(one["regex"], url) for one in messages)


def robots(text: str, url: str) -> bool:
    """Python's own reader, of the group of the URL's host."""
    parts = urlsplit(url)
    groups = (group.split("\n") for group in text.split("\n\n"))
    reader = RobotFileParser()
    reader.parse(
        next((g[1:] for g in groups if g[0] == f"# {parts.scheme}://{parts.netloc}/robots.txt"), [])
    )
    return not reader.can_fetch("anybody", url)


def plain(text: str, url: str) -> bool:
    return any(url.startswith(line) for line in text.split("\n") if line)


READERS: dict[str, Reader] = {
    "prefixes": plain, "surt": heritrix, "nutch": nutch, "stormcrawler": stormcrawler,
    "browsertrix": browsertrix, "robots": robots,
}  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_below_the_prefix_is_kept_out_and_nothing_else(form: str) -> None:
    kept_out = READERS[form]
    text = written([PREFIX, "https://all.example/"], form).text  # type: ignore[arg-type]
    for url in (PREFIX, PREFIX + "a/b.html", "https://all.example/x"):
        assert kept_out(text, url), url
    for url in (
        "https://www.bad.example/", "https://www.bad.example/originals/copies/",
        "https://bad.example/copies/", "https://wwwxbad.example/copies/",
        "https://good.example/copies/", "https://all.example.org/",
    ):  # fmt: skip
        assert not kept_out(text, url), url


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("prefix", HOSTILE)
def test_a_stranger_s_prefix_says_nothing_else(form: str, prefix: str) -> None:
    made = written([prefix, PREFIX], form)  # type: ignore[arg-type]
    assert (made.said, made.refused) == (2, 0)
    kept_out = READERS[form]
    assert kept_out(made.text, Place.of(prefix).url)
    assert kept_out(made.text, PREFIX)
    for url in ("http://good.example/", "http://h.example/", "http://h.example/b/"):
        assert not kept_out(made.text, url)
    assert made.text.isascii()


PATHS = st.text("ab/.*+?$^|()[]{}\\# \n\t\"'%é", max_size=12)


@given(st.lists(PATHS, min_size=1, max_size=4), PATHS)
def test_every_reader_keeps_out_what_begins_so(paths: list[str], other: str) -> None:
    prefixes = [f"http://h.example/{path}/" for path in paths]
    urls = [Place.of(one).url for one in prefixes]
    asked = Place.of(f"http://h.example/{other}/").url
    for form in ("prefixes", "nutch", "stormcrawler", "browsertrix"):
        text = written(prefixes, form).text  # type: ignore[arg-type]
        assert READERS[form](text, asked) == any(map(asked.startswith, urls)), form
    surts = written(prefixes, "surt").text
    assert heritrix(surts, asked) == any(asked.lower().startswith(url.lower()) for url in urls)


def test_what_stands_below_another_prefix_is_not_said_twice() -> None:
    made = written(["http://h.example/a/b/", "http://h.example/a/", "http://h.example/a/"], "surt")
    assert (made.text, made.said) == ("-http://(example,h,)/a/\n", 1)


def test_the_forms_are_those_of_the_projects() -> None:
    prefixes = ["http://10.0.0.1/", "https://www.h.example:8443/A b/"]
    assert written(prefixes, "surt").text.splitlines() == [
        "-http://(10.0.0.1)/", "-http://(example,h,www,:8443)/a%20b/",
    ]  # fmt: skip
    one = ["http://h.example/x.y/"]
    assert written(one, "nutch").text == "Host h.example\n  DenyPath ^/x\\.y/\n"
    assert json.loads(written(one, "stormcrawler").text) == {
        "rules": [{"scope": "host:h.example", "patterns": ["DenyPath ^/x\\.y/"]}]
    }
    assert json.loads(written(one, "browsertrix").text) == {
        "type": "addExclusion", "regex": "^http://h\\.example/x\\.y/",
    }  # fmt: skip
    assert written(one, "robots").text == (
        "# http://h.example/robots.txt\nUser-agent: *\nDisallow: /x.y/\n\n"
    )
    assert json.loads(written([], "stormcrawler").text) == {"rules": []}


@pytest.mark.parametrize(
    "prefix",
    ["", "nothing", "ftp://h.example/", "http:///x/", "http://a b/", "http://h.example:x/"],
)
def test_what_is_no_place_is_refused_and_counted(prefix: str) -> None:
    with pytest.raises(Refused):
        Place.of(prefix)
    assert written([prefix, PREFIX], "surt").refused == 1


@pytest.mark.parametrize("form", ["nutch", "stormcrawler"])
def test_a_filter_without_ports_is_told_of_none(form: str) -> None:
    made = written(["http://h.example:8080/x/", "http://h.example:80/x/"], form)  # type: ignore[arg-type]
    assert (made.said, made.refused) == (1, 1)
