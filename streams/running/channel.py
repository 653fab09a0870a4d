"""What a process and one that works for it say to each other: values, over a pair of sockets.

A value is taken in one call of the system, however long it is: read piece by piece, as
`multiprocessing` does, each piece waits until the thread that judges lets go of Python's lock, and
the process that sends waits for it.
"""

from __future__ import annotations

import pickle
import socket
from typing import Any

_SIZE_BYTES = 8


class Channel:
    """One of two ends. Raises EOFError where the other one is gone, or OSError."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def fileno(self) -> int:
        """Its descriptor."""
        return self._end.fileno()

    def send(self, value: object) -> None:
        """Say something that can be pickled."""
        said = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        self._end.sendall(len(said).to_bytes(_SIZE_BYTES, "big"))
        self._end.sendall(said)

    def recv(self) -> Any:
        """What the other end says next. It is a process of ours: what it pickled is trusted."""
        size = int.from_bytes(self._exactly(_SIZE_BYTES), "big")
        return pickle.loads(self._exactly(size))  # noqa: S301

    def _exactly(self, size: int) -> bytearray:
        found = bytearray(size)
        rest = memoryview(found)
        while rest:
            # Short of all only after a signal, or at the end.
            count = self._end.recv_into(rest, len(rest), socket.MSG_WAITALL)
            if not count:
                raise EOFError
            rest = rest[count:]
        return found

    def close(self) -> None:
        """Close this end, in this process."""
        self._end.close()


def channel() -> tuple[Channel, Channel]:
    """Both ends."""
    ours, theirs = socket.socketpair()
    return Channel(ours), Channel(theirs)
