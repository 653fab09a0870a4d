"""A page that another one may have forged is judged, and changes nothing that is said of others."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.records import Alert, Verdict
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.wire import page_message, read_json
from tests.pages import SCHEME, Fetch, page_of
from tests.streams.stages.making import as_message, index_stage, zero

# The same words on two sites; the forged one claims to be the earlier.
FORGED, VICTIM, COPY = Fetch(0, 0, 1, 3), Fetch(1, 1, 5, 3), Fetch(2, 2, 9, 3)


def judged(stage: IndexStage, fetches: Sequence[tuple[Fetch, bool]]) -> list[Outgoing]:
    """What comes of pages one after the other; the second of each pair says whether salvaged."""
    fingerprint = FingerprintStage(SCHEME, zero)
    out: list[Outgoing] = []
    for fetch, salvaged in fetches:
        page = msgspec.structs.replace(page_of(fetch), salvaged=salvaged)
        blocks = fingerprint.process([as_message(page_message(page))]).messages
        out += stage.process(list(map(as_message, blocks))).messages
    return out


def alerts(sent: Sequence[Outgoing]) -> list[Alert]:
    return [read_json(as_message(m), Alert) for m in sent if m.topic == topics.ALERTS and m.value]


def verdicts(sent: Sequence[Outgoing]) -> list[Verdict]:
    return [read_json(as_message(m), Verdict) for m in sent if m.topic == topics.VERDICTS]


def test_a_salvaged_page_is_nobodys_donor_in_either_order() -> None:
    for order in ([(FORGED, True), (VICTIM, False)], [(VICTIM, False), (FORGED, True)]):
        sent = judged(index_stage(), order)
        assert not [alert for alert in alerts(sent) if alert.url == VICTIM.url]
        (mine,) = (verdict for verdict in verdicts(sent) if verdict.url == VICTIM.url)
        assert mine.exact.text is None
        assert not mine.salvaged


def test_its_verdict_says_what_it_is_and_no_alert_does() -> None:
    """It is not remembered: in another order there would have been nothing to be a copy of."""
    sent = judged(index_stage(), [(VICTIM, False), (FORGED, True)])
    (found,) = (verdict for verdict in verdicts(sent) if verdict.url == FORGED.url)
    assert found.salvaged
    assert found.exact.text == VICTIM.url
    assert found.fetched_at == page_of(FORGED).fetched_at
    assert alerts(sent) == []


def test_what_is_known_of_a_page_outlives_what_a_forgery_says_of_it() -> None:
    forged = Fetch(1, 1, 9, 7)
    sent = judged(index_stage(), [(VICTIM, False), (forged, True)])
    (mine,) = (verdict for verdict in verdicts(sent) if verdict.url == VICTIM.url)
    assert not mine.salvaged


def test_a_copy_of_a_salvaged_page_is_none_and_of_a_sound_one_is() -> None:
    sent = judged(index_stage(), [(FORGED, True), (VICTIM, False), (COPY, False)])
    (alert,) = alerts(sent)
    assert (alert.url, [donor.url for donor in alert.donors]) == (COPY.url, [VICTIM.url])


def test_the_window_neither_grows_nor_remembers() -> None:
    stage = index_stage()
    judged(stage, [(FORGED, True)])
    assert stage.rows() == 0
