"""When a message reached the bus: a header that says no time is not believed, and ends nothing."""

from __future__ import annotations

import pytest

from reusewatch.streams.bus import Message, Partition
from reusewatch.streams.wire import received_ms

ARRIVED = 1_700_000_000_000


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (b"1699999999999", 1_699_999_999_999),
        (b"0", 0),
        (b"soon", ARRIVED),
        (b"", ARRIVED),
        (b"-5", ARRIVED),
        (b"1e9", ARRIVED),
        (b"9" * 5000, ARRIVED),
        ("\u0661".encode(), ARRIVED),
        (b"\xff", ARRIVED),
    ],
)
def test_a_header_is_a_time_or_nothing(said: bytes, found: int) -> None:
    message = Message(Partition("fingerprints", 0), 0, "", b"", (("received", said),), ARRIVED)
    assert received_ms(message) == found


def test_without_a_header_it_is_when_the_message_came() -> None:
    assert received_ms(Message(Partition("pages", 0), 0, "", b"", (), ARRIVED)) == ARRIVED
