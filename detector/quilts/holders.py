"""Who holds which grams: the answer of the postings, and how answers are added up.

The seam at which the window can be divided: processes that hold shares of the pages are all asked,
and their answers make one. A gram that is popular in one share is popular in all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.quilts.site_peers import CHAIN


@dataclass(frozen=True, slots=True, eq=False)
class Holders:
    """Of each gram that was asked for: by how many documents it is held, and by which, where.

    `counts` go up to `most` + 1; a gram with so many is popular and has no list. The documents of
    a list are numbers of `documents`, whose records are as `detector.quilts.store` has them;
    `peers` is of each how many documents its site has, as far as they are chained.
    """

    most: int
    counts: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    held_by: NDArray[np.int32]
    starts: NDArray[np.uint32]
    documents: NDArray[Any]


def added_up(answers: Sequence[Holders]) -> Holders:
    """The answers of shares of a window, to the same grams, as that of the whole window."""
    first = answers[0]
    if len(answers) == 1:
        return first
    total = np.sum([one.counts for one in answers], axis=0, dtype=np.int64)
    counts = np.minimum(total, first.most + 1).astype(np.uint32)
    grams, held_by, starts, before = [], [], [], 0
    for one in answers:
        gram = np.repeat(np.arange(one.counts.size), np.diff(one.offsets))
        listed = counts[gram] <= first.most
        grams.append(gram[listed])
        held_by.append(one.held_by[listed] + np.int32(before))
        starts.append(one.starts[listed])
        before += len(one.documents)
    gram = np.concatenate(grams)
    order = np.argsort(gram, kind="stable")
    sizes = np.bincount(gram, minlength=counts.size)
    return Holders(
        first.most, counts, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate(held_by)[order], np.concatenate(starts)[order],
        _of_all_shares([one.documents for one in answers]),
    )  # fmt: skip


def _of_all_shares(shares: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The documents of all shares; of a site there are as many as all of them have."""
    sites, which = np.unique(np.concatenate([one["site"] for one in shares]), return_inverse=True)
    peers, begin = np.zeros(len(sites), np.int64), 0
    for one in shares:
        here = np.zeros(len(sites), np.int64)
        np.maximum.at(here, which[begin : begin + len(one)], one["peers"])
        peers, begin = peers + here, begin + len(one)
    joined = np.concatenate(shares)
    joined["peers"] = np.minimum(peers, CHAIN)[which]
    return joined
