"""What is done with a request, held to the definition by brute force."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.streams.alert_kinds import STEERING
from reusewatch.streams.steering.places import KeptOut
from reusewatch.streams.steering.rules import ACTIONS, Rules, Steering
from tests.streams.made_alerts import BEGAN

HOST = "http://h.example/"
PARTS = st.lists(st.sampled_from(["a", "b", "ab"]), max_size=4)
PREFIXES = st.builds(lambda parts: HOST + "".join(f"{part}/" for part in parts), PARTS)
URLS = st.builds(
    lambda parts, end: HOST + "/".join(parts) + end, PARTS, st.sampled_from(["", "/", "?a/b", "#a"])
)


def place(prefix: str, **given: Any) -> KeptOut:
    whole = {
        "kind": "bad-neighborhood",
        "since": BEGAN,
        "fetched_at": BEGAN,
        "expires": BEGAN + timedelta(days=1),
    }
    return KeptOut(prefix=prefix, alert="0" * 32, **(whole | given))


def steering(*places: KeptOut, **rules: Any) -> Steering:
    made = Steering(Rules(**({"mode": "on", "sampled": 0.0, "seed": 1} | rules)))
    made.hold(places)
    return made


@given(st.lists(PREFIXES, max_size=4), URLS)
def test_what_is_below_a_prefix_is_dropped_and_nothing_else(bad: list[str], url: str) -> None:
    decision = steering(*map(place, bad)).decide(url, BEGAN)
    plain = url.partition("#")[0]
    below = [prefix for prefix in bad if plain.partition("?")[0].startswith(prefix)]
    assert (decision is not None) == bool(below)
    if decision is not None:
        assert (decision.action, decision.place.prefix) == ("drop", min(below, key=len))


def test_a_trap_ends_where_it_likes() -> None:
    held = steering(place(f"{HOST}a/a/a", kind="crawl-trap"))
    assert held.decide(f"{HOST}a/a/a?page=2", BEGAN)
    assert held.decide(f"{HOST}a/a/a/a/b", BEGAN)
    assert not held.decide(f"{HOST}a/a/", BEGAN)


@given(
    st.lists(
        st.tuples(PREFIXES, st.sampled_from(STEERING), st.booleans()), max_size=4,
        unique_by=lambda one: one[0],
    ),
    st.fixed_dictionaries({kind: st.sampled_from(ACTIONS) for kind in STEERING}),
    URLS,
)  # fmt: skip
def test_the_most_that_any_finding_wants_is_done_and_none_that_is_unsure_drops(
    bad: list[tuple[str, str, bool]], actions: Any, url: str
) -> None:
    held = steering(*(place(p, kind=kind, sure=sure) for p, kind, sure in bad), actions=actions)
    path = url.partition("#")[0].partition("?")[0]
    wanted = [
        "lower" if actions[kind] == "drop" and not sure else actions[kind]
        for prefix, kind, sure in bad
        if path.startswith(prefix)
    ]
    most = max(wanted, key=ACTIONS.index, default="keep")
    decision = held.decide(url, BEGAN)
    assert (decision.action if decision else "keep") == most


def test_a_finding_expires() -> None:
    held = steering(place(HOST))
    assert held.decide(HOST, BEGAN + timedelta(hours=23))
    assert held.decide(HOST, BEGAN + timedelta(days=1)) is None


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
def test_a_share_is_let_through_the_same_each_time_and_another_for_another_seed(
    share: float,
) -> None:
    def let_through(seed: int) -> set[int]:
        held = steering(place(HOST), sampled=share, seed=seed)
        decided = [held.decide(f"{HOST}{i}", BEGAN) for i in range(5000)]
        return {i for i, one in enumerate(decided) if one is not None and one.sampled}

    one = let_through(1)
    assert abs(len(one) - 5000 * share) <= 5 * (5000 * share * (1 - share)) ** 0.5
    assert one == let_through(1)
    assert (one == let_through(2)) == (share in (0.0, 1.0))


def test_no_url_at_all_is_nobodys() -> None:
    assert steering(place(HOST)).decide("data:text/html,", BEGAN) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "maybe"}, {"sampled": 1.1}, {"actions": {"duplicate": "drop"}},
        {"actions": {"crawl-trap": "burn"}},
    ],
)  # fmt: skip
def test_rules_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=": "):
        Rules(**wrong)
