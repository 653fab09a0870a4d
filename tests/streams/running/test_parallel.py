"""Several processes: the order of the source, the death of one, and the end of all."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.util import get_temp_dir
from pathlib import Path

import pytest

from reusewatch.streams.bus import Message, Outgoing
from reusewatch.streams.dead_letter_limit import WorkerStopped
from reusewatch.streams.questions import Parameters, Rows, no_questions
from reusewatch.streams.records import Origin, Page
from reusewatch.streams.running.fork_server import DIRECTORY, load_ahead, socket_in, started
from reusewatch.streams.running.in_process import InProcess
from reusewatch.streams.running.parallel import ProcessPool, Runner
from reusewatch.streams.stages.evidencing import Allowance, Making
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.stages.snapshot import State
from reusewatch.streams.stages.stage import Condition, Output
from tests.command import ROOT
from tests.end_to_end.runs import command_line, wait_until
from tests.pages import SCHEME
from tests.streams.stages.making import as_message, zero
from tests.streams.stages.test_near_order import alerts_of, page, said, stage_of


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that are started find the stages of this file, however pytest was started."""
    monkeypatch.syspath_prepend(ROOT)


@dataclass(frozen=True)
class Echo:
    """Sends each message on, with the process that did; dies of some."""

    lives: Path
    name: str = "fingerprint"
    reads: tuple[str, ...] = ("pages",)
    sole: bool = False

    def process(self, messages: Sequence[Message]) -> Output:
        for message in messages:
            if message.key == "poison":
                os.kill(os.getpid(), signal.SIGKILL)
            if message.key == "once" and not self.lives.exists():
                self.lives.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            if message.key == "mistake":
                raise ZeroDivisionError("ours")
        pid = b"%d" % os.getpid()
        headers = (("pid", pid), ("parent", b"%d" % os.getppid()))
        sent = [Outgoing("pages", m.key, m.value, headers) for m in messages]
        return Output(sent, len(sent))

    def rows(self) -> int:
        return 0

    def nbytes(self) -> int:
        return 0

    def condition(self) -> Condition:
        return Condition()

    def save(self) -> State | None:
        return None

    def restore(self, state: State | None, *, question: str | None = None) -> None: ...

    def answer(self, name: str, parameters: Parameters) -> Rows:
        return no_questions(name, parameters)


def batch(*keys: str) -> list[Message]:
    return [as_message(Outgoing("pages", key, b"x" * 300_000), n) for n, key in enumerate(keys)]


def run(runner: Runner, batches: list[list[Message]]) -> list[Outgoing]:
    try:
        outputs = [output for one in batches for output in runner.submit(one)]
        outputs += runner.drain()
        return [message for output in outputs for message in output.messages]
    finally:
        runner.close()


@pytest.fixture
def beside() -> Iterator[None]:
    """Another thread: no process is forked from this one."""
    leave = threading.Event()
    other = threading.Thread(target=leave.wait)
    other.start()
    yield
    leave.set()
    other.join()


@pytest.mark.usefixtures("beside")
def test_beside_threads_processes_are_started_by_another_one(tmp_path: Path) -> None:
    keys = [*map(str, range(6)), "once", *map(str, range(6, 12))]
    sent = run(ProcessPool(Echo(tmp_path / "life"), 2), [batch(key) for key in keys])
    assert [m.key for m in sent] == keys
    assert str(os.getpid()) not in {dict(m.headers)["parent"].decode() for m in sent}


def test_processes_are_forked_from_this_one_and_replaced_by_another(tmp_path: Path) -> None:
    keys = [*map(str, range(6)), "once", *map(str, range(6, 40))]
    sent = run(ProcessPool(Echo(tmp_path / "life"), 1), [batch(key) for key in keys])
    parents = [int(dict(m.headers)["parent"]) for m in sent]
    assert set(parents[:6]) == {os.getpid()}
    assert os.getpid() not in parents[6:]


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_outputs_come_in_the_order_of_the_batches(tmp_path: Path, workers: int) -> None:
    batches = [batch(str(n), f"{n}b") for n in range(20)]
    stage = Echo(tmp_path / "life")
    runner = InProcess(stage) if workers == 1 else ProcessPool(stage, workers)
    sent = run(runner, batches)
    assert [m.key for m in sent] == [m.key for one in batches for m in one]
    pids = {int(dict(m.headers)["pid"]) for m in sent}
    assert pids == {os.getpid()} if workers == 1 else 1 <= len(pids) <= workers
    # Nobody stays behind.
    wait_until(lambda: not any(command_line(pid) for pid in pids - {os.getpid()}))


def test_a_process_that_dies_is_replaced_and_its_batch_done_again(tmp_path: Path) -> None:
    keys = [str(n) for n in range(6)] + ["once"] + [str(n) for n in range(6, 12)]
    sent = run(ProcessPool(Echo(tmp_path / "life"), 2), [batch(key) for key in keys])
    assert [m.key for m in sent] == keys


def test_without_the_process_that_others_are_forked_from_they_are_started_anyway() -> None:
    load_ahead()
    # As where a cleaner of old files was there.
    socket = Path(forkserver._forkserver._forkserver_address)
    away = socket.rename(socket.with_suffix(".away"))
    try:
        process = started(os.getpid, ())
        process.join()
        assert process.exitcode == 0
    finally:
        away.rename(socket)


def test_what_a_killed_process_left_is_removed_at_the_next_start(tmp_path: Path) -> None:
    left = tmp_path / DIRECTORY / "pymp-left"
    left.mkdir(parents=True)
    (left / "listener").touch()
    for _ in range(2):
        socket_in(tmp_path)
        assert not left.exists()
    assert Path(get_temp_dir()).exists()


def test_a_name_that_is_too_long_for_a_socket_is_not_taken(tmp_path: Path) -> None:
    socket_in(tmp_path / ("x" * 120))
    assert list(tmp_path.iterdir()) == []


def test_a_batch_that_kills_every_process_stops_the_worker_by_name(tmp_path: Path) -> None:
    with pytest.raises(WorkerStopped, match=r"died 3 times over the batch that begins at poison"):
        run(ProcessPool(Echo(tmp_path / "life"), 2), [batch("a"), batch("poison"), batch("b")])


def test_a_mistake_in_a_process_is_shown_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"(?s)in a worker process.*ZeroDivisionError: ours"):
        run(ProcessPool(Echo(tmp_path / "life"), 2), [batch("a"), batch("mistake")])


def test_closed_in_the_middle_it_does_not_wait(tmp_path: Path) -> None:
    pool = ProcessPool(Echo(tmp_path / "life"), 2)
    for one in [batch(str(n)) for n in range(4)]:
        assert list(pool.submit(one)) == []
    pool.close()


def page_near(origin: Origin) -> Page:
    return page(origin.offset or 0, origin.offset or 0, origin.offset or 0)


def test_the_processes_make_the_same_evidence_as_this_one() -> None:
    pages = [page_near(Origin(source="near", offset=text)) for text in (0, 1, 2, 4)]
    alerts = alerts_of(said(stage_of(Rules()), pages))
    wanted = Making(SCHEME, page_near).make(alerts, Allowance(2, 1 << 20))
    assert [bool(one.evidence) for one in wanted.alerts] == [
        True,
        True,
        *[False] * (len(alerts) - 2),
    ]
    pool = ProcessPool(FingerprintStage(SCHEME, zero, read_origin=page_near), 2)
    try:
        assert pool.evidence(alerts, Allowance(2, 1 << 20)).result() == wanted
    finally:
        pool.close()
