"""Evidence of alerts: bounded by what is counted, and said why where there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import msgspec
import pytest

from reusewatch.detector.errors import BadPage
from reusewatch.detector.hashing import hex_of
from reusewatch.streams.records import Alert, Donor, Origin, Page
from reusewatch.streams.stages import evidencing
from reusewatch.streams.stages.evidencing import Evidencing
from reusewatch.streams.stages.indexing import IndexStage, Rules
from reusewatch.streams.stages.snapshot import State
from tests.pages import SCHEME
from tests.streams.stages.making import NOW, as_message
from tests.streams.stages.test_near_order import alerts_of, blocks, page, said, stage_of

PAGES = {text: page(number, number, text) for number, text in enumerate([0, 1, 2, 4])}
Reader = Callable[[Origin], Page]


def from_memory(origin: Origin) -> Page:
    return PAGES[origin.offset or 0]


def alerts(
    read: Reader | None = from_memory, pages: list[Page] | None = None, **rules: int
) -> list[Alert]:
    return alerts_of(said(stage_of(Rules(**rules), read), pages or list(PAGES.values())))


def ids(found: list[Alert]) -> list[str]:
    return [alert.id for alert in found]


@pytest.mark.parametrize("pairs", [0, 1, 2])
def test_so_many_pairs_a_step_have_evidence(pairs: int) -> None:
    found = alerts(evidence_pairs=pairs)
    assert ids(found) == ids(alerts())
    assert [alert.evidence_missing for alert in found] == [
        None if number < pairs else "budget" for number in range(len(found))
    ]
    assert [bool(alert.evidence) for alert in found] == [n < pairs for n in range(len(found))]


def test_the_bytes_of_a_step_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidencing, "MOST_BYTES", 1)
    assert [alert.evidence_missing for alert in alerts()][:2] == [None, "budget"]


def lost(origin: Origin) -> Page:
    raise BadPage("too-large", "gone")


@pytest.mark.parametrize(
    ("read", "reason"),
    [
        (None, "no origin"),
        (lost, "archive gone"),
        (lambda origin: page(1, 1, 9), "changed"),
    ],
)
def test_evidence_that_cannot_be_had_says_why(read: Reader | None, reason: str) -> None:
    found = alerts(read)
    assert ids(found) == ids(alerts())
    assert {alert.evidence_missing for alert in found} == {reason}
    assert all(alert.evidence == () and alert.within is None for alert in found)


def test_a_page_of_nowhere_is_not_asked_for() -> None:
    nowhere = [
        msgspec.structs.replace(one, origin=Origin(source="crawl:job", offset=None))
        for one in PAGES.values()
    ]
    assert {alert.evidence_missing for alert in alerts(lost, nowhere)} == {"no origin"}


def test_an_archive_that_is_lost_is_asked_no_more_than_the_budget_allows() -> None:
    asked = []

    def count(origin: Origin) -> Page:
        asked.append(origin)
        raise OSError("gone")

    assert len(alerts(count, evidence_pairs=1)) > 1
    assert len(asked) == 1


def test_pages_are_read_once_and_donors_kept_for_the_next_step() -> None:
    asked = []

    def count(origin: Origin) -> Page:
        asked.append(origin)
        return from_memory(origin)

    made = Evidencing(SCHEME, count, 9)
    (first, *_) = alerts(None)
    for _ in range(2):
        made.begin()
        made.messages([first, first], Counter())
    assert [origin.offset for origin in asked] == [1, 0, 1]


def test_pages_that_share_no_run_say_so() -> None:
    far = page(1, 1, 10)
    donor = PAGES[0]
    alert = Alert(
        id="0" * 32, kind="near-duplicate", severity="info", url=far.url, site=far.site, figure=1,
        threshold=1, fetched_at=NOW, detected_at=NOW, detector="x", scheme=SCHEME.name,
        origin=far.origin, file_hash=hex_of(SCHEME.of_bytes(far.body)),
        donors=(Donor(url=donor.url, share=1, fetched_at=NOW, origin=donor.origin,
                      file_hash=hex_of(SCHEME.of_bytes(donor.body))),),
    )  # fmt: skip
    events = Counter[str]()
    read = {10: far, 0: donor}
    made = Evidencing(SCHEME, lambda origin: read[origin.offset or 0], 1)
    (found,) = alerts_of(made.messages([alert], events))
    assert (found.evidence, found.evidence_missing) == ((), "no common run")
    assert events["evidence-no-common-run"] == 1


@pytest.mark.parametrize("repeats", [False, True])
def test_a_restart_within_a_step_gives_it_no_more(repeats: bool) -> None:
    asked: list[Origin] = []

    def count(origin: Origin) -> Page:
        asked.append(origin)
        return from_memory(origin)

    def started(state: State | None) -> IndexStage:
        stage = stage_of(Rules(evidence_pairs=1), count)
        stage.restore(state)
        return stage

    whole = alerts(evidence_pairs=1)
    assert [one.evidence_missing for one in whole] == [None, *["budget"] * (len(whole) - 1)]
    messages = [as_message(one) for one in blocks(list(PAGES.values()), 1)]
    first, others = messages[:2], messages[2:]
    before, stage = started(None), started(None)
    told = before.process(first).messages
    if repeats:
        asked.clear()
        assert len(stage.repeat(first).messages) == len(told)
        assert asked == []  # nobody hears it
    else:
        stage = started(before.save())
    after = stage.process(others).messages
    assert {one.evidence_missing for one in alerts_of(after)} == {"budget"}
    assert alerts_of([*told, *after]) == whole
