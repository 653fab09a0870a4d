"""Rows of pages, against a dictionary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector import page_rows
from reusewatch.detector.page_rows import ABSENT, PageRows

_PAGES = st.integers(0, 40).map(lambda n: n * (2**64 - 1) // 40)
_STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "drop", "many", "replace", "below"]), st.lists(_PAGES))
)


@given(st.lists(_PAGES, unique=True), _STEPS)
def test_pages_have_the_rows_that_a_dictionary_says(
    first: list[int], steps: list[tuple[str, list[int]]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_rows, "_LEAST", 3)  # so that a few pages go among the sorted ones
        rows = PageRows(np.array(first, np.uint64))
        known = {page: row for row, page in enumerate(first)}
        following = len(first)
        for kind, pages in steps:
            new = [page for page in dict.fromkeys(pages) if page not in known]
            if kind == "drop":
                for page in known.keys() & set(pages):
                    rows.drop(page)
                    del known[page]
            elif kind == "replace":
                for page in known.keys() & set(pages):
                    rows.replace(page, following)
                    known[page] = following
                    following += 1
            elif kind == "below":
                bound = following // 2
                rows.drop_below(np.array(pages, np.uint64), bound)
                known = {p: row for p, row in known.items() if p not in pages or row >= bound}
            elif kind == "many":
                rows.put_all(new, following)
                known.update((page, following + at) for at, page in enumerate(new))
                following += len(new)
            else:
                for page in new:
                    rows.put(page, following)
                    known[page] = following
                    following += 1
            asked = [n * (2**64 - 1) // 40 for n in range(41)]
            assert [rows.get(page) for page in asked] == [known.get(p, ABSENT) for p in asked]
            assert rows.among(asked) == set(known)
            again = PageRows(*rows.columns())
            assert [again.get(page) for page in asked] == [known.get(p, ABSENT) for p in asked]
