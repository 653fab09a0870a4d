"""How many alerts discovery may send: a few of one page, and a share of the pages that come.

Whoever copies one long page to a hundred places makes each of its paragraphs common at once. What
is over the bound is counted, never sent later: it is labeled all the same, where that is wanted.
Time is counted in pages, so that a rerun of the same pages says the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

ALERTS_OF_A_PAGE = 8
ALERTS = 100
"""Of so many pages as `PAGES`."""
PAGES = 1000

T = TypeVar("T")


class Spared:
    """What is left of the alerts of these pages."""

    def __init__(self, facts: dict[str, Any] | None = None) -> None:
        facts = facts or {}
        self._pages = int(facts.get("pages", 0))
        self._left = int(facts.get("left", ALERTS))

    def saw(self, pages: int) -> None:
        """So many pages came; after each thousand there are as many alerts as before."""
        self._pages += pages
        if self._pages >= PAGES:
            self._pages %= PAGES
            self._left = ALERTS

    def allowed(self, found: Sequence[T]) -> Sequence[T]:
        """Of what one page brought to light, as much as may be told."""
        told = found[: min(ALERTS_OF_A_PAGE, self._left)]
        self._left -= len(told)
        return told

    def facts(self) -> dict[str, Any]:
        """What a restored one must know."""
        return {"pages": self._pages, "left": self._left}
