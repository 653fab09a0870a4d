"""Of one page a bounded number of versions is remembered; those that leave are counted."""

from __future__ import annotations

from collections import Counter

from reusewatch.detector.window.index import VERSIONS_OF_A_PAGE
from tests.pages import Fetch
from tests.streams.stages.making import as_message, blocks_of, index_stage


def counted(versions: int) -> Counter[str]:
    """What is counted where a page has so many contents, one after the other."""
    fetches = [Fetch(0, 0, number, number) for number in range(versions)]
    stage = index_stage()
    return Counter(stage.process(list(map(as_message, blocks_of(fetches, 16)))).events)


def test_versions_over_the_bound_are_counted_as_dismissed() -> None:
    within, over = counted(VERSIONS_OF_A_PAGE), counted(VERSIONS_OF_A_PAGE + 5)
    assert (within["dismissed"], within["evicted"]) == (0, 0)
    # The first one stays, beside those that were seen last.
    assert over["dismissed"] == over["evicted"] > 3
