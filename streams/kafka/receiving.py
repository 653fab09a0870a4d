"""What a broker sends is taken with as few copies as there can be.

kafka-python takes 4 kB at a time, so that a message of 1 MB is 256 calls of the system, at each of
which Python's lock is let go and waited for; and before an answer is read its bytes are put
together, cut, and copied twice more. Here they are taken into one buffer of each thread, copied
from there to where an answer is put together, and read where they lie.

Patches one method of each of the client's two kinds of connections, and one of what an answer is
put together in, once; only of versions whose inside is known (`quick_send`).
"""

from __future__ import annotations

import logging
import ssl
import threading
from typing import Any

from kafka.errors import KafkaConnectionError
from kafka.net import transport
from kafka.protocol.frame import KafkaBytes

from reusewatch.streams.kafka.quick_send import KNOWN

# Small enough for the second cache: what is copied from there is still in it.
AT_ONCE = 1 << 18
# A record of TLS is taken whole, or the rest of it waits in OpenSSL, where no selector looks.
TLS_RECORD = 1 << 14
# What is smaller is copied, as who logs in takes it for bytes.
_SMALL = 1 << 12
_log = logging.getLogger(transport.__name__)
_KINDS: tuple[Any, ...] = (transport.KafkaTCPTransport, transport.KafkaSSLTransport)
_Answer: Any = KafkaBytes
_LATER = (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
_mine = threading.local()


def _room() -> memoryview:
    """Where this thread takes bytes, until the client has copied them, which it does at once."""
    kept: memoryview | None = getattr(_mine, "room", None)
    if kept is None:
        kept = _mine.room = memoryview(bytearray(AT_ONCE + TLS_RECORD))
    return kept


def _received(connection: Any) -> tuple[memoryview, Exception | None]:
    """What is there, until there is nothing more now or the buffer is full; and what ended
    the connection."""
    room, error, at = _room(), None, 0
    try:
        while at < AT_ONCE:
            count = connection._sock.recv_into(room[at:])
            if not count:
                _log.error("%s: socket disconnected", connection)
                error = KafkaConnectionError("socket disconnected")
                break
            at += count
    except _LATER:
        pass
    except Exception as why:
        _log.exception("%s: Error receiving network data closing socket", connection)
        error = KafkaConnectionError(why)
    return room[:at], error


def _read(answer: Any, count: int | None = None) -> bytes | memoryview:
    """The next bytes of an answer; all of them, which is what its records are in, as they lie."""
    begin = answer._idx
    end = answer._idx = len(answer) if count is None else min(begin + count, len(answer))
    found = memoryview(answer)[begin:end]
    return found if count is None and len(found) > _SMALL else bytes(found)


def receive_at_once() -> None:
    """From now on, in this process."""
    if KNOWN:
        for kind in _KINDS:
            kind._sock_recv = _received
        _Answer.read = _read
