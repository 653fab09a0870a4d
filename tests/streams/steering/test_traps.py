"""Traps told by URLs: each kind is known soon, and what sites really have is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import islice, permutations

import pytest

from reusewatch.streams.steering.reports import TrapFound
from reusewatch.streams.steering.traps import (
    DATES,
    GROWING_DEPTH,
    GROWING_LINKS,
    ORDERS,
    SESSIONS,
    Growing,
    UrlTraps,
    _Seen,
    grown,
)
from tests.real_pages import urls_of_links

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOST = "http://h.example"


def kinds(urls: Iterable[str], traps: UrlTraps | None = None) -> list[str | None]:
    traps = traps or UrlTraps()
    found = (traps.find(url, NOW) for url in urls)
    return [trap and trap.kind for trap in found]


def orders() -> Iterator[str]:
    for names in permutations("abcd"):
        yield f"{HOST}/shop?" + "&".join(f"{name}=1" for name in names)


def days(first: date, count: int, form: str) -> list[str]:
    return [f"{HOST}{(first + timedelta(days=i)).strftime(form)}" for i in range(count)]


@pytest.mark.parametrize(
    ("urls", "kind", "free"),
    [
        ([f"{HOST}/x" + "/a/b" * n for n in range(6)], "loop", 3),
        (orders(), "permuted", ORDERS),
        ([f"{HOST}/p?sid={n:032x}&page=7" for n in range(20)], "session", SESSIONS),
        ([f"{HOST}/p;jsessionid={n:032X}?page=7" for n in range(20)], "session", SESSIONS),
        (days(date(2026, 1, 1), 900, "/cal?month=%Y-%m-%d"), "calendar", DATES),
        (days(date(2027, 1, 1), 900, "/events/%Y/%m/%d/"), "calendar", 120),
    ],
)
def test_a_trap_is_left_after_few_of_its_urls(urls: Iterable[str], kind: str, free: int) -> None:
    found = kinds(urls)
    caught = next(i for i, one in enumerate(found) if one)
    assert caught <= free
    assert set(found[caught:]) == {kind}


def test_what_was_fetched_before_stays_what_it_was() -> None:
    traps = UrlTraps()
    urls = list(islice(orders(), 10))
    kinds(urls, traps)
    assert kinds(urls[:ORDERS], traps) == [None] * ORDERS


@pytest.mark.parametrize("start", [f"{HOST}/x/", f"{HOST}/", HOST, "HTTP://H.example:80"])
def test_links_that_lead_below_themselves_for_ever_are_left(start: str) -> None:
    traps, url, growing, sent = UrlTraps(), start, Growing(), 0
    for number in range(100):
        child = f"{url.rstrip('/')}/w{number}/"
        growing = grown(growing, url, child)
        if trap := traps.find(child, NOW, growing=growing):
            break
        url, sent = child, sent + 1
    assert sent <= max(GROWING_LINKS, GROWING_DEPTH)
    assert trap is not None
    since = f"{HOST}/x/" if start.endswith("x/") else f"{HOST}/"
    assert trap.found == TrapFound(since, "growing", growing.links, GROWING_LINKS)
    assert grown(growing, child, f"{HOST}/elsewhere") == Growing()


def test_a_start_without_a_path_has_its_links_beside_it() -> None:
    assert grown(Growing(), HOST, f"{HOST}/a") == Growing()
    assert grown(Growing(), HOST, "mailto:somebody@h.example") == Growing()
    # Ten links of a stranger, and a redirect into a deep place of somebody else.
    led = Growing(GROWING_LINKS, "http://stranger.example/")
    assert grown(led, f"{HOST}/a/", f"{HOST}/a/b/") == Growing(1, f"{HOST}/a/")


def test_where_it_began_may_be_anything_and_hides_no_trap() -> None:
    for since in ("http://", "", "x"):
        found = UrlTraps().find(f"{HOST}/x" + "/a/b" * 6, NOW, growing=Growing(1, since))
        assert found is not None, since
        deep = f"{HOST}/" + "/".join("abcdefghijklmnop")
        found = UrlTraps().find(deep, NOW, growing=Growing(GROWING_LINKS, since))
        assert found is not None, since


@pytest.mark.parametrize(
    "urls",
    [
        days(date(1999, 1, 1), 5000, "/archive/%Y/%m/%d/"),
        days(date(2024, 1, 1), 800, "/%Y/%m/%d/a-story"),
        [f"{HOST}/item?id={n:032x}&lang=en" for n in range(1000)],
        [f"{HOST}/list?page={n}&sort=up" for n in range(1000)],
        [f"{HOST}/issues/{n}" for n in range(1900, 9999)],
        [f"{HOST}/p?sid=1&page={n}" for n in range(1000)],
    ],
)
def test_large_sites_are_none(urls: list[str]) -> None:
    assert set(kinds(urls)) == {None}


def test_links_of_real_pages_are_none() -> None:
    urls = urls_of_links()
    assert len(urls) > 100
    assert [url for url, kind in zip(urls, kinds(urls), strict=True) if kind] == []


def test_links_of_strangers_use_up_nothing() -> None:
    traps = UrlTraps()
    for url in (*orders(), *(f"{HOST}/p?sid={n}" for n in range(20))):
        assert traps.find(url, NOW, own=False) is None
    assert kinds(list(islice(orders(), ORDERS)), traps) == [None] * ORDERS
    assert traps.find(f"{HOST}/x" + "/a/b" * 6, NOW, own=False) is not None


def test_who_makes_many_urls_makes_it_forget_and_nothing_else() -> None:
    traps = UrlTraps(remembered=100)
    kinds((f"{HOST}/{n}?sid=1" for n in range(10_000)), traps)
    assert len(traps._sessions._values) <= 100
    found = kinds((f"{HOST}/p?sid={n}" for n in range(10)), traps)
    assert found[SESSIONS:] == ["session"] * (10 - SESSIONS)


def test_of_pages_of_many_dates_few_are_remembered() -> None:
    """Each may have hundreds; what is forgotten is found anew."""
    seen = _Seen(1000, 500)
    for page in range(50):
        assert [seen.add(page, date, DATES) for date in range(100)] == list(range(1, 101))
    assert sum(map(len, seen._values.values())) == seen._count <= 500
    assert seen.add(49, 0, DATES) == 1
    assert seen.add(49, 100, DATES) == 101
    assert seen.add(0, 0, DATES) == 1


@pytest.mark.parametrize(
    ("urls", "told"),
    [
        (orders(), TrapFound(f"{HOST}/", "permuted", ORDERS + 1, ORDERS)),
        ((f"{HOST}/a/p?sid={n}" for n in range(9)),
         TrapFound(f"{HOST}/a/", "session", SESSIONS + 1, SESSIONS)),
        ([f"{HOST}/cal/2030/03/"], TrapFound(f"{HOST}/cal/2030/03/", "calendar", 4 * 365, 400)),
        ([f"{HOST}/x/a/b/a/b/a/b/"], TrapFound(f"{HOST}/x/", "loop", 3, 3)),
    ],
)  # fmt: skip
def test_what_is_told_of_a_trap(urls: Iterable[str], told: TrapFound) -> None:
    traps = UrlTraps()
    found = [trap for url in urls if (trap := traps.find(url, NOW))]
    assert found[0].found == told
