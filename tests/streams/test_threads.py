"""Threads beside the main one, which is interrupted at every step."""

from __future__ import annotations

import pytest

from reusewatch.streams.threads import Dropped, Promise, Threads
from tests.streams.interrupted import is_interrupted


def seven() -> int:
    return 7


def broken() -> int:
    raise ZeroDivisionError("ours")


@pytest.mark.timeout(60)
def test_no_interrupt_makes_a_thread_wait_for_ever() -> None:
    at = 0
    came = True
    while came:
        at += 1
        threads = Threads(1)
        came = is_interrupted(at, lambda: threads.submit(seven).result())  # noqa: B023
        assert threads.submit(seven).result() == 7
        threads.close()
    assert at > 10


def test_calls_are_made_in_order_and_their_errors_are_raised() -> None:
    threads, made = Threads(1), list[int]()
    promises = [threads.submit(lambda n=n: made.append(n)) for n in range(5)]
    wrong = threads.submit(broken)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match="ours"):
            wrong.result()
    threads.close()
    assert made == [0, 1, 2, 3, 4]
    assert all(promise.done() for promise in promises)


def test_who_waits_for_a_call_that_is_dropped_is_told() -> None:
    threads, begun, held = Threads(1), Promise[None](), Promise[None]()
    running = threads.submit(lambda: (begun.settle(), held.result()))
    behind = threads.submit(seven)
    begun.result()
    threads.drop()
    with pytest.raises(Dropped):
        behind.result()
    held.settle()
    threads.close()
    assert running.done()
