"""The window of popular phrases keeps the pages that were fetched last, however they came."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.phrases.window import FETCH, HELD, PhraseWindow


def fetches(times: list[int], first: int) -> np.ndarray:
    made = np.zeros(len(times), FETCH)
    made["page"], made["fetched"] = np.arange(first, first + len(times)), times
    made["shingles"] = made["page"][:, None]
    return made


@given(st.integers(1, 12), st.lists(st.lists(st.integers(0, 9), max_size=30), max_size=8))
def test_those_fetched_last_stay(most: int, batches: list[list[int]]) -> None:
    window, all_of_them = PhraseWindow(most), list[tuple[int, int]]()
    for times in batches:
        begin = len(all_of_them)
        window.add(fetches(times, begin))
        all_of_them += [(at, begin + page) for page, at in enumerate(times)]
    last = sorted(all_of_them)[-most:]
    saved = window.save()
    kept = saved["fetches"].view(HELD)
    assert sorted(zip(kept["fetched"].tolist(), kept["page"].tolist(), strict=True)) == last
    assert (saved["shingles"] == kept["page"][:, None]).all(), "each with its own values"
    again = PhraseWindow(most)
    again.restore(saved)
    for name in saved:
        assert np.array_equal(again.save()[name], saved[name])
    assert again.due == window.due


@settings(max_examples=10)
@given(st.integers(1, 40), st.integers(1, 12))
def test_when_pages_are_judged_hangs_on_no_batch(most: int, size: int) -> None:
    """In the end of each step of twelve: whether some have left meanwhile or not."""

    def judged_at(batch: int) -> list[int]:
        window, found = PhraseWindow(most), []
        for begin in range(0, 480, 12):
            for at in range(begin, begin + 12, batch):
                size = min(batch, begin + 12 - at)
                window.add(fetches(list(range(at, at + size)), at))
            if window.due:
                window.judge()
                found.append(begin)
        return found

    assert judged_at(size) == judged_at(12)
