"""What a broker sends is taken 64 kB at a time: kafka-python takes 4 kB, so that a message of
1 MB is 256 calls of the system, at each of which Python's lock is let go and waited for.

Patches one method of each of the client's two kinds of connections, once; only of versions whose
inside is known (`quick_send`).
"""

from __future__ import annotations

import logging
import ssl
from typing import Any

from kafka.errors import KafkaConnectionError
from kafka.net import transport

from reusewatch.streams.kafka.quick_send import KNOWN

# Below what malloc maps anew for each call.
AT_ONCE = 1 << 16
_log = logging.getLogger(transport.__name__)
_KINDS: tuple[Any, ...] = (transport.KafkaTCPTransport, transport.KafkaSSLTransport)
_LATER = (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


def _received(connection: Any) -> tuple[bytes, Exception | None]:
    """What is there, until there is nothing more now; and what ended the connection."""
    found: list[bytes] = []
    error = None
    try:
        while data := connection._sock.recv(AT_ONCE):
            found.append(data)
        _log.error("%s: socket disconnected", connection)
        error = KafkaConnectionError("socket disconnected")
    except _LATER:
        pass
    except Exception as why:
        _log.exception("%s: Error receiving network data closing socket", connection)
        error = KafkaConnectionError(why)
    return b"".join(found), error


def receive_at_once() -> None:
    """From now on, in this process."""
    if KNOWN:
        for kind in _KINDS:
            kind._sock_recv = _received
