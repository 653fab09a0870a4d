"""Which alerts are shown, in which order, and what a summary of them counts."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.streams.records import Alert, Direction
from reusewatch.streams.verbs.choosing import AlertChoice, in_order
from reusewatch.streams.verbs.listing import moment
from reusewatch.streams.verbs.reuse_summary import summarized
from tests.streams.made_alerts import donors, made

THERE = Direction(original="there", by="owned")
SITES = ("a.example", "b.example", "c.example")


@st.composite
def some_alerts(draw: st.DrawFn) -> list[Alert]:
    """Alerts of a few sites, kinds and figures, so that many fall together."""
    sites = st.sampled_from(SITES)
    return [
        made(
            number,
            url=f"https://www.{draw(sites)}/{draw(st.integers(0, 2))}",
            kind=draw(st.sampled_from(["duplicate", "near-duplicate"])),
            figure=draw(st.sampled_from([2.0, 3.0, 0.5])),
            donors=donors(*(f"https://{draw(sites)}/" for _ in range(draw(st.integers(0, 2))))),
        )
        for number in range(draw(st.integers(0, 8)))
    ]


@given(some_alerts(), st.sampled_from(["time", "figure"]), st.booleans(), st.integers(1, 9))
def test_a_limit_is_the_beginning_of_the_whole_order(
    alerts: list[Alert], order: Any, reverse: bool, limit: int
) -> None:
    whole = list(in_order(alerts, order, reverse=reverse))
    assert list(in_order(alerts, order, reverse=reverse, limit=limit)) == whole[:limit]
    assert sorted(whole, key=lambda x: x.id) == alerts
    keys = [x.figure if order == "figure" else x.detected_at.timestamp() for x in whole]
    assert keys == sorted(keys, reverse=(order == "figure") != reverse)


def test_each_choice_leaves_out_what_does_not_fit() -> None:
    one = made(5, donors=donors("https://www.b.example/x/y"), state="closed")
    fitting = [
        AlertChoice(kind="duplicate"), AlertChoice(site="a.example"), AlertChoice(state="closed"),
        AlertChoice(severity="warning"), AlertChoice(since=one.detected_at),
        AlertChoice(until=one.detected_at), AlertChoice(donor="b.example"),
        AlertChoice(donor="www.b.example"), AlertChoice(donor="https://www.b.example/x/"),
    ]  # fmt: skip
    second = timedelta(seconds=1)
    others = [
        AlertChoice(kind="quilt"), AlertChoice(site="b.example"), AlertChoice(state="open"),
        AlertChoice(severity="info"), AlertChoice(since=one.detected_at + second),
        AlertChoice(until=one.detected_at - second), AlertChoice(donor="a.example"),
        AlertChoice(donor="https://www.b.example/x"), AlertChoice(donor="https://[/"),
    ]  # fmt: skip
    assert all(choice.fits(one) for choice in fitting)
    assert not any(choice.fits(one) for choice in others)


def test_until_a_day_is_the_whole_of_it() -> None:
    assert AlertChoice(until=moment("2026-03-01", end=True)).fits(made(23))
    assert not AlertChoice(until=moment("2026-03-01", end=True)).fits(made(24))
    with pytest.raises(ValueError, match="Invalid isoformat"):
        moment("yesterday")


@given(some_alerts())
def test_a_summary_counts_each_page_of_a_pair_once(alerts: list[Alert]) -> None:
    found = summarized(alerts)
    plain: dict[tuple[str, str], list[Alert]] = {}
    for alert in alerts:
        here = str(alert.url).split("/")[2].removeprefix("www.")
        there = alert.donors[0].url.split("/")[2] if alert.donors else here
        if here != there:
            plain.setdefault((here, there), []).append(alert)
    wanted = [
        {"site": here, "donor_site": there, "pages": len({x.url for x in inside}),
         "kinds": dict(Counter(x.kind for x in inside)),
         "originals": dict(Counter(x.direction.original for x in inside if x.direction))}
        for (here, there), inside in plain.items()
    ]  # fmt: skip
    key = lambda row: (-row["pages"], row["site"], row["donor_site"])  # noqa: E731
    assert found.rows == sorted(wanted, key=key)
    assert found.left_out.total() + sum(map(len, plain.values())) == len(alerts)


def test_a_simple_site_is_one_of_its_own() -> None:
    one = made(1, url="https://www.a.example.org/", donors=donors("https://www.b.example.org/"))
    assert summarized([one]).rows == []
    (row,) = summarized([one], "simple").rows
    assert (row["site"], row["donor_site"]) == ("a.example.org", "b.example.org")


def test_a_mirror_is_of_a_pair_and_no_page() -> None:
    pair = donors("https://b.example/")
    mirror = made(1, kind="mirror-host", url=None, prefix="https://a.example/", donors=pair,
                  direction=THERE)  # fmt: skip
    page = made(2, url="https://a.example/1", donors=pair, direction=THERE)
    (row,) = summarized([mirror, page]).rows
    assert (row["site"], row["donor_site"], row["pages"]) == ("a.example", "b.example", 1)
    assert row["kinds"]["mirror-host"] == 1
    assert row["originals"] == {"there": 1}
    closed = made(1, kind="mirror-host", url=None, prefix="https://a.example/", donors=pair,
                  state="closed")  # fmt: skip
    found = summarized([closed])
    assert (found.rows, found.left_out) == ([], {"closed mirror-host": 1})
    hood = made(3, kind="bad-neighborhood", url=None, prefix="https://a.example/", donors=())
    assert summarized([hood]).left_out == {"bad-neighborhood": 1}
