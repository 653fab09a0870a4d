"""The page that had a paragraph first is no subject of the label that discovery made of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.labels.marking import Labeler
from reusewatch.streams.labels.store import LabelStore
from reusewatch.streams.labels.table import LabelTable
from reusewatch.streams.records import Label, LabelFirst, Page
from reusewatch.streams.sites import Sites
from reusewatch.streams.stages.discovering import Discovering, Rules
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.first_pages import first_of, numbers_of
from reusewatch.streams.stages.labeled import LabeledPages
from reusewatch.streams.urls import place
from reusewatch.streams.wire import page_message, read_json
from tests.pages import SCHEME
from tests.streams.stages.making import as_message, zero
from tests.streams.stages.test_discovering import COMMON, NOW, block, page_of

RULES = Rules(pages=1, file_pages=1, sites=2, label=True, label_sites=3)
WHOLE = f"<p>{COMMON}</p>".encode()


def discovering() -> Discovering:
    return Discovering(SCHEME, RULES, window_pages=10_000)


class Stages:
    """Fingerprints, labels and verdicts, where each step has the labels of the step before."""

    def __init__(self, directory: Path) -> None:
        self.store, self.table = LabelStore(directory), LabelTable()
        self.stage = FingerprintStage(SCHEME, zero, labeler=Labeler(directory, SCHEME))
        self.discovering, self.judging = discovering(), LabeledPages(SCHEME, fixed=0.3)
        self.store.directory.mkdir(exist_ok=True)
        self.accused: set[str | None] = set()

    def take(self, pages: Sequence[Page]) -> None:
        (sent,) = self.stage.process([as_message(page_message(page)) for page in pages]).messages
        made = read_block(as_message(sent), SCHEME)
        for said in self.judging.judge_block(made, NOW):
            self.accused |= {alert.url for alert in said.alerts}
        for message in self.discovering.add(made, NOW).messages:
            self.table.take(as_message(message))
        version, overlay = self.table.version(SCHEME), self.table.overlay()
        self.store.publish(SCHEME, version, None, overlay, self.table.end)

    def restart(self) -> None:
        saved, self.discovering = self.discovering.save(), discovering()
        self.discovering.restore(saved)
        self.stage = FingerprintStage(SCHEME, zero, labeler=Labeler(self.store.directory, SCHEME))


def copied(numbers: Iterable[int], *, whole: bool) -> list[Page]:
    """Pages with the same paragraph, each on a site of its own; or with nothing but that."""
    facts: dict[str, Any] = {"body": WHOLE} if whole else {}
    return [page_of(n, COMMON, **facts) for n in numbers]


def again(page: Page) -> Page:
    """Another page of this site, fetched later, with the same paragraph."""
    url = f"{page.url}/again"
    return msgspec.structs.replace(
        page, url=url, id=place(url, SCHEME).page_id, fetched_at=NOW + timedelta(days=9)
    )


@settings(max_examples=25)
@given(st.permutations(range(9)), st.integers(1, 4), st.integers(0, 8), st.booleans())
def test_in_any_order_the_first_site_is_never_accused(
    order: list[int], size: int, restart: int, whole: bool
) -> None:
    pages = copied(order, whole=whole)
    with TemporaryDirectory() as directory:
        stages = Stages(Path(directory))
        for at in range(0, len(pages), size):
            stages.take(pages[at : at + size])
            if at <= restart < at + size:
                stages.restart()
        first, *others = sorted(pages, key=lambda page: page.fetched_at)
        assert first.url not in stages.accused
        stages.accused.clear()
        stages.take([first, *others, *map(again, [first, *others])])
        # Those of the others that were accused before are so still.
        assert stages.accused == {one.url for page in others for one in (page, again(page))}


def test_times_far_off_and_without_a_time_zone_are_compared(tmp_path: Path) -> None:
    stages = Stages(tmp_path / "labels")
    stages.take(copied(range(5, 10), whole=False))
    early, late = datetime.min, datetime.max
    some = [page_of(n, COMMON, fetched_at=at) for n, at in ((20, early), (21, late))]
    stages.take(some)
    assert stages.accused == {some[1].url}


def test_a_first_page_without_a_time_zone_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="timezone"):
        msgspec.json.decode(b'{"site": "a", "fetched_at": "2026-01-01T00:00:00"}', type=LabelFirst)


def test_a_label_names_the_first_page_and_is_sent_again_for_an_earlier_one() -> None:
    stage = discovering()

    def labels(numbers: Iterable[int]) -> list[Label]:
        sent = stage.add(block(copied(numbers, whole=False)), NOW).messages
        return [read_json(as_message(message), Label) for message in sent]

    (label,) = labels([5, 6, 7, 8])
    assert label.first is not None
    assert (label.first.site, label.first.fetched_at) == ("site5.example", NOW + timedelta(0, 5))
    assert not labels([9, 6, 5])
    (earlier,) = labels([4, 3, 2])  # once a block
    assert earlier.first is not None
    assert (earlier.first.site, earlier.hash) == ("site2.example", label.hash)


def test_where_the_first_site_is_forgotten_there_is_no_label() -> None:
    stage = discovering()
    stage.add(block(copied([1], whole=False)), NOW)
    saved = stage.save()
    forgetful = replace(saved, arrays={**saved.arrays, **_no_sites()})
    stage.restore(forgetful)
    found = stage.add(block(copied([5, 6, 7, 8], whole=False)), NOW)
    assert not found.messages
    assert found.events["discovery-unlabeled"] == 1


def _no_sites() -> dict[str, Any]:
    return {"sites": discovering().save().arrays["sites"]}


@pytest.mark.parametrize("year", [1901, 1970, 2026, 2200])
def test_numbers_are_in_the_order_of_time(year: int) -> None:
    at, sites = datetime(year, 1, 2, tzinfo=UTC), Sites(SCHEME)
    times = [at, at + timedelta(seconds=1), at + timedelta(days=1)]
    pages = [page_of(n, fetched_at=when) for n, when in enumerate(times)]
    numbers = numbers_of(block(pages), sites).tolist()
    if 1970 <= year < 2106:
        assert numbers == sorted(numbers)
        firsts = [first_of(number, sites.by_last_bits()) for number in numbers]
        assert [(one.site, one.fetched_at) for one in firsts if one] == [
            (page.site, page.fetched_at) for page in pages
        ]
    else:
        assert len({number >> 32 for number in numbers}) == 1
