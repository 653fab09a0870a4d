"""Identity sets: pages that share a hash, in the order in which they were first seen.

Henzinger 2006, §3: pages with the same token sequence are one set. A member is a *copy* iff an
earlier member is of another site (with `same_site`: iff there is an earlier member). All that are
no copies are therefore the head of the set, up to the first member of another site: `place` and
`remove` keep its length, so that a set of a million costs no more than one of ten.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from tests.detector.window.plain_window import Window

NONE = 0  # no hash: an empty file, a page without words
_DONORS = 5
_LOOK = 64  # rows looked at for donors: enough for evidence, whatever the size of the set


@dataclass(frozen=True, slots=True)
class Placed:
    """What a new member changed: rows that became copies, and rows that have a first donor now."""

    copies: list[int]
    led: list[int]


class IdentitySets:
    """All sets of a window by one of its hashes."""

    def __init__(self, window: Window, *, same_site: bool) -> None:
        self._window = window
        self._same_site = same_site
        # Most sets have one member: a bare row, no list.
        self._sets: dict[int, int | list[int]] = {}
        self._heads: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._sets)

    def members(self, key: int) -> list[int]:
        """The rows of a set, earliest first."""
        found = self._sets.get(key)
        if found is None:
            return []
        return [found] if isinstance(found, int) else found

    def up_to(self, key: int, order: tuple[int, int]) -> int:
        """How many members are no later than this, or are this page."""
        orders = map(self._window.order, self.members(key) if key != NONE else ())
        return sum(one <= order or one[1] == order[1] for one in orders)

    def is_copy(self, key: int, row: int) -> bool:
        """Whether a row of the set is a copy."""
        return key != NONE and self._position(key, self._window.order(row)) >= self._head(key)

    def earliest(self, key: int, order: tuple[int, int]) -> int | None:
        """The first member, if it is earlier than this."""
        members = self.members(key)
        if key != NONE and members and self._window.order(members[0]) < order:
            return members[0]
        return None

    def donors(self, key: int, order: tuple[int, int], site: int) -> list[int]:
        """Earlier members that make a page of this site and time a copy, earliest first."""
        members = self.members(key)
        if key == NONE or not members:
            return []
        begin = 0 if self._foreign(members[0], site) else self._head(key)
        end = min(self._position(key, order), begin + _LOOK)
        found = (row for row in islice(members, begin, end) if self._foreign(row, site))
        return list(islice(found, _DONORS))

    def place(self, key: int, row: int) -> Placed:
        """Add a row to its set."""
        if key == NONE:
            return Placed([], [])
        found = self._sets.get(key)
        if found is None:
            self._sets[key] = row
            return Placed([], [])
        if isinstance(found, int):
            self._sets[key] = found = [found]
        at = self._position(key, self._window.order(row))
        head = self._head(key)
        found.insert(at, row)
        return Placed(self._turn(key, at, head), found[1:2] if at == 0 else [])

    def _turn(self, key: int, at: int, head: int) -> list[int]:
        """Which rows are copies now that were none before: a row came in at `at`."""
        rows = self.members(key)
        if at > head:
            return [rows[at]]
        if not self._foreign(rows[at], self._window.site[rows[0 if at else 1]]):
            self._heads[key] = head + 1
            return []
        self._heads[key] = max(at, 1)
        return rows[max(at, 1) : head + 1]

    def remove(self, key: int, row: int) -> None:
        """Take a row out of its set."""
        found = self._sets.get(key)
        if key == NONE or found is None:
            return
        if isinstance(found, int):
            del self._sets[key]
            return
        at = self._position(key, self._window.order(row))
        head = self._head(key)
        del found[at]
        self._heads[key] = self._grow_head(found, head - 1 if at < head else head)
        if len(found) == 1:
            self._sets[key] = found[0]
            del self._heads[key]

    def _grow_head(self, rows: list[int], head: int) -> int:
        site = self._window.site[rows[0]]
        head = max(head, 1)
        while head < len(rows) and not self._foreign(rows[head], site):
            head += 1
        return head

    def _foreign(self, row: int, site: int) -> bool:
        return self._same_site or self._window.site[row] != site

    def _position(self, key: int, order: tuple[int, int]) -> int:
        return bisect_left(self.members(key), order, key=self._window.order)

    def _head(self, key: int) -> int:
        return self._heads.get(key, 1)

    def __iter__(self) -> Iterator[int]:
        return iter(self._sets)
