"""Questions are answered between batches, and never instead of them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from reusewatch.streams.questions import (
    MOST_ROWS,
    MOST_WAITING,
    SHARE,
    BadQuestion,
    Busy,
    Desk,
    Parameters,
    Rows,
    number,
)
from tests.streams.interrupted import is_interrupted

BATCH_SECONDS = 0.25
QUESTION_SECONDS = 1.0


class Worker:
    """A worker on a clock of its own: a batch takes a quarter of a second, a question one."""

    def __init__(self) -> None:
        self.now = 0.0
        self.batches = self.answers = 0
        self.desk = Desk(clock=lambda: self.now)

    def answer(self, name: str, parameters: Parameters) -> Rows:
        self.now += QUESTION_SECONDS
        self.answers += 1
        return []

    def step(self) -> None:
        self.desk.serve(self.answer)
        self.now += BATCH_SECONDS
        self.batches += 1


def wait(desk: Desk, count: int) -> None:
    """Until so many questions wait: other threads put them there."""
    reached = threading.Event()
    while desk._waiting.qsize() < count:
        reached.wait(0.001)


def test_who_asks_without_pause_gets_a_share_of_the_time() -> None:
    """Six askers, each with its next question at once: as much as stopped all work before."""
    worker, seconds = Worker(), 400.0
    with ThreadPoolExecutor(6) as askers:
        ended = threading.Event()

        def ask() -> int:
            count = 0
            while not ended.is_set():
                worker.desk.ask("clusters", {}).result()
                count += 1
            return count

        asked = [askers.submit(ask) for _ in range(6)]
        while worker.now < seconds:
            wait(worker.desk, 6)
            worker.step()
        ended.set()
        while not all(one.done() for one in asked):
            worker.desk.serve(worker.answer, idle=True)
    assert sum(one.result() for one in asked) == worker.answers
    spent = worker.batches * BATCH_SECONDS
    assert spent > seconds * (1 - SHARE) * 0.95
    assert worker.answers > seconds * SHARE * 0.8


def test_an_idle_worker_answers_all_that_waits_and_no_more() -> None:
    worker = Worker()
    asked = [worker.desk.ask("rows", {}) for _ in range(5)]
    worker.desk.serve(worker.answer, idle=True)
    assert [one.result(0) for one in asked] == [[]] * 5
    assert worker.answers == 5


def test_a_queue_that_is_full_refuses_at_once() -> None:
    desk = Desk()
    asked = [desk.ask("rows", {}) for _ in range(MOST_WAITING)]
    with pytest.raises(Busy, match="ask again later"):
        desk.ask("rows", {})
    desk.serve(lambda name, parameters: [], idle=True)
    assert [one.result(0) for one in asked] == [[]] * MOST_WAITING


@pytest.mark.parametrize("text", ["0", "-1", "", "x", "9" * 10, "9" * 5000, "\u0661"])
def test_a_number_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(BadQuestion, match="from 1 to 999999999"):
        number({"top": text}, "top", 20)


def test_a_worker_refuses_more_rows_than_it_answers_with() -> None:
    with pytest.raises(BadQuestion, match=f"at most {MOST_ROWS} rows"):
        Desk().ask("clusters", {"top": str(MOST_ROWS + 1)})


@pytest.mark.timeout(60)
def test_no_interrupt_of_who_answers_makes_who_asked_wait_for_ever() -> None:
    at, came = 0, True
    while came:
        at += 1
        worker = Worker()
        answer = worker.desk.ask("clusters", {})
        came = is_interrupted(at, lambda: worker.desk.serve(worker.answer, idle=True))  # noqa: B023
        came |= is_interrupted(at, worker.desk.close)
        with ThreadPoolExecutor(1) as asker:
            asker.submit(answer.cancel).result()
    assert at > 10
