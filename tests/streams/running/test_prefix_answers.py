"""`GET /prefixes`: what a crawl keeps out of, at the port of any worker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from time import monotonic

import pytest
from msgspec.structs import replace

from reusewatch.streams.local import LocalBus
from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.running.prefix_answers import PrefixAnswers
from reusewatch.streams.running.serving import Health
from reusewatch.streams.wire import alert_message, withdrawal
from tests.streams.made_alerts import BAD, bad
from tests.streams.running.asked import Idle

ALERT = replace(bad(), detected_at=datetime.now(UTC))


@pytest.fixture
def bus(tmp_path: Path) -> LocalBus:
    return LocalBus(tmp_path)


@pytest.fixture
def port(bus: LocalBus) -> Iterator[int]:
    prefixes = PrefixAnswers(lambda stop: bus, print)
    health = Health(Meters("index", "s"), "127.0.0.1", 0, Idle(), prefixes=prefixes)
    yield health.port
    health.close()


def get(port: int, path: str, *, method: str = "GET", **headers: str) -> tuple[HTTPResponse, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
    response = connection.getresponse()
    found = response.read().decode()
    connection.close()
    return response, found


def put(bus: LocalBus, message: object) -> None:
    with closing(bus.outlet()) as outlet:
        outlet.send(message)


def test_prefixes_are_told_again_only_when_they_changed(bus: LocalBus, port: int) -> None:
    put(bus, alert_message(ALERT))
    first, text = get(port, "/prefixes")
    assert (first.status, text) == (200, f"{BAD}\n")
    tag = first.headers["ETag"]
    known, text = get(port, "/prefixes", If_None_Match=f'"x", W/{tag}')
    assert (known.status, text, known.headers["Content-Length"]) == (304, "", None)
    put(bus, withdrawal(ALERT.id))
    end = monotonic() + 30
    while (answer := get(port, "/prefixes", If_None_Match=tag))[0].status == 304:
        assert monotonic() < end
    assert answer[1] == ""


def test_who_asks_for_the_head_alone_gets_it(bus: LocalBus, port: int) -> None:
    put(bus, alert_message(ALERT))
    whole, _ = get(port, "/prefixes")
    head, text = get(port, "/prefixes", method="HEAD")
    assert (head.status, text, head.headers["ETag"]) == (200, "", whole.headers["ETag"])
    assert head.headers["Content-Length"] == whole.headers["Content-Length"]
    tag = whole.headers["ETag"]
    assert get(port, "/prefixes", method="HEAD", If_None_Match=tag)[0].status == 304


def test_they_come_in_the_words_of_a_filter(bus: LocalBus, port: int) -> None:
    put(bus, alert_message(ALERT))
    assert get(port, "/prefixes?format=surt")[1] == "-http://(example,bad,)/copies/\n"
    response, text = get(port, "/prefixes?format=poem")
    assert response.status == 400
    assert "there is prefixes, surt" in text


@pytest.mark.parametrize("asked", ["formt=surt", "format=surt&expire=1d", "format="])
def test_what_cannot_be_asked_is_refused(port: int, asked: str) -> None:
    response, text = get(port, f"/prefixes?{asked}")
    assert response.status == 400
    assert ": there is " in text


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
def test_no_page_of_somebody_else_asks(port: int, headers: dict[str, str]) -> None:
    assert get(port, "/prefixes", **headers)[0].status == 403
