"""Pages without labels that are counted together: what each by itself would change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.mean_and_deviation import Threshold
from reusewatch.detector.neighborhoods.figures import Change, PageFacts
from reusewatch.detector.neighborhoods.neighborhoods import Neighborhoods
from reusewatch.detector.neighborhoods.unlabeled import Unlabeled

DIRECTORIES = ("", "a/", "a/b/", "b/", "a/b/c/", "x/x/x/")
PAGES = st.lists(
    st.builds(
        lambda page, where, at, labeled, total: PageFacts(
            page, f"http://h{page % 2}.org/{DIRECTORIES[where]}{page}", at, min(labeled, total),
            total, frozenset({"bank"} if min(labeled, total) else ()),
        ),
        st.integers(0, 12), st.integers(0, 5), st.integers(0, 2),
        st.sampled_from((0, 0, 0, 0, 3)), st.integers(0, 3),
    ),
    max_size=25,
)  # fmt: skip
BOUNDS = {"max_prefixes": st.integers(1, 8), "max_pages": st.integers(1, 15)}


def together(found: Neighborhoods, pages: list[PageFacts]) -> list[object]:
    """The pages counted in order, those without labels as columns; what is told of each."""
    columns = Unlabeled(*([getattr(page, name) for page in pages] for name in Unlabeled._fields))
    told: list[object] = []
    seen = found.seen(columns.page)
    at = 0
    while at < len(pages):
        end = next((n for n in range(at, len(pages)) if pages[n].labeled), len(pages))
        some, change = found.add_unlabeled(columns, at, end, seen)
        told += [None] * (some - (change is not None)) + [change] * (change is not None)
        at += some
        if change is None and at < len(pages):
            told.append(found.add(pages[at]))
            seen.add(pages[at].page)
            at += 1
    return told


def state(found: Neighborhoods) -> dict[str, Any]:
    saved = {name: array.tolist() for name, array in found.save().items()}
    return saved | {"neighborhoods": found.neighborhoods, "pages": found.pages}


@given(PAGES, st.fixed_dictionaries(BOUNDS))
def test_counted_together_they_change_what_each_would(
    pages: list[PageFacts], bounds: dict[str, int]
) -> None:
    threshold = Threshold(0.163, warm_up=5, most=0.163)
    one, other = (
        Neighborhoods(min_files=1, threshold=threshold, **bounds) for _ in range(2)
    )  # fmt: skip
    changed = [one.add(page) for page in pages]
    told = together(other, pages)
    assert len(told) == len(changed)
    for mine, each in zip(told, changed, strict=True):
        if mine is None:
            assert each == replace(Change(counted=True), threshold=each.threshold)
        else:
            assert mine == each
    assert state(one) == state(other)
