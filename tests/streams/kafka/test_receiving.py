"""How a client takes what a broker sends."""

from __future__ import annotations

import os
import socket
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.errors import KafkaConnectionError

from reusewatch.streams.kafka import receiving


def test_what_came_is_taken_whole_and_an_end_is_told() -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    connection: Any = SimpleNamespace(_sock=ours)
    assert receiving._received(connection) == (b"", None)
    said = os.urandom(receiving.AT_ONCE + 1000)
    theirs.sendall(said)
    assert receiving._received(connection) == (said, None)
    theirs.sendall(b"last")
    theirs.close()
    data, error = receiving._received(connection)
    assert (data, type(error)) == (b"last", KafkaConnectionError)
    ours.close()


def test_a_client_whose_inside_is_not_known_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in receiving._KINDS:
        monkeypatch.setattr(kind, "_sock_recv", None)
    with monkeypatch.context() as other:
        other.setattr(receiving, "KNOWN", False)
        receiving.receive_at_once()
        assert [kind._sock_recv for kind in receiving._KINDS] == [None, None]
    receiving.receive_at_once()
    assert [kind._sock_recv for kind in receiving._KINDS] == [receiving._received] * 2
