"""Covering sets: documents that have a page's popular shingles together (Fetterly et al., §3.4).

The smallest set is NP-complete to find; greed takes the document with most shingles that are not
covered yet, of several the one that shares most shingles with the page at all, of these the
earliest. Documents of the page's own domain or address come only when no other has any. What later
documents made needless is not taken out again, as in the paper.

Linear in 84 times the documents: what a document would add is kept up to date, not counted anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.phrases.documents import UNKNOWN, Documents
from reusewatch.detector.phrases.popular import POPULAR

Foreign = Literal["domain", "ip", "none"]


@dataclass(frozen=True, slots=True)
class Donor:
    """A document of a covering set: its row, the shingles that it newly covers, and all that it
    shares with the page, popular or not."""

    row: int
    count: int
    shared: int
    foreign: bool


@dataclass(frozen=True, slots=True)
class CoveringSet:
    """How many of a page's shingles are popular, and the donors that cover them."""

    popular: int
    donors: tuple[Donor, ...]

    @property
    def foreign(self) -> int:
        """The foreign contribution: shingles that foreign donors cover."""
        return sum(donor.count for donor in self.donors if donor.foreign)


def foreign_to(documents: Documents, subject: int, by: Foreign) -> NDArray[np.bool_]:
    """Which documents are foreign to a page: of another domain, or of another address.

    A host may be served from several addresses, and each that any of its pages came from is the
    page's own; of an address that nobody noted it is only known that another host is another.
    """
    if by == "ip":
        own = documents.ip[documents.host == documents.host[subject]]
        same = np.isin(documents.ip, own[own != UNKNOWN])
        found: NDArray[np.bool_] = ~same & (documents.host != documents.host[subject])
    else:
        found = documents.site != documents.site[subject]
    return found


def covering_set(
    documents: Documents,
    subject: int,
    others: NDArray[np.int64],
    foreign: NDArray[np.bool_],
    *,
    prefer: bool = True,
    least: int = POPULAR,
) -> CoveringSet:
    """The greedy covering set of a page by other documents; with `prefer`, foreign ones go ahead.

    `others` are their rows, the earliest first, and `foreign` says of every row whether it is.
    """
    same = np.array([row[others] == row[subject] for row in documents.shingles])
    popular = same.sum(axis=1) + 1 >= least  # the page itself is one of the documents
    shared = same.sum(axis=0)
    holders = np.flatnonzero(same[popular].any(axis=0))
    needed, shared, rows = same[np.ix_(popular, holders)], shared[holders], others[holders]
    gain, covered = needed.sum(axis=0), np.zeros(len(needed), np.bool_)
    donors = []
    while gain.any():  # with `least` 1, no other document may have a popular shingle
        able = gain > 0
        ahead = able & foreign[rows] if prefer else able
        best = _best(gain, shared, ahead if ahead.any() else able, len(same))
        row, new = int(rows[best]), needed[:, best] & ~covered
        donors.append(Donor(row, int(gain[best]), int(shared[best]), bool(foreign[row])))
        gain = gain - needed[new].sum(axis=0)
        covered |= new
    return CoveringSet(int(popular.sum()), tuple(donors))


def _best(
    gain: NDArray[np.int64], shared: NDArray[np.int64], able: NDArray[np.bool_], most: int
) -> int:
    """The most gain; of several the most shared; of these the first."""
    return int(np.where(able, gain * (most + 1) + shared, -1).argmax())
