"""Whether a host's pages are sliced and diced, or repeat a template (Fetterly et al. 2005, §3.4).

Both have popular shingles, and as many on each page. Of a template one other page of the host has
them all; a page that is stitched anew from a corpus of sentences needs many pages to cover it. So
the covering set tells them apart: of some of the host's pages, those that have most, it is asked
how many other pages of the host cover nine tenths of their popular shingles, greedily.

Knows the shingles of one host's pages, and nothing of others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

TEMPLATE = 2
"""Pages that cover a template: one of the same kind, and another for what stands on some."""
LOOKED_AT = 9
OTHERS = 200
"""Pages of a host that are looked at, and that may cover them."""
_COVERED = 0.9


def is_sliced(shingles: NDArray[Any], popular: NDArray[np.bool_]) -> bool:
    """Whether most pages need more than a template does. A row a function, a column a page."""
    order = np.argsort(-popular.sum(axis=0), kind="stable")
    needed = [
        donors_of(shingles[:, page], popular[:, page], np.delete(shingles, page, 1)[:, :OTHERS])
        for page in order[:LOOKED_AT].tolist()
    ]
    return float(np.median(needed)) > TEMPLATE


def donors_of(page: NDArray[Any], popular: NDArray[np.bool_], others: NDArray[Any]) -> int:
    """How many other pages cover nine tenths of a page's popular shingles; where they cannot, each
    shingle that is left counts as one."""
    same = (others == page[:, None]) & popular[:, None]
    left, most = int(popular.sum()), int(popular.sum())
    donors = 0
    while left > (1 - _COVERED) * most:
        gain = same.sum(axis=0)
        best = int(gain.argmax()) if gain.size else 0
        if not gain.size or not gain[best]:
            return donors + left
        left -= int(gain[best])
        same[same[:, best]] = False
        donors += 1
    return donors
