"""What is done with a request: it is sent, it comes later, or it is dropped.

A place that nobody looks at stays as bad as it was. So a small share of the requests to it is sent
all the same, chosen by the URL and a seed that only the crawl knows: whoever made the URLs cannot
choose those that are let through. What was found of a place whose direction is not sure is never
dropped, since whoever mirrors a site would else remove it from the crawl. Reads no clock.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, get_args

from reusewatch.detector.errors import BadPage
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.neighborhoods.prefixes import prefixes
from reusewatch.streams.alert_kinds import STEERING
from reusewatch.streams.steering.places import EXPIRES, KeptOut
from reusewatch.streams.urls import canonical

Mode = Literal["off", "dry-run", "on"]
Action = Literal["keep", "lower", "drop"]
MODES: tuple[str, ...] = get_args(Mode)
ACTIONS: tuple[str, ...] = get_args(Action)
SAMPLED = 0.02
_ALL = 1 << 64


@dataclass(frozen=True, slots=True)
class Rules:
    """What is wanted: an action for each kind of finding, the share that is let through."""

    mode: Mode = "off"
    actions: Mapping[str, Action] = field(default_factory=lambda: dict.fromkeys(STEERING, "drop"))
    sampled: float = SAMPLED
    expires: timedelta = EXPIRES
    # By how much the priority of a request is lowered: Scrapy's own are near zero.
    lowered: int = 1000
    seed: int = field(default_factory=lambda: secrets.randbits(63))

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"{self.mode}: there is {', '.join(MODES)}")
        if not 0 <= self.sampled <= 1:
            raise ValueError(f"a share of {self.sampled}: from 0 to 1")
        if unknown := sorted(set(self.actions) - set(STEERING)):
            raise ValueError(f"kind {unknown[0]}: there is {', '.join(STEERING)}")
        if wrong := sorted(set(self.actions.values()) - set(ACTIONS)):
            raise ValueError(f"{wrong[0]}: there is {', '.join(ACTIONS)}")


@dataclass(frozen=True, slots=True)
class Decision:
    """What is done with a request, and for which finding. `sampled`: it is let through, so that
    one sees whether the place is as bad as it was."""

    action: Action
    place: KeptOut
    sampled: bool = False


class Steering:
    """Decides by the places that are held. Those are replaced all at once, from any thread."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._places: Mapping[str, KeptOut] = {}
        self._scheme = HashScheme()

    def hold(self, places: Iterable[KeptOut]) -> None:
        """These, from now on, and no others."""
        self._places = {place.prefix: place for place in places}

    def __len__(self) -> int:
        return len(self._places)

    def decide(self, url: str, now: datetime) -> Decision | None:
        """What is done with a request of this URL; None where nothing is known of its place."""
        places = self._places
        if not places:
            return None
        try:
            page = canonical(url)
        except BadPage:
            return None
        found = [
            Decision(self._action(places[prefix]), places[prefix])
            for prefix in above(page)
            if prefix in places and places[prefix].expires > now
        ]
        # The most that any finding wants; of those the one of the shortest prefix.
        decision = max(found, key=lambda one: ACTIONS.index(one.action), default=None)
        if decision is None or decision.action == "keep":
            return None
        if self._is_sampled(page):
            return Decision("keep", decision.place, sampled=True)
        return decision

    def _action(self, place: KeptOut) -> Action:
        action = self.rules.actions.get(place.kind, "keep")
        return "lower" if action == "drop" and not place.sure else action

    def _is_sampled(self, page: str) -> bool:
        return self._scheme.of_text(f"{self.rules.seed} {page}") < self.rules.sampled * _ALL


def above(url: str) -> Iterator[str]:
    """Every prefix that a finding of this URL's place may have: its directories, and, as the
    prefix of a trap may end within a directory's name, those without their slash.

    >>> list(above("http://a.org/b/c?d"))
    ['http://a.org/', 'http://a.org/b/', 'http://a.org/b', 'http://a.org/b/c']
    """
    found = prefixes(url)
    yield found[0]
    for directory in found[1:]:
        yield directory
        yield directory[:-1]
    path = url.partition("?")[0]
    if path != found[-1]:
        yield path
