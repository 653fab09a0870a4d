"""What is shown of a topic: a message that cannot be read hides none of those behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from reusewatch.streams import topics
from reusewatch.streams.bus import Bus, Message, Outgoing, Partition
from reusewatch.streams.records import DeadLetter
from reusewatch.streams.verbs import topic_views
from reusewatch.streams.wire import dead_letter_message, headers_for
from tests.streams.memory_bus import MemoryBus

SHOWN: dict[str, Callable[[Bus], Iterator[object]]] = {
    topics.ALERTS: topic_views.alerts,
    topics.VERDICTS: topic_views.verdicts,
    topics.DEAD_LETTERS: topic_views.dead_letters,
}
GARBAGE = [b"", b"{}", b"\xff", b"[" * 100_000]


def letter(number: int) -> Outgoing:
    at = datetime(2026, 11, 1, tzinfo=UTC)
    return dead_letter_message(
        DeadLetter(reason="corrupt", source="a", offset=number, url=None, detail="", at=at)
    )


def test_what_can_be_read_is_shown_and_the_rest_counted() -> None:
    bus = MemoryBus()
    for number, value in enumerate(GARBAGE):
        bus.append(Outgoing(topics.DEAD_LETTERS, "x", value, headers_for(topics.DEAD_LETTERS)))
        bus.append(letter(number))
    bus.append(Outgoing(topics.DEAD_LETTERS, "x", b"{}", ()))
    shown: list[int | None] = []
    with pytest.raises(topic_views.PassedOver, match="5 messages of the topic dead-letters"):
        shown.extend(found.offset for found in topic_views.dead_letters(bus))
    assert shown == list(range(len(GARBAGE)))


@pytest.mark.parametrize("topic", SHOWN)
def test_garbage_alone_is_said_and_ends_as_damage(
    topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bus = MemoryBus()
    bus.append(Outgoing(topic, "x", b"not JSON", headers_for(topic)))
    with pytest.raises(topic_views.PassedOver, match="1 message of"):
        list(SHOWN[topic](bus))
    assert f"passed over {topic}, offset 0" in capsys.readouterr().err


def test_a_verdict_sent_at_no_time_hides_no_other() -> None:
    part = Partition(topics.VERDICTS, 0)
    bus = MemoryBus(logs={part: [Message(part, 0, "x", b"{}", (), 1 << 62)]})
    with pytest.raises(topic_views.PassedOver, match="1 message of"):
        list(topic_views.verdicts(bus, covers=lambda at: True))
