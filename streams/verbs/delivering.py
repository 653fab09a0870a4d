"""Where alerts are sent: a webhook over HTTP, or the standard input of a command.

A webhook gets a CloudEvent in structured mode (CloudEvents, HTTP Protocol Binding 1.0.2, §3.2),
with the attributes as `ce-` headers too (§3.2.3), as the topic has them. The event's id is the
alert's: sent twice, it is the same event. A redirect is never followed: whoever answers at an
address would else decide where findings go, and from whose network they are asked for. No shell
reads a command. Whether something is tried again is for the caller to say.
"""

from __future__ import annotations

import http.client
import os
import re
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Timer
from typing import Protocol
from urllib.parse import quote, urlsplit

import msgspec

from reusewatch.streams.bus import Message
from reusewatch.streams.environment import of_the_user
from reusewatch.streams.records import Alert, Withdrawn
from reusewatch.streams.wire import event_type

SECONDS = 10.0
# The exit code by which a command says that it will never take this alert (sysexits: EX_DATAERR).
REFUSES = 65
# Answers by which a server says "later": time-outs, and too many requests.
_LATER = (408, 425, 429)
_SUCCESS = range(200, 300)
_REDIRECTS = range(300, 400)
_RETRY_AFTER = re.compile("[0-9]{1,6}")
_SOURCE = re.compile(rb"[\x21-\x7e]{1,200}")


@dataclass(frozen=True, slots=True)
class Taken:
    """It was taken."""


@dataclass(frozen=True, slots=True)
class Refused:
    """It will never be taken."""

    why: str


@dataclass(frozen=True, slots=True)
class Later:
    """It was not taken now. `seconds`: when the other side wants to be asked again."""

    why: str
    seconds: float | None = None


Answer = Taken | Refused | Later


@dataclass(frozen=True, slots=True)
class Event:
    """An alert to be sent, or that it was withdrawn: the attributes of a CloudEvent, and JSON."""

    attributes: dict[str, str]
    data: bytes

    @classmethod
    def of(cls, message: Message, said: Alert | Withdrawn) -> Event:
        """The event of a message of the topic `alerts`."""
        source = dict(message.headers).get("ce_source", b"")
        at = said.withdrawn_at if isinstance(said, Withdrawn) else said.detected_at
        attributes = {
            "specversion": "1.0",
            "id": _attribute(said.id),
            "type": event_type(said.kind),
            "source": source.decode("ascii") if _SOURCE.fullmatch(source) else "/reusewatch",
            "time": str(msgspec.to_builtins(at)),
        }
        return cls(attributes, message.value or msgspec.json.encode(said))

    def structured(self) -> bytes:
        """Attributes and alert as one JSON object."""
        whole = {**self.attributes, "datacontenttype": "application/json"}
        return msgspec.json.encode({**whole, "data": msgspec.Raw(self.data)})


def _attribute(text: str) -> str:
    # Nobody holds a stranger's message to what an id looks like: a line end would be a header.
    return quote(text, safe="")[:200]


class Delivery(Protocol):
    """Sends one event at a time; never raises for what the other side does."""

    name: str

    def send(self, event: Event) -> Answer:
        """What became of it."""


class Webhook:
    """An HTTP address that alerts are posted to; a connection for each, none waits for long."""

    def __init__(self, url: str, *, seconds: float = SECONDS) -> None:
        """Raises ValueError where the URL can be no webhook."""
        parts = urlsplit(url)
        port = parts.port  # raises where it is no number
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("http://HOST/… or https://HOST/… is expected")
        if parts.username is not None or parts.password is not None:
            raise ValueError("no name or password can stand in it: put a secret into its path")
        if not re.fullmatch(r"[\x21-\x7e]*", url):
            raise ValueError("white space and letters beyond ASCII are percent-encoded in URLs")
        self._host, self._port = parts.hostname, port
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._seconds = seconds
        # Paths of webhooks are secrets: no line for people has more than this.
        self.name = f"{parts.scheme}://{parts.netloc}/…"

    def send(self, event: Event) -> Answer:
        """Post it."""
        connection = self._connection()
        try:
            connection.connect()
            with _at_most(self._seconds, connection.sock):
                connection.request("POST", self._target, event.structured(), _headers(event))
                return _answer(connection.getresponse())
        except (OSError, http.client.HTTPException, ValueError) as error:
            return Later(f"{type(error).__name__}: {error}"[:200])
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=self._seconds)
        return http.client.HTTPSConnection(
            self._host, self._port, timeout=self._seconds, context=self._tls
        )


def _headers(event: Event) -> dict[str, str]:
    attributes = {f"ce-{name}": value for name, value in event.attributes.items()}
    return {
        "Content-Type": "application/cloudevents+json; charset=utf-8",
        "User-Agent": "reusewatch",
        **attributes,
    }


@contextmanager
def _at_most(seconds: float, opened: socket.socket) -> Iterator[None]:
    """Cut it off then: a time-out of its own begins anew with each byte, and a server may drip."""

    def cut() -> None:
        with suppress(OSError):
            opened.shutdown(socket.SHUT_RDWR)

    timer = Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _answer(response: http.client.HTTPResponse) -> Answer:
    status = response.status
    if status in _SUCCESS:
        return Taken()
    if status in _LATER or status >= 500:
        wanted = response.getheader("Retry-After", "")
        seconds = float(wanted) if _RETRY_AFTER.fullmatch(wanted) else None
        return Later(f"answered {status}", seconds)
    if status in _REDIRECTS:
        return Refused(f"answered {status}: redirects are not followed")
    return Refused(f"answered {status}")


class Command:
    """A command that is started for each alert and reads it, as JSON, on its standard input."""

    def __init__(self, text: str, *, seconds: float = SECONDS) -> None:
        """Raises ValueError where there is no such command."""
        self._arguments = shlex.split(text)
        if not self._arguments or shutil.which(self._arguments[0]) is None:
            raise ValueError("there is no such command; no shell reads it, so name a program")
        self._seconds = seconds
        self.name = self._arguments[0]

    def send(self, event: Event) -> Answer:
        """Run it."""
        try:
            # A session of its own: Ctrl-C is for us, and the alert in hand is finished.
            process = subprocess.Popen(  # noqa: S603 - the operator's own, and no shell
                self._arguments, stdin=subprocess.PIPE, start_new_session=True, env=of_the_user()
            )
        except OSError as error:
            return Later(f"cannot be started: {error.strerror or error}")
        try:
            # A line of its own: what appends it to a file makes JSON lines.
            process.communicate(event.data + b"\n", timeout=self._seconds)
        except subprocess.TimeoutExpired:
            _kill(process)
            return Later(f"took longer than {self._seconds:g} s")
        except BaseException:
            _kill(process)
            raise
        if process.returncode == 0:
            return Taken()
        why = f"ended with {process.returncode}"
        return Refused(why) if process.returncode == REFUSES else Later(why)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # what it started, too
    process.wait()
