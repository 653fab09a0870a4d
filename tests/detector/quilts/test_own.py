"""How alike two pages are in what is their own, against its definition."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.quilts.postings import GramPostings
from reusewatch.detector.quilts.site_peers import LEAST, PART_LEAST, PART_SHARE, PEERS, SHARE
from tests.detector.quilts.test_quilts import Paper, pages_of

# Some sites have more pages than are looked at.
papers = st.lists(
    st.builds(
        lambda site, grams: Paper(0, site, 0, grams),
        st.integers(0, 2), st.frozensets(st.integers(0, 12), min_size=1),
    ),
    max_size=120, unique_by=lambda paper: paper.grams,
)  # fmt: skip


def _many(have: int, of: int) -> bool:
    return (have >= LEAST and have * SHARE >= of) or (
        have >= PART_LEAST and have * PART_SHARE >= of
    )


def own(one: Paper, other: Paper, window: list[Paper]) -> float:
    """What both have, of what either has, without what is a template of their sites."""

    def peers(site: int) -> list[Paper]:
        looked_at = sorted((p for p in window if p.site == site), key=lambda p: p.text)[:PEERS]
        return [paper for paper in looked_at if paper not in (one, other)]

    here = peers(one.site)
    there = peers(other.site) if other.site != one.site else []

    def is_own(gram: int) -> bool:
        counts = [sum(gram in paper.grams for paper in side) for side in (here, there)]
        sizes = len(here), len(there)
        return not (any(map(_many, counts, sizes)) or _many(sum(counts), sum(sizes)))

    mine, theirs = ({gram for gram in paper.grams if is_own(gram)} for paper in (one, other))
    return len(mine & theirs) / max(len(mine | theirs), 1)


@given(papers, st.data())
def test_own_is_what_no_site_has_again_and_again(window: list[Paper], data: st.DataObject) -> None:
    window = [Paper(at, paper.site, at, paper.grams) for at, paper in enumerate(window)]
    postings = GramPostings(max_bytes=1 << 20)
    postings.add(pages_of(window))
    some = data.draw(st.lists(st.sampled_from(window), max_size=4)) if window else []
    pairs = list(product(some, repeat=2))
    found = postings.own([(one.text, other.text) for one, other in pairs])
    assert found == [pytest.approx(own(*pair, window)) for pair in pairs]
    # Together they are told what each is told alone; who is not here is told nothing.
    assert found == [postings.own([(a.text, b.text)])[0] for a, b in pairs]
    assert postings.own([(1, 2)] + [(1, one.text) for one in some]) == [None] * (len(some) + 1)
