"""The stage `neighborhoods`: figures by the definition, and what is reported of them."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.neighborhoods.judging import MOVED
from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.questions import BadQuestion
from reusewatch.streams.records import Alert
from tests.streams.stages.hoods import (
    Copied,
    asked,
    bad_site,
    by_definition,
    copied_crawls,
    messages_of,
    stage_of,
)
from tests.streams.stages.making import as_message


def alerts(sent: list[Outgoing]) -> list[Alert]:
    return [
        msgspec.json.decode(m.value or b"", type=Alert) for m in sent if m.topic == topics.ALERTS
    ]


def check_figures(pages: list[Copied], found: dict[str, tuple[int, float, float, bool]]) -> None:
    wanted = by_definition(pages)
    assert found.keys() == wanted.keys()
    for prefix, (files, badness, ratio) in wanted.items():
        assert found[prefix][0] == files
        assert found[prefix][1:3] == pytest.approx((badness, ratio), abs=1e-8)


@settings(max_examples=40)
@given(copied_crawls(), st.randoms())
def test_figures_are_those_of_the_definition_in_any_order(
    pages: list[Copied], random: Random
) -> None:
    stage = stage_of()
    out = stage.process(messages_of(pages))
    assert out.pages == len(pages)
    check_figures(pages, asked(stage))
    shuffled = pages * 2
    random.shuffle(shuffled)
    other = stage_of()
    other.process(messages_of(shuffled))
    assert {p: f[:3] for p, f in asked(other).items()} == {
        p: f[:3] for p, f in asked(stage).items()
    }


def test_a_bad_neighborhood_opens_once_with_its_worst_files_and_closes() -> None:
    stage = stage_of(threshold=0.25)
    pages = bad_site(1, 2, labeled=3) + bad_site(1, 3, first=2)
    opened = alerts(stage.process(messages_of(pages)).messages)
    assert [(a.prefix, a.state) for a in opened] == [
        ("http://www.site1.example/copies/", "open"),
        ("http://www.site1.example/", "open"),
    ]
    first = opened[0]
    assert (first.kind, first.url, first.severity) == ("bad-neighborhood", None, "warning")
    assert (first.site, first.threshold, first.files) == ("site1.example", 0.25, 3)
    assert first.figure == pytest.approx((0.75 + 0.75 + 1) / 3)
    assert first.chunk_ratio == pytest.approx(10 / 12)
    assert first.labels == ("bank",)
    worst, *others = [(e.url, e.contains, e.label) for e in first.evidence]
    assert worst == ("http://www.site1.example/copies/2", 1.0, "bank")
    assert sorted(others) == [
        ("http://www.site1.example/copies/0", 0.75, "bank"),
        ("http://www.site1.example/copies/1", 0.75, "bank"),
    ]
    again = bad_site(1, 30, labeled=0, first=10)
    told = alerts(stage.process(messages_of(again)).messages)
    closed = [a for a in told if a.state == "closed"]
    assert [(a.prefix, a.state) for a in closed] == [(a.prefix, "closed") for a in opened]
    assert [a.id for a in closed] == [a.id for a in opened]
    assert not any(row[3] for row in asked(stage).values())


def test_an_open_neighborhood_is_told_again_when_its_figure_moved_much() -> None:
    stage = stage_of(threshold=0.25)
    pages = [Copied(f"http://h.example/{n}", 2 if n % 2 or n > 3 else 0, 2) for n in range(40)]
    told = alerts(stage.process(messages_of(pages)).messages)
    assert len({a.id for a in told}) == 1
    assert {a.state for a in told} == {"open"}
    assert 3 <= len(told) < 8
    figures = [a.figure for a in told]
    assert all(b - a >= MOVED for a, b in pairwise(figures))
    now = asked(stage)["http://h.example/"][1]
    assert now - figures[-1] < MOVED
    fell = [Copied(f"http://h.example/x{n}", 0, 2) for n in range(160)]
    *falling, closed = alerts(stage.process(messages_of(fell)).messages)
    assert [a.state for a in (*falling, closed)] == ["open"] * len(falling) + ["closed"]
    assert closed.figure < 0.25 * 0.8 < falling[-1].figure
    assert closed.files > told[-1].files > told[0].files


def test_what_was_told_of_a_neighborhood_is_known_after_a_restart() -> None:
    pages = [Copied(f"http://h.example/{n}", 2, 4) for n in range(6)]
    pages.append(Copied("http://h.example/7", 4, 4))
    stage = stage_of(threshold=0.25)
    assert len(alerts(stage.process(messages_of(pages)).messages)) == 1
    saved = stage.save()
    again = stage_of(threshold=0.25)
    again.restore(saved)
    more = [Copied(f"http://h.example/y{n}", 4, 4) for n in range(4)]
    (moved,) = alerts(again.process(messages_of(more)).messages)
    assert moved.figure - (0.5 * 6 + 1) / 7 >= MOVED


def test_the_severity_is_that_of_the_labels() -> None:
    pages = [Copied(f"http://h.example/{n}", 2, 2, severity="critical") for n in range(3)]
    (found,) = alerts(stage_of().process(messages_of(pages)).messages)
    assert found.severity == "critical"


def test_a_trap_is_reported_once_and_not_counted() -> None:
    pages = [Copied(f"http://h.example/x/{'a/b/' * n}", 2, 2) for n in range(3, 7)]
    stage = stage_of()
    out = stage.process(messages_of(pages))
    (found,) = alerts(out.messages)
    assert (found.kind, found.prefix) == ("crawl-trap", "http://h.example/x/")
    assert (found.figure, found.threshold) == (3.0, 3.0)
    assert found.evidence[0].url == pages[0].url
    assert out.events["trapped"] == 4
    assert asked(stage) == {}


def test_error_pages_and_revisits_are_no_files() -> None:
    stage = stage_of()
    pages = [Copied("http://h.example/1", 1, 1, status=404), Copied("http://h.example/2", 1, 1)]
    pages.append(Copied("http://h.example/2", 0, 0, at=5, revisit=True))
    out = stage.process(messages_of(pages))
    assert asked(stage) == {"http://h.example/": (1, 1.0, 1.0, False)}
    assert out.events["uncounted"] == 2


def test_what_leaves_is_counted() -> None:
    stage = stage_of(max_prefixes=2, max_pages=3)
    out = stage.process(messages_of(bad_site(1, 5) + bad_site(2, 1)))
    assert out.events["prefix-evicted"] == 2
    assert out.events["page-forgotten"] == 3
    assert stage.rows() == 2


def test_a_host_is_known_by_its_canonical_name() -> None:
    stage = stage_of()
    stage.process(messages_of([Copied("http://WWW.Site1.Example:80/a#x", 1, 1)]))
    assert [*asked(stage)] == ["http://www.site1.example/"]


def test_what_is_no_block_is_a_dead_letter() -> None:
    out = stage_of().process([as_message(Outgoing(topics.FINGERPRINTS, "k", b"no block"))])
    assert out.dead.total() == 1
    assert out.messages[0].topic == topics.DEAD_LETTERS


def test_the_question() -> None:
    stage = stage_of()
    pages = bad_site(1) + bad_site(2, 4, labeled=1) + [Copied("http://site22.example/1", 4, 4)]
    stage.process(messages_of(pages))
    rows = stage.answer("neighborhoods", {"under": "http://www.site2.example"})
    assert [row["prefix"] for row in rows] == [
        "http://www.site2.example/", "http://www.site2.example/copies/",
    ]  # fmt: skip
    assert {"prefix", "files", "badness", "chunk_ratio", "open"} <= rows[0].keys()
    assert [r["files"] for r in stage.answer("neighborhoods", {"top": "2", "files": "5"})] == [6, 6]
    assert len(stage.answer("neighborhoods", {"top": "3"})) == 3
    also = {"top": "1", "also": "http://www.site2.example/ http://unknown.example/"}
    assert [row["prefix"] for row in stage.answer("neighborhoods", also)] == [
        "http://site22.example/", "http://www.site2.example/",
    ]  # fmt: skip
    assert len(stage.answer("neighborhoods", also | {"top": "3", "files": "5"})) == 2
    with pytest.raises(BadQuestion):
        stage.answer("neighborhoods", {"under": "no url"})
    with pytest.raises(BadQuestion):
        stage.answer("similar", {})


@settings(max_examples=30)
@given(copied_crawls(), copied_crawls())
def test_a_restored_one_goes_on_alike(before: list[Copied], after: list[Copied]) -> None:
    one, other = stage_of(min_files=1), stage_of(min_files=1)
    one.process(messages_of(before))
    other.restore(one.save())
    assert asked(one) == asked(other)
    assert one.process(messages_of(after)) == other.process(messages_of(after))
    other.restore(None)
    assert asked(other) == {}
