"""What pages judged together ask: had in one call for all, and answered as to each by itself."""

from __future__ import annotations

from typing import Any, NamedTuple
from unittest.mock import Mock

import pytest

from reusewatch.detector.window.index import NearDuplicateIndex
from reusewatch.detector.window.sightings import Seen, Settled
from reusewatch.streams.stages.company import Company
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.quilting import Quilting, Stitched
from reusewatch.streams.stages.settling import Posted
from reusewatch.streams.wire import page_message
from tests.pages import SCHEME
from tests.streams.stages.making import as_message, zero
from tests.streams.stages.test_quilting import OWN_WORDS, PAGES, TEXTS, page, stage


def nearly(words: list[str], name: str, changed: int) -> list[str]:
    return words[:-changed] + [f"{name}{at}" for at in range(changed)]


NEAR = [nearly(TEXTS[0], "some", 3), nearly(TEXTS[1], "more", 6), nearly(TEXTS[2], "most", 9)]
ALL = [
    *PAGES,  # a quilt and a partial copy, with their donors
    *(page(f"near{at}", "n", words, day=1) for at, words in enumerate(NEAR)),
    page("copy", "of-near", NEAR[0], day=2),
    *(
        page("lender", f"part-of-{at}", TEXTS[at][:240] + OWN_WORDS[3][:300], day=3)
        for at in (3, 4)
    ),
]


class Judged(NamedTuple):
    """The window and the postings, and what they know of pages that have settled."""

    index: NearDuplicateIndex
    quilting: Quilting
    found: Settled
    texts: list[int]
    parts: list[Stitched]

    def asked(self, company: Company) -> tuple[list[float | None], list[Seen | None]]:
        """What `settled_reports` asks of nearly every page; of the near pages, for the first."""
        first = {row: next(self.found.near(row), None) for row in self.not_copied()}
        own = [company.own(self.texts[row], one.seen.text) for row, one in first.items() if one]
        before = {row: self.found.before(row) for row in first}
        own += [company.own(self.texts[row], one.text) for row, one in before.items() if one]
        wholes = [part.whole for part in self.parts if part.whole is not None]
        return own, [company.known(whole) for whole in wholes]

    def not_copied(self) -> list[int]:
        return [row for row in range(len(self.texts)) if not self.found.judged.match(row).donors]

    def company(self) -> tuple[Company, Any, Any]:
        """One with its window and its postings, whose calls are counted."""
        index, quilting = Mock(wraps=self.index), Mock(wraps=self.quilting)
        return Company(index, quilting), index.versions_about, quilting.own

    def expecting(self) -> tuple[Company, Any, Any]:
        company, versions_about, own = self.company()
        company.expect(self.found, range(len(self.texts)), self.parts)
        return company, versions_about, own


@pytest.fixture(scope="module")
def judged() -> Judged:
    index = stage("all", settle_pages=1000)
    messages = [as_message(page_message(one)) for one in ALL]
    for block in FingerprintStage(SCHEME, zero, grams="all").process(messages).messages:
        index.process([as_message(block)])
    assert index._quilting is not None
    waited = index._settling.all()
    posted = Posted.joined([one for each in waited for one in each.posted])
    keys = [(one.page, one.text) for one in posted.subjects]
    held, found = index._index.settled(keys)
    return Judged(
        index._index, index._quilting, found, [keys[at][1] for at in held],
        list(index._quilting.judge(posted)),
    )  # fmt: skip


def test_what_was_expected_takes_one_call_and_no_more_when_it_is_asked(judged: Judged) -> None:
    company, versions_about, own = judged.expecting()
    assert (versions_about.call_count, own.call_count) == (1, 1)
    judged.asked(company)
    assert (versions_about.call_count, own.call_count) == (1, 1)


def test_what_was_expected_is_answered_as_one_by_one(judged: Judged) -> None:
    company, versions_about, own = judged.company()
    owns, known = judged.asked(company)
    # Else there was nothing to compare, or too little to tell one from another.
    assert own.call_count == len(set(owns)) == len(owns) > 2
    assert versions_about.call_count == len(set(known)) > 2
    assert None not in {*owns, *known}
    assert judged.asked(judged.expecting()[0]) == (owns, known)


def test_of_a_copy_nothing_is_expected(judged: Judged) -> None:
    _, _, own = judged.expecting()
    ((pairs,),) = (call.args for call in own.call_args_list)
    near = [row for row in range(len(judged.texts)) if any(judged.found.near(row))]
    copies = set(near) - set(judged.not_copied())
    assert copies
    assert len(pairs) == len(near) - len(copies)


def test_what_was_not_expected_is_looked_up_once(judged: Judged) -> None:
    company, versions_about, own = judged.company()
    company.expect(judged.found, (), ())
    first = judged.asked(company)
    calls = versions_about.call_count, own.call_count
    assert judged.asked(company) == first
    assert (versions_about.call_count, own.call_count) == calls
