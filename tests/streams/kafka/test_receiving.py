"""How a client takes what a broker sends."""

from __future__ import annotations

import os
import socket
import ssl
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.errors import KafkaConnectionError
from kafka.protocol.frame import KafkaBytes

from reusewatch.streams.kafka import receiving


def test_what_came_is_taken_whole_and_an_end_is_told() -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    connection: Any = SimpleNamespace(_sock=ours)
    assert receiving._received(connection) == (b"", None)
    said = os.urandom(4000)
    theirs.sendall(said)
    assert receiving._received(connection) == (said, None)
    theirs.sendall(b"last")
    theirs.close()
    data, error = receiving._received(connection)
    assert (data, type(error)) == (b"last", KafkaConnectionError)
    ours.close()


class _Encrypted:
    """A connection that gives one record at a time; what does not fit is kept where no selector
    looks."""

    def __init__(self, records: list[bytes]) -> None:
        self._records = records
        self.kept = False

    def recv_into(self, room: memoryview) -> int:
        if not self._records:
            raise ssl.SSLWantReadError
        record = self._records.pop(0)
        self.kept |= len(room) < len(record)
        room[: len(record)] = record
        return len(record)


def test_more_than_the_buffer_holds_comes_in_turns_and_no_record_of_tls_is_cut() -> None:
    records = [os.urandom(receiving.TLS_RECORD - 1) for _ in range(40)]
    all_of_it, turns = b"".join(records), []
    encrypted = _Encrypted(records)
    connection: Any = SimpleNamespace(_sock=encrypted)
    while found := bytes(receiving._received(connection)[0]):
        turns.append(found)
    assert (b"".join(turns), encrypted.kept) == (all_of_it, False)
    assert len(turns) > 1


def test_an_answer_is_read_as_the_client_reads_it() -> None:
    answer: Any = KafkaBytes(9)
    answer.write(memoryview(b"123456789"))
    answer.seek(0)
    read = receiving._read
    assert [read(answer, 4), type(read(answer, 0)), answer.tell()] == [b"1234", bytes, 4]
    # Who logs in decodes what is left of an answer, as bytes can be.
    assert (read(answer).decode(), read(answer, 3), answer.tell()) == ("56789", b"", 9)


def test_of_a_large_answer_nothing_is_copied() -> None:
    answer: Any = KafkaBytes(1 << 20)
    answer.seek(0)
    found = receiving._read(answer)
    assert (type(found), len(found)) == (memoryview, 1 << 20)


def test_a_client_whose_inside_is_not_known_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in receiving._KINDS:
        monkeypatch.setattr(kind, "_sock_recv", None)
    monkeypatch.setattr(receiving._Answer, "read", None)

    def patched() -> list[Any]:
        return [*(kind._sock_recv for kind in receiving._KINDS), receiving._Answer.read]

    with monkeypatch.context() as other:
        other.setattr(receiving, "KNOWN", False)
        receiving.receive_at_once()
        assert patched() == [None, None, None]
    receiving.receive_at_once()
    assert patched() == [receiving._received, receiving._received, receiving._read]
