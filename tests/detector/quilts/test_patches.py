"""Patches against their definition; what is kept until somebody asks is the page's, and no more."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.quilts.holders import Holders
from reusewatch.detector.quilts.patches import BRIDGED, Patch, Stands
from reusewatch.detector.quilts.store import DOCUMENT

DONORS = 4
# Of each gram of the page: how far behind the last it stands, and who holds it, where.
grams = st.lists(
    st.tuples(
        st.sampled_from([1, 20, BRIDGED, BRIDGED + 30]),
        st.dictionaries(st.integers(0, DONORS - 1), st.integers(0, 3000), max_size=3),
    ),
    max_size=12,
)


def answer(of: list[tuple[int, dict[int, int]]]) -> tuple[Holders, np.ndarray, np.ndarray]:
    """The holders of a gram that is another page's, and of these; where these begin and end."""
    documents = np.zeros(DONORS, DOCUMENT)
    documents["page"] = np.arange(DONORS) + 100
    held = [{0: 7}, *(by for _, by in of)]
    counts = np.array([len(by) for by in held], np.uint32)
    starts = np.cumsum([gap for gap, _ in of], dtype=np.uint32)
    holders = Holders(
        most=9,
        counts=counts,
        offsets=np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]),
        held_by=np.array([one for by in held for one in by], np.int32),
        starts=np.array([at for by in held for at in by.values()], np.uint32),
        documents=documents,
    )
    return holders, starts, starts + 15


def by_definition(of: list[tuple[int, dict[int, int]]], donors: list[int]) -> list[tuple]:
    starts = np.cumsum([gap for gap, _ in of]).tolist()
    taken: set[int] = set()
    found = []
    for donor in donors:
        mine = [(starts[i], by[donor]) for i, (_, by) in enumerate(of) if donor in by
                and i not in taken]  # fmt: skip
        taken |= {i for i, (_, by) in enumerate(of) if donor in by}
        groups: list[list[tuple[int, int]]] = []
        for here, there in mine:
            last = groups[-1][-1] if groups else None
            far = last and (
                here - (last[0] + 15) > BRIDGED or abs(there - last[1] - here + last[0]) > BRIDGED
            )
            if last is None or far:
                groups.append([])
            groups[-1].append((here, there))
        for group in groups:
            here, there = zip(*group, strict=True)
            patch = Patch(here[0], here[-1] + 15, min(there), max(there) + 15, len(group))
            found.append((donor + 100, patch))
    return sorted(found, key=lambda one: (one[1].start, one[1].end))


@given(grams, st.permutations(range(DONORS)), st.integers(0, DONORS))
def test_patches_are_runs_of_what_no_donor_before_had(
    of: list[tuple[int, dict[int, int]]], donors: list[int], most: int
) -> None:
    holders, starts, ends = answer(of)
    mine = slice(1, len(of) + 1)
    stands = Stands.of(holders, mine, starts, ends, donors[:most])
    found = [(int(document["page"]), patch) for document, patch in stands.patches()]
    assert found == by_definition(of, donors[:most])


def test_of_the_whole_answer_nothing_is_kept() -> None:
    holders, starts, ends = answer([(1, {0: 5, 1: 9}), (20, {0: 30})])
    stands = Stands.of(holders, slice(1, 3), starts, ends, [0])
    kept = [
        value for name in Stands.__slots__ if isinstance(value := getattr(stands, name), np.ndarray)
    ]
    answered = (holders.offsets, holders.held_by, holders.starts, holders.documents)
    assert not any(np.shares_memory(one, other) for one in kept for other in answered)
    assert len(stands.held_by) == 2
