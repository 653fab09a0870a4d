"""Questions to a worker's port: requests as they come off a socket, to the end of the answer.

Whatever is sent, there is an answer of a status that is declared, none at all where the client said
nothing, and no traceback; the state is as it was. The first byte says which stage is asked.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from urllib.parse import quote_plus

import msgspec

from reusewatch.streams.local import LocalBus
from reusewatch.streams.questions import Parameters, Rows
from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.running.prefix_answers import PrefixAnswers
from reusewatch.streams.running.serving import _handler
from reusewatch.streams.stages.stage import Stage
from reusewatch.streams.wire import alert_message
from tests.fuzzing import blocks, changes
from tests.fuzzing.wire import HOOD
from tests.pages import SCHEME, Fetch
from tests.streams.stages.making import as_message, blocks_of

_STATUSES = {200, 304, 400, 403, 404, 413, 414, 431, 501, 503, 505}
_PATHS = ("/questions/clusters", "/questions/similar", "/questions/neighborhoods", "/questions/",
          "/prefixes", "/metrics", "/healthz", "/readyz", "//", "*", "http://e.test/")  # fmt: skip
_HEADERS = ("Origin", "Sec-Fetch-Site", "Content-Length", "Expect", "Connection", "If-None-Match")
_PARAMETERS = ("top", "url", "files", "under", "threshold", "terms", "weights", "supershingles8",
               "simhash", "format")  # fmt: skip
_VALUES = (*changes.TEXTS, "1", "10", "1000", "1001", "0.5", "nan", "inf", "1e400", "\u0661",
           "http://www.site0.example/page/0", "0.5,0.5", "1,2", ",",
           "ffffffffffffffff," * 5 + "0", "1" * 17, ",".join(["7"] * 9000))  # fmt: skip


class _Wire:
    """A connection whose client has sent everything at once."""

    def __init__(self, sent: bytes) -> None:
        self._sent = io.BytesIO(sent)
        self.answered = io.BytesIO()

    def makefile(self, mode: str, buffering: int = -1) -> io.BytesIO:
        return self._sent

    def sendall(self, data: bytes) -> None:
        self.answered.write(data)

    def settimeout(self, seconds: float) -> None: ...


class _Watched:
    """A worker of one stage, that is ready."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def trouble(self) -> str | None:
        return None

    def ready(self) -> bool:
        return True

    def ask(self, name: str, parameters: Parameters) -> Rows:
        return self._stage.answer(name, parameters)


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
    found.answer({}, ())
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
    wire, said = _Wire(data[1:]), io.StringIO()
    handler = _handler(_meters(), _Watched(stage), _prefixes(), ("index.internal",))
    with contextlib.redirect_stderr(said):
        handler(wire, ("127.0.0.1", 1), None)  # type: ignore[arg-type]
    assert not said.getvalue()
    assert stage.rows() == before
    answer = wire.answered.getvalue()
    if not answer:
        return
    head, _, body = answer.partition(b"\r\n\r\n")
    first = head.split(b"\r\n")[0].split()
    if not first or not first[0].startswith(b"HTTP/1."):
        return  # HTTP/0.9 has no head
    status = int(first[1])
    assert status in _STATUSES, status
    if status == 200 and b"application/json" in head:
        assert "answers" in msgspec.json.decode(body)
