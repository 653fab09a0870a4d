"""What a crawl keeps out of: which findings count, for how long, and how much of a trap."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reusewatch.detector.neighborhoods.prefixes import crawl_trap
from reusewatch.streams.bus import Message, Outgoing, Partition
from reusewatch.streams.records import Alert, Direction, Evidence
from reusewatch.streams.steering.places import Places, trap_in
from reusewatch.streams.wire import WireError, alert_message, headers_for, withdrawal
from tests.streams.made_alerts import BAD, BEGAN, bad, made

DAY = timedelta(days=1)


def trap(url: str, number: int = 2) -> Alert:
    return bad(number, kind="crawl-trap", prefix="http://h.example/", evidence=(Evidence(url=url),))


def message(sent: Outgoing) -> Message:
    return Message(Partition("alerts", 0), 0, sent.key, sent.value, sent.headers, 0)


def kept(*sent: Outgoing, now: datetime = BEGAN, **given: Any) -> list[str]:
    places = Places(**given)
    for one in sent:
        places.take(message(one))
    return [row.prefix for row in places.at(now)]


def test_a_row_says_what_and_until_when() -> None:
    places = Places(expires=3 * DAY)
    alert = bad(5)
    places.take(message(alert_message(alert)))
    (row,) = places.at(BEGAN)
    assert (row.prefix, row.kind, row.alert) == (BAD, "bad-neighborhood", alert.id)
    assert (row.since, row.expires) == (alert.detected_at, alert.detected_at + 3 * DAY)


def test_what_is_closed_or_withdrawn_is_lifted_and_comes_back() -> None:
    opened, closed = alert_message(bad()), alert_message(bad(state="closed"))
    assert kept(opened) == [BAD]
    assert kept(opened, closed) == []
    assert kept(opened, withdrawal(bad().id)) == []
    assert kept(closed, opened) == [BAD]


def test_what_was_not_detected_for_long_expires() -> None:
    alert = alert_message(bad(0))
    assert kept(alert, now=BEGAN + 7 * DAY - timedelta(seconds=1)) == [BAD]
    assert kept(alert, now=BEGAN + 7 * DAY) == []
    again = alert_message(replace(bad(0), detected_at=BEGAN + DAY))
    assert kept(alert, again, now=BEGAN + 7 * DAY) == [BAD]


@pytest.mark.parametrize(("original", "wanted"), [("there", [BAD]), ("here", []), ("unknown", [])])
def test_who_mirrors_a_site_does_not_remove_it(original: Any, wanted: list[str]) -> None:
    assert kept(alert_message(bad(direction=Direction(original=original)))) == wanted


def test_of_two_findings_of_one_place_the_sure_one_holds() -> None:
    unknown = Direction(original="unknown")
    unsure = alert_message(bad(2, kind="mirror-host", severity="info", direction=unknown))
    for sent in ((alert_message(bad()), unsure), (unsure, alert_message(bad()))):
        places = Places(unsure=True)
        for one in sent:
            places.take(message(one))
        (row,) = places.at(BEGAN)
        assert (row.kind, row.sure) == ("bad-neighborhood", True)


def test_information_and_pages_keep_nobody_out() -> None:
    told = alert_message(bad(severity="info"))
    assert kept(told) == []
    assert kept(told, info=True) == [BAD]
    assert kept(alert_message(made(3))) == []


def test_a_trap_is_itself_and_never_its_host() -> None:
    loop = "http://h.example/x" + "/a/b" * 6
    assert kept(alert_message(trap(f"{loop}/c.html?d#e"))) == ["http://h.example/x/a/b/a/b/a/b/"]
    cut = "http://h.example/" + "long" * 70
    assert kept(alert_message(trap(cut))) == []
    assert kept(alert_message(trap("http://h.example/"))) == []


PARTS = st.lists(st.sampled_from(["a", "b", "img", "2024", ""]), max_size=16)


@given(PARTS, PARTS)
def test_whatever_begins_with_a_trap_is_one(parts: list[str], more: list[str]) -> None:
    url = "http://h.example/" + "/".join(parts)
    found = trap_in(url)
    assert (found is None) == (crawl_trap(url) is None)
    if found is not None and found.endswith("/"):
        assert crawl_trap(found + "/".join(more))


def test_what_cannot_be_read_changes_nothing() -> None:
    places = Places()
    alert = alert_message(bad())
    places.take(message(alert))
    for value in (b"", b"\xff", b"{}"):
        with pytest.raises(WireError):
            places.take(message(Outgoing("alerts", alert.key, value, headers_for("alerts"))))
    assert [row.prefix for row in places.at(BEGAN)] == [BAD]
