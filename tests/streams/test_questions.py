"""Questions to live state: over HTTP between two batches, and from the last snapshot."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from urllib.request import urlopen

import pytest

from reusewatch.streams.bus import Unreachable
from reusewatch.streams.questions import (
    BadQuestion,
    Busy,
    Desk,
    Parameters,
    Rows,
    Unanswered,
    number,
)
from reusewatch.streams.running import serving, topology
from reusewatch.streams.running.asking import Ask
from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.running.serving import Health
from reusewatch.streams.settings import Settings
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.stages.snapshot import Snapshots
from tests.pages import SCHEME
from tests.streams.running.asked import no_prefixes


class Counting(IndexStage):
    """A stage that can be asked how many rows it has."""

    def answer(self, name: str, parameters: Parameters) -> Rows:
        """`rows`, `times` over."""
        if name != "rows":
            raise BadQuestion(f"{name}: there is rows")
        return [{"rows": self.rows()}] * number(parameters, "times", 1)


class Served:
    """What Health watches: a desk served by a thread of its own."""

    def __init__(self, stage: Counting) -> None:
        self.desk = Desk()
        self.is_ready = True
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(stage,))
        self._thread.start()

    def _run(self, stage: Counting) -> None:
        while not self._ended.wait(0.01):
            self.desk.serve(stage.answer)

    def trouble(self) -> str | None:
        return None

    def ready(self) -> bool:
        return self.is_ready

    def ask(self, name: str, parameters: Parameters) -> Future[Rows]:
        return self.desk.ask(name, parameters)

    def close(self) -> None:
        self._ended.set()
        self._thread.join()


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Counting:
    from tests.streams.stages.making import NOW

    made = Counting(SCHEME, clock=lambda: NOW, max_pages=10)
    monkeypatch.setattr(topology, "STATEFUL", {"index": lambda *_: made})
    return made


@pytest.fixture
def served(stage: Counting) -> Iterator[Served]:
    made = Served(stage)
    yield made
    made.close()


@pytest.fixture
def address(served: Served) -> Iterator[str]:
    health = Health(Meters("index", SCHEME.name), "127.0.0.1", 0, served, prefixes=no_prefixes())
    yield f"127.0.0.1:{health.port}"
    health.close()


def test_a_worker_answers_over_http(address: str) -> None:
    found = Ask(Settings(bus="kafka://127.0.0.1:1"), "index", address)("rows", {"times": "2"})
    assert found.answers == [{"rows": 0}] * 2


@pytest.mark.parametrize("question", [("nothing", {}), ("rows", {"times": "none"})])
def test_what_cannot_be_asked_is_told(address: str, question: tuple[str, Parameters]) -> None:
    with pytest.raises(BadQuestion, match=r"there is rows|times=none"):
        Ask(Settings(), "index", f"http://{address}/")(*question)


def test_a_state_that_is_half_rebuilt_does_not_answer(served: Served, address: str) -> None:
    served.is_ready = False
    with pytest.raises(Unanswered, match="not ready"):
        Ask(Settings(), "index", address)("rows", {})


ASKED_WRONG = {"clusters": "index", "similar": "index", "neighborhoods": "neighborhoods"}


@pytest.mark.parametrize(("question", "stage"), ASKED_WRONG.items())
def test_the_wrong_worker_names_the_stage_to_ask(question: str, stage: str) -> None:
    settings = Settings()
    wrong = (
        topology.neighborhoods(settings)
        if stage == "index"
        else topology.stateful("index", settings)
    )
    with pytest.raises(BadQuestion, match=f"{question}: .* the stage {stage} answers it.*--at"):
        wrong.answer(question, {})


def test_a_person_may_ask_by_address(address: str) -> None:
    with urlopen(f"http://{address}/questions/rows?times=3") as response:
        assert json.load(response)["answers"] == [{"rows": 0}] * 3


def test_a_question_without_end_is_refused(address: str) -> None:
    connection = HTTPConnection(address, timeout=10)
    connection.putrequest("POST", "/questions/rows")
    connection.putheader("Content-Length", str(1 << 40))
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


def answered(address: str, method: str, **headers: str) -> tuple[int, str]:
    """What the port says to a request with these headers."""
    connection = HTTPConnection(address, timeout=10)
    connection.putrequest(method, "/questions/rows", skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    response = connection.getresponse()
    connection.close()
    return response.status, response.headers.get("Retry-After", "")


@pytest.mark.parametrize(
    "headers",
    [{"Host": "led-here.example"}, {"Origin": "http://evil.example"},
     {"Sec_Fetch_Site": "cross-site"}],
)  # fmt: skip
def test_a_page_in_a_browser_may_not_ask(address: str, headers: dict[str, str]) -> None:
    assert answered(address, "GET", **headers)[0] == 403
    assert answered(address, "POST", Content_Length="0", **headers)[0] == 403


@pytest.mark.parametrize("length", ["9" * 5000, "-1", "soon", ""])
def test_a_length_that_is_none_is_refused_without_a_traceback(
    address: str, length: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert answered(address, "POST", Content_Length=length)[0] == 400
    assert capfd.readouterr().err == ""


def test_who_is_not_answered_is_told_when_to_come_again(
    address: str, monkeypatch: pytest.MonkeyPatch, served: Served
) -> None:
    def busy(name: str, parameters: Parameters) -> Future[Rows]:
        raise Busy("rows: many wait; ask again later")

    monkeypatch.setattr(served, "ask", busy)
    assert answered(address, "GET") == (503, "5")


def test_nobody_at_the_address_is_unreachable() -> None:
    with pytest.raises(Unreachable, match="--at"):
        Ask(Settings(), "index", "127.0.0.1:1")("rows", {})


def test_without_a_worker_the_last_snapshot_answers(stage: Counting, tmp_path: Path) -> None:
    settings = Settings(bus=f"local:{tmp_path}", hash_key=f"{SCHEME.key:#x}")
    with pytest.raises(Unreachable, match="holds no state"):
        Ask(settings, "index")("rows", {})
    path = Snapshots(tmp_path / "snapshots", "index", SCHEME).save(stage.save(), {})
    found = Ask(settings, "index")("rows", {})
    assert found.answers == [{"rows": 0}]
    assert found.as_of.timestamp() == pytest.approx(path.stat().st_mtime)


def test_a_question_that_nobody_comes_to_does_not_wait_for_ever(
    address: str, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk()
    monkeypatch.setattr(served, "ask", desk.ask)
    monkeypatch.setattr(serving, "WAIT_SECONDS", 0.01)
    with pytest.raises(Unanswered, match="no answer within"):
        Ask(Settings(), "index", address)("rows", {})
    desk.serve(lambda name, parameters: pytest.fail("it was given up"))


def test_a_worker_that_stops_refuses_the_questions_that_wait(
    address: str, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, asked = Desk(), threading.Event()

    def ask(name: str, parameters: Parameters) -> Future[Rows]:
        answer = desk.ask(name, parameters)
        asked.set()
        return answer

    monkeypatch.setattr(served, "ask", ask)
    with ThreadPoolExecutor(1) as asker:
        waiting = asker.submit(Ask(Settings(), "index", address), "rows", {})
        assert asked.wait(30)
        desk.close()
        with pytest.raises(Unanswered, match="the worker stops"):
            waiting.result(30)
    with pytest.raises(Unanswered, match="the worker stops"):
        Ask(Settings(), "index", address)("rows", {})
