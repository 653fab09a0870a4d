"""No page leaves the stream in silence: revisits of pages never seen have a verdict, too."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.records import Verdict
from reusewatch.streams.wire import read_json
from tests.pages import Fetch, crawls
from tests.streams.stages.making import as_message, blocks_of, index_stage

NEVER_SEEN = 99


def verdicts(sent: Iterable[Outgoing]) -> dict[str, Verdict]:
    """The last verdict of each URL, as compaction leaves it."""
    found = (read_json(as_message(m), Verdict) for m in sent if m.topic == topics.VERDICTS)
    return {verdict.url: verdict for verdict in found}


@given(crawls(), st.integers(1, 7), st.integers(0, 3), st.randoms(use_true_random=False))
@settings(max_examples=100)
def test_every_page_has_a_verdict(fetches: list[Fetch], size: int, lost: int, random) -> None:  # type: ignore[no-untyped-def]
    """`lost` revisits refer to a page that nobody stored."""
    never = [Fetch(30 + n, n, n, 0, of=(NEVER_SEEN, 5)) for n in range(lost)]
    mixed = [*fetches, *never]
    random.shuffle(mixed)
    stage = index_stage()
    blocks = [as_message(block) for block in blocks_of(mixed, size)]
    found = verdicts(stage.process(blocks).messages)
    assert found.keys() == {fetch.url for fetch in mixed}
    silent = {url for url, verdict in found.items() if verdict.not_judged == "revisit"}
    assert silent >= {fetch.url for fetch in never}
    # What was stored is judged, and so is who refers to it: it came at some time.
    assert silent - {fetch.url for fetch in never} <= {f.url for f in fetches if f.of is not None}


def test_a_revisit_is_judged_when_what_it_refers_to_comes() -> None:
    stage = index_stage()
    revisit, page = Fetch(40, 1, 9, 3, of=(0, 2)), Fetch(0, 0, 2, 3)
    (first, second) = (as_message(block) for block in blocks_of([revisit, page], 1))
    assert verdicts(stage.process([first]).messages)[revisit.url].not_judged == "revisit"
    later = verdicts(stage.process([second]).messages)
    assert later[revisit.url].not_judged is None
    assert later[revisit.url].exact.text == page.url
