"""Sets of labels: a hash may stand under several names, and costs one small number all the same.

A chunk of Wikipedia that is also in a news site's list carries both names (Ardi, Heidemann 2014,
§3.1 step 3: L is a union of what experts and blind discovery found). Sets form a tree: set i < the
number of labels is {i}; any other is its parent set and one label above all of the parent's. So
equal sets have equal numbers, whatever the order in which labels came.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

NO_PARENT = (1 << 32) - 1
_LABEL_BITS = np.uint64(32)


class LabelSets:
    """Numbers for sets of `labels` labels; grows as unions are asked for."""

    def __init__(self, labels: int) -> None:
        self._parents = [NO_PARENT] * labels
        self._labels = list(range(labels))
        self._children: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self._labels)

    def joined(self, parent: int, label: int) -> int:
        """The set of a set's labels and one that is above all of them.

        >>> sets = LabelSets(3)
        >>> sets.joined(0, 2), sets.joined(1, 2), sets.joined(0, 2)
        (3, 4, 3)
        """
        found = self._children.setdefault((parent, label), len(self))
        if found == len(self):
            self._parents.append(parent)
            self._labels.append(label)
        return found

    def unions(self, labels: NDArray[np.uint32], starts: NDArray[np.int64]) -> NDArray[np.uint32]:
        """The set of each run of labels; `starts` is where the runs begin. Runs rise strictly.

        A run is folded label by label, all runs at once: as many rounds as the longest has labels.
        """
        ends = np.append(starts[1:], len(labels))
        sets = labels[starts]
        pending = np.flatnonzero(ends - starts > 1)
        step = 1
        while pending.size:
            sets[pending] = self._joined(sets[pending], labels[starts[pending] + step])
            step += 1
            pending = pending[ends[pending] - starts[pending] > step]
        return sets

    def _joined(self, parents: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.uint32]:
        codes = parents.astype(np.uint64) << _LABEL_BITS | labels.astype(np.uint64)
        distinct, which = np.unique(codes, return_inverse=True)
        found = [self.joined(code >> 32, code & NO_PARENT) for code in distinct.tolist()]
        return np.array(found, np.uint32)[which]

    def rows(self) -> NDArray[np.uint32]:
        """The tree as it is stored: parent and label of each set."""
        return np.array([self._parents, self._labels], np.uint32).T.reshape(-1, 2)


def members(rows: NDArray[np.uint32], number: int) -> tuple[int, ...]:
    """The labels of a set, rising. ValueError where the rows are no such tree.

    >>> members(np.array([[NO_PARENT, 0], [NO_PARENT, 1], [0, 1]], np.uint32), 2)
    (0, 1)
    """
    found: list[int] = []
    while number != NO_PARENT:
        if number >= len(rows):
            raise ValueError(f"there is no set {number} of labels")
        parent, label = rows[number].tolist()
        # A forged tree with a ring would be walked for ever.
        if found and label >= found[-1]:
            raise ValueError(f"set {number} of labels is out of order")
        found.append(label)
        number = parent
    return tuple(reversed(found))
