"""How many pages have what was discovered, by now: in a kilobyte for each, however many these are.

The counters stop at the threshold, which is all that discovery needs. Of what was told, pages are
counted on by HyperLogLog (Flajolet, Fusy, Gandouet, Meunier 2007) over the same marks of pages: of
the marks of a register the longest run of leading zeros is kept. A page that comes again changes
nothing. With 1024 registers the standard error is 3.3 %, less below a thousand pages, where empty
registers are counted.

The window is that of `online`: two periods, a row of registers for each. Never decides what is
worth telling.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.discovery.online import Occurrences, marks_of
from reusewatch.detector.saved import Kept, array_of, check

REGISTERS = 1024
MOST = 2048
"""Hashes that are followed at once. What is over that keeps the figure that was told."""
_BITS = 10
_REST = 32 - _BITS
_BIAS = 0.7213 / (1 + 1.079 / REGISTERS)
_ENDS = 1 << 16
_FEW = 2.5 * REGISTERS
_POWERS = np.exp2(-np.arange(_REST + 2, dtype=np.float64))


class Spread:
    """Pages of each hash that is followed; `follow` begins with one, `add` counts a batch."""

    def __init__(self, *, salt: int, period: int, most: int = MOST) -> None:
        self._salt, self._period, self._most = salt, period, most
        self._keys = np.empty(0, np.uint64)
        self._rows = np.empty(0, np.int64)
        self._registers = np.zeros((0, 2, REGISTERS), np.uint8)
        self._pages = 0
        self._since: dict[int, int] = {}
        self._ends = _ends_of(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(a.nbytes for a in (self._keys, self._rows, self._registers, self._ends))

    def follow(self, value: int, marks: NDArray[np.uint32], old: int, since: int = 0) -> bool:
        """Count a hash from now on, of which pages with these marks are known, the first `old` of
        them from the period before. Of the batch that is added next, pages before `since` are not
        counted: they are known, or came too early. False where there is no room."""
        if value in self:
            return True
        row = len(self._keys)
        if row >= self._most:
            return False
        if row >= len(self._registers):
            more = np.zeros((max(8, 2 * row), 2, REGISTERS), np.uint8)
            more[:row] = self._registers
            self._registers = more
        at = int(np.searchsorted(self._keys, np.uint64(value)))
        self._keys = np.insert(self._keys, at, np.uint64(value))
        self._rows = np.insert(self._rows, at, row)
        self._ends[value & (_ENDS - 1)] = True
        self._since[value] = since
        self._count(np.full(old, row), marks[:old], 1)
        self._count(np.full(len(marks) - old, row), marks[old:], 0)
        return True

    def __contains__(self, value: int) -> bool:
        return self._place(value) >= 0

    def _place(self, value: int) -> int:
        at = int(np.searchsorted(self._keys, np.uint64(value)))
        return at if at < len(self._keys) and int(self._keys[at]) == value else -1

    def add(self, seen: Occurrences) -> set[int]:
        """Count the pages of a batch; the hashes of which there are more now.

        What is skipped counts as well: what was discovered may have become a label since.
        """
        risen = self._added(seen) if len(self) else set[int]()
        self._since.clear()
        self._pages += len(seen.pages)
        if self._pages >= self._period:
            self._rotate()
        return risen

    def _added(self, seen: Occurrences) -> set[int]:
        # Next to no occurrence is followed: most are told by their last bits.
        hits = np.flatnonzero(self._ends[seen.hashes.values.astype(np.uint16)])
        values = seen.hashes.values[hits]
        at = np.searchsorted(self._keys, values)
        at[at == len(self)] = 0
        followed = self._keys[at] == values
        hits, values, at = hits[followed], values[followed], at[followed]
        if not hits.size:
            return set()
        pages = np.searchsorted(seen.hashes.offsets, hits, "right") - 1
        if self._since:
            known = map(self._since.get, values.tolist())
            late = pages >= np.array([since or 0 for since in known])
            values, at, pages = values[late], at[late], pages[late]
        rose = self._count(self._rows[at], marks_of(seen.pages[pages], self._salt), 0)
        return set(values[rose].tolist())

    def _count(self, rows: NDArray[Any], marks: NDArray[np.uint32], when: int) -> NDArray[np.bool_]:
        """Put marks into the registers of rows; which of them changed one."""
        register = (marks >> np.uint32(_REST)).astype(np.int64)
        rest = (marks & np.uint32((1 << _REST) - 1)).astype(np.float64)
        rank = (_REST + 1 - np.frexp(rest)[1]).astype(np.uint8)
        at = (rows * 2 + when) * REGISTERS + register
        registers = self._registers.reshape(-1)
        rose: NDArray[np.bool_] = rank > registers[at]
        np.maximum.at(registers, at, rank)
        return rose

    def pages(self, value: int) -> int:
        """About how many pages of the window have it; 0 of what is not followed."""
        at = self._place(value)
        return 0 if at < 0 else self._estimate(int(self._rows[at]))

    def _estimate(self, row: int) -> int:
        both = self._registers[row].max(axis=0)
        estimate = _BIAS * REGISTERS**2 / float(_POWERS[both].sum())
        empty = REGISTERS - int(np.count_nonzero(both))
        if estimate <= _FEW and empty:
            estimate = REGISTERS * float(np.log(REGISTERS / empty))
        return round(estimate)

    def _rotate(self) -> None:
        """A period ends; what nobody had for two is followed no more."""
        self._pages = 0
        kept = self._registers[self._rows, 0].any(axis=1)
        registers = self._registers[self._rows[kept]]
        registers[:, 1], registers[:, 0] = registers[:, 0], 0
        self._keys = self._keys[kept]
        self._rows = np.arange(len(self._keys))
        self._registers = registers
        self._ends = _ends_of(self._keys)

    def save(self) -> dict[str, NDArray[Any]]:
        """All state."""
        return {
            "keys": self._keys,
            "registers": self._registers[self._rows],
            "turned": np.array([self._pages], np.int64),
        }

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `save` gave. Raises BadState."""
        count = len(array_of(saved, "keys", np.uint64, (None,)))
        check(saved, {
            "registers": Kept(np.uint8, (count, 2, REGISTERS), (0, _REST + 2)),
            "turned": Kept(np.int64, (1,), (0, 1 << 62)),
        })  # fmt: skip
        self._keys, self._registers = saved["keys"].copy(), saved["registers"].copy()
        self._rows, self._pages = np.arange(len(self._keys)), int(saved["turned"][0])
        self._ends = _ends_of(self._keys)


def _ends_of(keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """By which last bits any of these ends."""
    ends = np.zeros(_ENDS, np.bool_)
    ends[keys.astype(np.uint16)] = True
    return ends
