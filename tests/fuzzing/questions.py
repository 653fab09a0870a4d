"""Questions to a worker's port: requests as they come off a socket, to the end of the answer.

Whatever is sent, there is an answer of a status that is declared, none at all where the client said
nothing, and no traceback; the state is as it was. The first byte says which stage is asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
from collections.abc import Iterator
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from urllib.parse import quote_plus

import msgspec
from starlette.applications import Starlette
from uvicorn.server import ServerState

from reusewatch.streams.local import LocalBus
from reusewatch.streams.questions import Parameters, Rows
from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.running.port import Connection, Limits, Served
from reusewatch.streams.running.prefix_answers import PrefixAnswers
from reusewatch.streams.running.serving import endpoints
from reusewatch.streams.stages.stage import Stage
from reusewatch.streams.wire import alert_message
from tests.fuzzing import blocks, changes
from tests.fuzzing.wire import HOOD
from tests.pages import SCHEME, Fetch
from tests.streams.stages.making import as_message, blocks_of

_STATUSES = {100, 200, 304, 400, 403, 404, 405, 413, 503}
_PATHS = ("/questions/clusters", "/questions/similar", "/questions/neighborhoods", "/questions/",
          "/prefixes", "/metrics", "/healthz", "/readyz", "//", "*", "http://e.test/")  # fmt: skip
_HEADERS = ("Origin", "Sec-Fetch-Site", "Content-Length", "Expect", "Connection", "If-None-Match")
_PARAMETERS = ("top", "url", "files", "under", "threshold", "terms", "weights", "supershingles8",
               "simhash", "format")  # fmt: skip
_VALUES = (*changes.TEXTS, "1", "10", "1000", "1001", "0.5", "nan", "inf", "1e400", "\u0661",
           "http://www.site0.example/page/0", "0.5,0.5", "1,2", ",",
           "ffffffffffffffff," * 5 + "0", "1" * 17, ",".join(["7"] * 9000))  # fmt: skip


class _Wire(asyncio.Transport):
    """A connection whose client has sent everything at once."""

    def __init__(self) -> None:
        super().__init__()
        self.answered = b""
        self._closing = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.answered += data

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._closing = True

    abort = close

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


async def _answers(app: Starlette, sent: bytes) -> bytes:
    """What the port writes to a client that sends this and goes."""
    state, wire = ServerState(), _Wire()
    connection = Connection(Served(app, Limits()), state, {})
    connection.connection_made(wire)
    connection.data_received(sent)
    while state.tasks and not connection.cycle.more_body:
        await asyncio.wait(state.tasks)
    connection.connection_lost(None)
    if state.tasks:
        await asyncio.wait(state.tasks)
    return wire.answered


class _Watched:
    """A worker of one stage, that is ready."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def trouble(self) -> str | None:
        return None

    def ready(self) -> bool:
        return True

    def ask(self, name: str, parameters: Parameters) -> Future[Rows]:
        answer: Future[Rows] = Future()
        answer.set_result(self._stage.answer(name, parameters))
        return answer


@cache
def _asked() -> list[Stage]:
    found = blocks.stages()
    fetches = [Fetch(0, 0, 5, 1), Fetch(1, 1, 9, 1), Fetch(3, 0, 3, 4)]
    for stage in found:
        stage.process([as_message(sent) for sent in blocks_of(fetches)])
    return found


@cache
def _meters() -> Meters:
    return Meters("index", SCHEME.name)


@cache
def _prefixes() -> PrefixAnswers:
    bus = LocalBus(Path(mkdtemp()))
    outlet = bus.outlet()
    outlet.send(alert_message(HOOD))
    outlet.close()
    found = PrefixAnswers(lambda stop: bus, print)
    asyncio.run(found.answer({}, ()))
    found.close()
    return found


def request(method: str, target: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    """A request, of the first stage."""
    lines = [f"{method} {target} HTTP/1.1", *(f"{n}: {v}" for n, v in headers.items()), "", ""]
    return b"\0" + "\r\n".join(lines).encode("utf-8", "replace") + body


def seeds() -> Iterator[bytes]:
    """Each question, asked by address and by a body, and what else the port answers."""
    host = {"Host": "127.0.0.1:9462"}
    for path in _PATHS:
        yield request("GET", f"{path}?top=3&url=http://www.site0.example/page/0", host)
        body = b"top=2&terms=1,7&weights=0.5,0.5&supershingles8=1,2,3,4,5,6&simhash=1,2,3,4,5,6"
        yield request("POST", path, {**host, "Content-Length": str(len(body))}, body)
    yield request("GET", "/questions/clusters", {**host, "Origin": "http://evil.example"})


def changed(data: bytes, seed: int) -> bytes:
    """A question of parts that are each strange in some way."""
    random = Random(seed)
    query = "&".join(
        f"{random.choice(_PARAMETERS)}={quote_plus(random.choice(_VALUES), errors='replace')}"
        for _ in range(random.choice([0, 1, 1, 2, 5, 50]))
    )
    headers = {"Host": random.choice(["127.0.0.1", "[::1]:1", "evil.example", *changes.TEXTS[:9]])}
    if random.randrange(3) == 0:
        name = random.choice(
            ["Origin", "Sec-Fetch-Site", "Content-Length", "Expect", "Connection", "If-None-Match"]
        )
        headers[name] = random.choice(_VALUES)
    path, which = random.choice(_PATHS), bytes([random.randrange(3)])
    if random.randrange(2):
        return which + request("GET", f"{path}?{query}", headers)[1:]
    headers.setdefault("Content-Length", str(len(query) + random.choice([0, 0, 0, 7, -1])))
    return which + request("POST", path, headers, query.encode())[1:]


def once(data: bytes) -> None:
    """One connection."""
    stages = _asked()
    stage = stages[(data[:1] or b"\0")[0] % len(stages)]
    before = stage.rows()
    said = io.StringIO()
    app = endpoints(_meters(), _Watched(stage), _prefixes(), ("index.internal",))
    handler = logging.StreamHandler(said)
    logging.getLogger().addHandler(handler)
    with contextlib.redirect_stderr(said):
        answer = asyncio.run(_answers(app, data[1:]))
    logging.getLogger().removeHandler(handler)
    assert not said.getvalue(), said.getvalue()
    assert stage.rows() == before
    if not answer:
        return
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split()[1])
    assert status in _STATUSES, status
    if status == 200 and b"application/json" in head:
        assert "answers" in msgspec.json.decode(body)
