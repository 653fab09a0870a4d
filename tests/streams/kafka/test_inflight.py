"""The ledger of what is under way, and the small parts that need no broker."""

from __future__ import annotations

import importlib
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.streams import topics
from reusewatch.streams.bus import BusBroken, Outgoing, Partition, TooLarge, Unreachable
from reusewatch.streams.kafka.assign import choose_owner
from reusewatch.streams.kafka.connect import check_codecs
from reusewatch.streams.kafka.inflight import Entry, InFlight
from reusewatch.streams.kafka.outlet import check_size, message_size
from reusewatch.streams.kafka.patience import Patience


def message(number: int) -> Outgoing:
    return Outgoing(topics.PAGES, str(number), str(number).encode())


def enter(ledger: InFlight, number: int, size: int) -> Entry:
    (entry,) = ledger.add([(message(number), Partition("p", 0), size)])
    return entry


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=40), st.randoms())
def test_what_is_sent_again_is_what_is_not_safe_in_order(
    sent: list[tuple[int, bool]], shuffle: Any
) -> None:
    ledger = InFlight(1 << 20, 1000)
    entries = ledger.add([(message(n), Partition("p", p), 10) for n, (p, _) in enumerate(sent)])
    acknowledged = [e for e, (_, answered) in zip(entries, sent, strict=True) if answered]
    shuffle.shuffle(acknowledged)
    for entry in acknowledged:
        ledger.acknowledge(entry)
    expected = []
    waiting: set[int] = set()
    for n, (partition, answered) in enumerate(sent):
        if not answered or partition in waiting:
            waiting.add(partition)
            expected.append(message(n))
    assert len(ledger) == len(expected)
    assert list(ledger.restart()) == expected
    assert len(ledger) == 0
    # Answers to what was forgotten change nothing.
    again = enter(ledger, 0, 10)
    for entry in entries:
        ledger.acknowledge(entry)
        ledger.fail(entry, ValueError())
    assert ledger.failures() == ()
    ledger.acknowledge(again)
    assert len(ledger) == 0


def test_the_ledger_is_bounded_by_bytes_and_by_messages() -> None:
    ledger = InFlight(100, 3)
    assert not ledger.full(1000)
    first = enter(ledger, 1, 60)
    assert ledger.full(41)
    assert not ledger.full(40)
    enter(ledger, 2, 1)
    last = enter(ledger, 3, 1)
    assert ledger.full(1)
    ledger.acknowledge(last)  # not from the head: it may have to be sent again
    assert ledger.full(1)
    ledger.drop(first)
    assert not ledger.full(1)


def test_a_message_that_was_given_up_does_not_hold_back_the_others() -> None:
    ledger = InFlight(100, 10)
    first, second = (enter(ledger, n, 1) for n in (1, 2))
    ledger.acknowledge(second)
    assert len(ledger) == 2
    ledger.fail(first, TooLarge())
    assert [entry for entry, _ in ledger.failures()] == [first]
    ledger.drop(first)
    assert list(ledger.restart()) == [message(2)]


def test_waiting_ends_with_an_answer() -> None:
    ledger = InFlight(100, 10)
    entry = enter(ledger, 1, 1)
    threading.Timer(0.05, ledger.acknowledge, [entry]).start()
    ledger.wait(30)
    assert len(ledger) == 0


def test_size_counts_key_and_headers() -> None:
    small = message_size(Outgoing(topics.PAGES, "", b""))
    assert message_size(Outgoing(topics.PAGES, "k" * 10, b"")) >= small + 10
    assert message_size(Outgoing(topics.PAGES, "", b"", (("h", b"x" * 10),))) >= small + 11
    limit = topics.TOPICS[topics.ALERTS].message_bytes
    with pytest.raises(TooLarge):
        check_size(Outgoing(topics.ALERTS, "k", b""), limit + 1)


def test_a_missing_extension_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def without(name: str) -> Any:
        if name == "crc32c":
            raise ImportError("no crc32c here")
        return real(name)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(BusBroken, match="pip install crc32c"):
        check_codecs()


def test_patience_tries_again_and_says_so() -> None:
    said: list[str] = []
    answers = iter([Unreachable("away"), Unreachable("away"), 7])

    def attempt() -> int:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert Patience(away_to=said.append).retry(attempt, "trying", lambda: 6.0) == 7
    assert len(said) == 1
    assert "away" in said[0]


def test_patience_raises_what_does_not_pass() -> None:
    def broken() -> None:
        raise BusBroken("wrong")

    with pytest.raises(BusBroken):
        Patience().retry(broken, "trying")


def test_the_owner_keeps_what_it_has() -> None:
    assert choose_owner({"a": 0, "b": 5, "c": 3}) == "b"
