"""Verdicts and alerts say where their page came from."""

from __future__ import annotations

import msgspec
import pytest

from reusewatch.streams import topics
from reusewatch.streams.bus import Message, Outgoing, Partition
from reusewatch.streams.page_text import ReadOrigin, read_or_why
from reusewatch.streams.records import Alert, Origin, Page, Verdict
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.wire import page_message, read_json
from tests.pages import SCHEME, Fetch, page_of
from tests.streams.stages.making import as_message, index_stage, zero

ARCHIVED = Origin(source="/crawls/a.warc.gz", offset=77, record_id="urn:uuid:1")
LIVE = Origin(source="scrapy:own")


def found_of(pages: list[Page], topic: str | None = None) -> tuple[list[Verdict], list[Alert]]:
    """The verdicts and the alerts of pages that came one after the other."""
    stage, index = FingerprintStage(SCHEME, zero, topic=topic), index_stage()
    sent: list[Outgoing] = []
    for offset, page in enumerate(pages):
        message = page_message(page)
        read = Message(Partition(topics.PAGES, 2), offset, message.key, message.value,
                       message.headers, 0)  # fmt: skip
        sent += index.process([as_message(one) for one in stage.process([read]).messages]).messages
    messages = [as_message(one) for one in sent if one.value is not None]
    return (
        [read_json(m, Verdict) for m in messages if m.partition.topic == topics.VERDICTS],
        [read_json(m, Alert) for m in messages if m.partition.topic == topics.ALERTS],
    )


def a_copy(origin: Origin) -> list[Page]:
    """A page, and a copy of it on another site, fetched later."""
    return [
        msgspec.structs.replace(page_of(Fetch(number, number, number, 1)), origin=origin)
        for number in (1, 2)
    ]


def test_the_archive_the_offset_and_the_name_of_the_record() -> None:
    verdicts, alerts = found_of(a_copy(ARCHIVED), topic="reusewatch.pages")
    assert [one.origin for one in verdicts] == [ARCHIVED, ARCHIVED]
    assert [one.origin for one in alerts] == [ARCHIVED]


def test_a_live_page_on_kafka_stands_where_its_message_stands() -> None:
    verdicts, alerts = found_of(a_copy(LIVE), topic="reusewatch.pages")
    places = [Origin(source="kafka:reusewatch.pages/2", offset=number) for number in (0, 1)]
    assert [one.origin for one in verdicts] == places
    assert [one.origin for one in alerts] == places[1:]


def test_a_page_that_turns_out_to_be_the_copy_keeps_its_place() -> None:
    verdicts, alerts = found_of(a_copy(ARCHIVED)[::-1])
    assert alerts[-1].origin == msgspec.structs.replace(ARCHIVED, record_id=None)
    assert verdicts[-1].origin is not None


def lost(origin: Origin) -> Page:
    raise OSError("gone")


def other(origin: Origin) -> Page:
    return page_of(Fetch(1, 1, 1, 9))


@pytest.mark.parametrize(("read", "why"), [(lost, "archive gone"), (other, "changed")])
def test_what_cannot_be_had_any_more_says_why(read: ReadOrigin, why: str) -> None:
    page = page_of(Fetch(1, 1, 1, 1))
    file = SCHEME.of_bytes(page.body)
    assert read_or_why(read, ARCHIVED, file, SCHEME) == why
    assert read_or_why(lambda origin: page, ARCHIVED, file, SCHEME) is page
