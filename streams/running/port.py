"""Answers HTTP in a thread beside the work of a process.

uvicorn reads requests and writes answers. What it does not limit is limited here: the time of a
whole request, the time of its answer, and the number of clients. One event loop serves them all, so
a slow client holds a place and no thread.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from dataclasses import dataclass

from h11 import LocalProtocolError
from starlette.types import ASGIApp
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from reusewatch.streams.bus import Unreachable

_LONGEST_HEAD = 1 << 16
# Clients that connect at the same moment cannot evict one of them before its request is read.
_BACKLOG = 64
_CLOSING_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Limits:
    """What clients may take. `request_seconds`: until head and body are here. `answer_seconds`:
    from there until the client has its answer."""

    request_seconds: float = 10.0
    answer_seconds: float = 60.0
    clients: int = 256


class Port:
    """Serves an app on host and port, 0 for any that is free. Raises Unreachable if it is taken."""

    def __init__(self, app: ASGIApp, host: str, port: int, limits: Limits) -> None:
        try:
            listening = socket.create_server((host, port), backlog=_BACKLOG)
        except OSError as error:
            raise Unreachable(
                f"metrics cannot be served on {host}:{port}: {error.strerror}: give another "
                "--metrics-port (0 takes any that is free)"
            ) from error
        self.number: int = listening.getsockname()[1]
        self._server = Server(Served(app, limits))
        self._thread = threading.Thread(
            target=self._server.run, args=([listening],), name="reusewatch-port", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop serving. Answers that are under way get half a second."""
        self._server.should_exit = True
        self._thread.join()


class Served(Config):
    """How an app is served."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.limits = limits
        super().__init__(
            app, http=Connection, ws="none", loop="asyncio", lifespan="off",
            # A stranger's malformed request is no news; an exception of ours is.
            log_config=None, log_level="error", access_log=False,
            # No names of programs in answers, and no trust in what a client says of itself.
            server_header=False, proxy_headers=False,
            backlog=_BACKLOG, h11_max_incomplete_event_size=_LONGEST_HEAD,
            timeout_graceful_shutdown=1,
        )  # fmt: skip


class Connection(H11Protocol):
    """A client, which has a deadline at any time: for its request, or for its answer."""

    config: Served

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline: asyncio.TimerHandle | None = None
        self._begin(answering=False)
        self._evict()

    def data_received(self, data: bytes) -> None:
        """Read more of a request."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Go on to the next request."""
        super().on_response_complete()
        self._look()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; hang up where a request was answered before its end."""
        if self.cycle is not None:
            # The app may be about to answer the head of this request: nobody reads that any more.
            self.cycle.disconnected = True
        try:
            super().send_400_response(msg)
        except LocalProtocolError:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._expire_in(None)
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """End it once it has its answer, and soon."""
        if self.answering and self.cycle is not None:
            self.cycle.keep_alive = False
            self._expire_in(_CLOSING_SECONDS)
        else:
            self._hang_up()

    def _look(self) -> None:
        """A deadline begins when a request is complete, and when its answer is delivered."""
        cycle = self.cycle
        asked = cycle is not None and not cycle.more_body and not cycle.response_complete
        answering = asked or self.transport.get_write_buffer_size() > 0
        if answering != self.answering:
            self._begin(answering=answering)

    def _begin(self, *, answering: bool) -> None:
        limits = self.config.limits
        self.answering = answering
        self.since = self.loop.time()
        self._expire_in(limits.answer_seconds if answering else limits.request_seconds)

    def _expire_in(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._hang_up)

    def _evict(self) -> None:
        """Beyond the limit the oldest client goes. Half of the places belong to clients whose
        request is not complete: a probe has one of them until it is read."""
        most = self.config.limits.clients
        others = [
            one for one in self.connections if isinstance(one, Connection) and one is not self
        ]
        if len(others) < most:
            return
        asking = [one for one in others if not one.answering]
        answering = [one for one in others if one.answering]
        crowd = asking if len(asking) > most // 2 else answering
        min(crowd, key=lambda one: one.since)._hang_up()

    def _hang_up(self) -> None:
        self.connections.discard(self)
        self.transport.abort()
