"""Hosts whose pages are stitched from popular phrases: found, with their pages, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from random import Random

import msgspec
import numpy as np
import pytest

from reusewatch.detector.phrases.classes import representatives
from reusewatch.detector.phrases.popular import popular_shingles
from reusewatch.detector.phrases.window import HELD
from reusewatch.streams import topics
from reusewatch.streams.blocks.for_phrases import PhraseColumns
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.bus import Message
from reusewatch.streams.origins import Origins
from reusewatch.streams.records import Alert, Origin, Page, Verdict
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.stages.phrasing import Phrasing
from reusewatch.streams.wire import page_message
from tests.pages import BEGIN, SCHEME
from tests.streams.stages.making import NOW, as_message, page_with, zero

_DRAWN = Random(7)
Found = tuple[dict[str, Alert], dict[str, Verdict], list[int]]


def words(size: int) -> list[str]:
    return [f"w{_DRAWN.randrange(30_000)}" for _ in range(size)]


def page(site: str, name: str, text: Sequence[str]) -> Page:
    fetched = BEGIN + timedelta(minutes=len(name))
    made = page_with(f"http://{site}.example/{name}", text, fetched, source="phrases")
    assert made.origin is not None
    record = f"urn:uuid:5b8f2d6e-0000-4000-8000-{len(text):012}"
    origin = msgspec.structs.replace(made.origin, record_id=record)
    return msgspec.structs.replace(made, origin=origin)


SENTENCES = [words(20) for _ in range(40)]
SLICED = [
    page("sliced", f"p{at}", [word for one in _DRAWN.sample(SENTENCES, 20) for word in one])
    for at in range(40)
]
# From where the sentences are: each on a page of its own site, and no page has many of them.
SOURCES = [
    page(f"source{at}", "essay", [*words(300), *one, *words(200)])
    for at, one in enumerate(SENTENCES)
]
_FRAME = words(400)
TEMPLATED = [page("docs", f"d{at}", [*_FRAME, *words(200)]) for at in range(20)]
OWN = [page("honest", f"o{at}", words(400)) for at in range(12)]
EVERYTHING = [*SOURCES, *SLICED, *TEMPLATED, *OWN]


def blocks_of(pages: Sequence[Page]) -> list[Message]:
    stage = FingerprintStage(SCHEME, zero)
    return [
        as_message(block)
        for at in range(0, len(pages), 9)
        for block in stage.process(
            [as_message(page_message(one)) for one in pages[at : at + 9]]
        ).messages
    ]


def stage() -> IndexStage:
    return IndexStage(
        SCHEME, clock=lambda: NOW, max_pages=1000, rules=Rules(),
        phrasing=Phrasing(SCHEME, most=500, least_new=40),
    )  # fmt: skip


def run(pages: Sequence[Page], *, restarts: bool = False) -> Found:
    """The alerts that stand in the end, the last verdicts, and what pages had."""
    index, outputs = stage(), []
    for block in blocks_of(pages):
        outputs.append(index.process([block]))
        if restarts:
            state = index.save()
            index = stage()
            index.restore(state)
    outputs.append(index.settle())
    alerts, verdicts = {}, {}
    for one in (one for out in outputs for one in out.messages if one.value):
        if one.topic == topics.ALERTS:
            alert = msgspec.json.decode(one.value or b"", type=Alert)
            alerts[alert.id] = alert
        elif one.topic == topics.VERDICTS:
            verdict = msgspec.json.decode(one.value or b"", type=Verdict)
            verdicts[verdict.url] = verdict
    hosts = {i: a for i, a in alerts.items() if a.kind == "phrase-host" and a.state == "open"}
    return hosts, verdicts, [popular for out in outputs for popular in out.popular]


@pytest.fixture(scope="module")
def found() -> Found:
    return run(EVERYTHING)


def test_a_host_of_popular_phrases_is_told_and_none_that_repeats_its_own_template(
    found: Found,
) -> None:
    (alert,) = found[0].values()
    assert (alert.prefix, alert.site) == ("http://sliced.example/", "sliced.example")
    assert (alert.url, alert.donors, alert.direction) == (None, (), None)
    assert alert.files == len(SLICED)
    assert alert.figure >= alert.threshold == 30
    assert alert.deviation is not None
    assert alert.deviation < 15
    assert {one.url for one in alert.evidence} <= {one.url for one in SLICED}


def test_the_figures_are_those_of_the_verb_phrases(found: Found) -> None:
    columns = PhraseColumns(1000)
    for block in blocks_of(EVERYTHING):
        columns.add(read_block(block, SCHEME))
    pages = columns.pages()
    kept, _ = representatives(pages.documents)
    popular = popular_shingles(pages.documents, kept).per_document
    mine = [
        int(n) for row, n in zip(kept, popular, strict=True)
        if pages.facts(int(row)).host == "sliced.example"
    ]  # fmt: skip
    (alert,) = found[0].values()
    assert alert.figure == round(float(np.mean(mine)), 3)
    assert alert.deviation == round(float(np.std(mine)), 3)


def test_pages_that_consist_of_popular_phrases_say_so_in_their_verdicts(found: Found) -> None:
    _, verdicts, popular = found
    assert len(popular) == len(EVERYTHING)
    for one in SLICED:
        said = verdicts[one.url].popular_shingles
        assert said is not None
        assert 30 <= said <= 84
        assert verdicts[one.url].origin == one.origin
    assert all(verdicts[one.url].popular_shingles in (None, 0) for one in OWN)


@pytest.mark.parametrize("seed", range(3))
def test_hosts_are_the_same_in_any_order_and_over_restarts(found: Found, seed: int) -> None:
    pages = list(EVERYTHING)
    Random(seed).shuffle(pages)
    hosts = run(pages, restarts=seed == 1)[0]
    assert hosts.keys() == found[0].keys()
    assert {one: hosts[one].state for one in hosts} == dict.fromkeys(hosts, "open")


def test_a_host_that_is_none_any_more_is_closed() -> None:
    index, sent = stage(), []
    more = [page("sliced", f"new{at}", words(400)) for at in range(60)]
    for pages in ([*SOURCES, *SLICED], more):
        for block in blocks_of(pages):
            index.process([block])
        sent.append([
            msgspec.json.decode(one.value, type=Alert)
            for one in index.settle().messages if one.topic == topics.ALERTS and one.value
        ])  # fmt: skip
    states = [[one.state for one in each if one.kind == "phrase-host"] for each in sent]
    assert states[1] == ["closed"]


def test_memory_is_bounded_and_the_pages_that_were_fetched_last_stay() -> None:
    phrasing = Phrasing(SCHEME, most=20, least_new=1)
    for block in blocks_of(EVERYTHING):
        phrasing.add(read_block(block, SCHEME), Origins())
    assert len(phrasing.save().arrays["fetches"]) == 20 * HELD.itemsize


def test_the_name_of_a_record_is_told_again_unless_it_is_long() -> None:
    origin = Origin(source="phrases", offset=7, record_id="x" * 49)
    long = msgspec.structs.replace(SLICED[0], origin=origin)
    verdicts = run([*SOURCES, *SLICED[1:], long])[1]
    assert verdicts[long.url].origin == Origin(source="phrases", offset=7)
    for one in SLICED[1:]:
        assert verdicts[one.url].origin == one.origin


@pytest.mark.parametrize("days", [-1, 0, 1])
def test_of_a_page_that_came_twice_no_name_of_the_other_record_is_told(days: int) -> None:
    again = [
        msgspec.structs.replace(
            one, fetched_at=one.fetched_at + timedelta(days=days),
            origin=Origin(source="again", offset=at, record_id=f"again-{at}"),
        )
        for at, one in enumerate(SLICED)
    ]  # fmt: skip
    verdicts = run([*SOURCES, *SLICED, *again])[1]
    for one, other in zip(SLICED, again, strict=True):
        told = verdicts[one.url].origin
        assert told is not None
        nameless = msgspec.structs.replace(told, record_id=None)
        assert told in (one.origin, other.origin, nameless)
