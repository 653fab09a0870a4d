"""A port under attack: clients that are slow, that hang up, that send or ask without end."""

from __future__ import annotations

import signal
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router

from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.running.port import Limits, Port
from reusewatch.streams.running.serving import Health
from tests.command import ended, start
from tests.streams.running.asked import Idle, no_prefixes

SLOW_CLIENTS = 300
PROBES = 100
HUGE = b"x" * (16 << 20)  # no socket holds it
HEAD = b"GET /huge HTTP/1.1\r\nHost: localhost\r\n\r\n"
BODY = b"POST /questions/rows HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = BODY + b"Transfer-Encoding: chunked\r\n\r\n"
QUICK = Limits(request_seconds=0.3, answer_seconds=0.3)
PATIENT = Limits(request_seconds=600, answer_seconds=600, clients=8)


@pytest.fixture
def quiet(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing is written, and nothing is logged: without a handler a log goes to stderr."""
    yield
    assert (capfd.readouterr(), caplog.get_records("call")) == (("", ""), [])


@contextmanager
def served(limits: Limits = Limits()) -> Iterator[int]:  # noqa: B008 - frozen
    """A worker's port."""
    health = Health(
        Meters("index", "s"), "127.0.0.1", 0, Idle(), prefixes=no_prefixes(), limits=limits
    )
    try:
        yield health.port
    finally:
        health.close()


@contextmanager
def huge(limits: Limits) -> Iterator[int]:
    """A port with an answer that is not delivered before the client reads."""

    async def answer(request: Request) -> Response:
        return Response(HUGE)

    async def well(request: Request) -> Response:
        return Response(b"ok")

    app = Router([Route("/huge", answer), Route("/healthz", well)])
    port = Port(app, "127.0.0.1", 0, limits)
    try:
        yield port.number
    finally:
        port.close()


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def probe(port: int) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/healthz")
    status = connection.getresponse().status
    connection.close()
    return status


def wait_until_hung_up(client: socket.socket) -> None:
    """Read what is left, to the end."""
    with suppress(ConnectionError):
        while client.recv(1 << 16):
            pass


@contextmanager
def dripping(clients: list[socket.socket]) -> Iterator[None]:
    """Each of them sends a byte now and then, which no pause between two bytes is too long for."""
    over = threading.Event()

    def drip() -> None:
        while not over.wait(0.05):
            for client in clients:
                with suppress(OSError):
                    client.send(b"x")

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_probes_are_answered_while_slow_clients_hold_on() -> None:
    with served() as port, ExitStack() as stack:
        clients = [stack.enter_context(connect(port)) for _ in range(SLOW_CLIENTS)]
        with dripping(clients):
            assert {probe(port) for _ in range(PROBES)} == {200}


@pytest.mark.parametrize(
    "begun",
    [b"", b"GET /", BODY + b"Content-Length: 100000\r\n\r\n"],
    ids=["nothing", "head", "body"],
)
def test_a_request_has_a_deadline_however_its_bytes_come(begun: bytes) -> None:
    with served(QUICK) as port, connect(port) as client:
        client.send(begun)
        with dripping([client]):
            wait_until_hung_up(client)


def test_whoever_does_not_read_an_answer_is_hung_up_on(quiet: None) -> None:
    with huge(QUICK) as port, connect(port) as client:
        client.send(HEAD)
        with suppress(ConnectionError):
            while True:  # reading would take the answer
                client.sendall(b"\r\n")


def test_an_answer_may_take_longer_than_a_request() -> None:
    limits = Limits(request_seconds=2, answer_seconds=60)
    with huge(limits) as port, connect(port) as client:
        client.send(HEAD)
        left, slow_until = len(HUGE), monotonic() + 3
        while monotonic() < slow_until and client.recv(1):
            left -= 1
        while left > 0 and (part := client.recv(1 << 20)):
            left -= len(part)
        assert left <= 0


def test_clients_who_hold_all_places_make_room_for_a_new_one(quiet: None) -> None:
    with huge(PATIENT) as port, ExitStack() as stack:
        for sent in (HEAD, b"GET /", HEAD):
            for _ in range(PATIENT.clients):
                stack.enter_context(connect(port)).send(sent)
            assert probe(port) == 200


def test_the_oldest_client_goes_first() -> None:
    with served(PATIENT) as port, ExitStack() as stack:
        clients = [stack.enter_context(connect(port)) for _ in range(PATIENT.clients + 1)]
        wait_until_hung_up(clients[0])
        for client in clients[1:]:
            client.sendall(HEAD)
            assert client.recv(12) == b"HTTP/1.1 404"


def reset(client: socket.socket) -> None:
    """Close it as a process does that is killed with unread data."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


@pytest.mark.parametrize("leave", [socket.socket.close, reset])
@pytest.mark.parametrize("sent", [b"GET", BODY + b"Content-Length: 9\r\n\r\nx", HEAD, HEAD * 20],
                         ids=["head", "body", "answer", "answers"])  # fmt: skip
def test_whoever_hangs_up_leaves_no_traceback(
    sent: bytes, leave: Callable[[socket.socket], None], quiet: None
) -> None:
    with huge(Limits()) as port:
        for _ in range(20):
            client = connect(port)
            client.send(sent)
            if sent.startswith(HEAD):
                client.recv(1)
            leave(client)
        assert probe(port) == 200
    with served() as port:
        client = connect(port)
        client.send(sent)
        leave(client)
        assert probe(port) == 200


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /" + b"x" * 70_000, 400),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000, 400),
        (b"\x16\x03\x01\x02\x00\x01" * 100, 400),
        (BODY + b"Content-Length: 2000000\r\n\r\n", 413),
        (CHUNKED + b"8000\r\n%b\r\n" % (b"x" * 0x8000) * 40, 413),
        (CHUNKED + b"what?\r\n", 400),
    ],
    ids=["address", "head", "no HTTP", "length", "no end", "no chunk"],
)  # fmt: skip
def test_what_is_too_long_or_no_request_is_refused(sent: bytes, status: int, quiet: None) -> None:
    with served() as port, connect(port) as client:
        with suppress(ConnectionError):  # refused before all of it was sent
            client.sendall(sent)
        assert client.recv(12) == b"HTTP/1.1 %d" % status
        assert probe(port) == 200


def test_a_body_that_goes_wrong_after_its_answer_leaves_no_traceback(
    quiet: None,
) -> None:
    with served() as port, connect(port) as client:
        client.send(b"POST /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 405")
        client.send(b"no chunk\r\n")
        wait_until_hung_up(client)


@pytest.mark.parametrize("path", ["healthz", "metrics"])
def test_a_request_that_is_wrong_while_it_is_answered_leaves_no_traceback(
    path: str, quiet: None
) -> None:
    with served() as port:
        for _ in range(20):
            with connect(port) as client:
                client.send(
                    b"GET /%b HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: localhost\r\n\r\n"
                    b"zz\r\n" % path.encode()
                )
                assert client.recv(1 << 16).startswith(b"HTTP/1.1 400")
                wait_until_hung_up(client)
        assert probe(port) == 200


def test_a_flood_of_requests_on_one_connection_holds_nobody_up() -> None:
    flood = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20_000

    def send(port: int) -> None:
        with connect(port) as client, suppress(OSError):
            client.sendall(flood)

    with served(Limits(answer_seconds=3)) as port, ThreadPoolExecutor(4) as senders:
        sent = [senders.submit(send, port) for _ in range(4)]
        assert {probe(port) for _ in range(PROBES)} == {200}
        for one in sent:
            one.result(60)


def test_answers_name_no_program() -> None:
    with served() as port:
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/healthz")
        assert connection.getresponse().getheader("Server") is None
        connection.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_ends_while_clients_are_connected(number: int, tmp_path: Path) -> None:
    (tmp_path / "crawl").mkdir()
    replay = ("replay", "--follow", "crawl", "--bus", "local:bus", "--metrics-port", "0")
    with start(*replay, cwd=tmp_path) as process, ExitStack() as stack:
        assert process.stderr is not None
        port = int(process.stderr.readline().split(":")[-1].split("/")[0])
        for sent in (b"", b"GET /", BODY + b"Content-Length: 9\r\n\r\n"):
            for _ in range(20):
                stack.enter_context(connect(port)).send(sent)
        assert probe(port) == 200
        process.send_signal(number)
        done = ended(process)
    assert (done.code, "Traceback" in done.err) == (130, False)
