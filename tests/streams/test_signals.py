"""When Ctrl-C is heard."""

from __future__ import annotations

import os
import signal
import threading
from threading import Thread
from types import FunctionType

import pytest

from reusewatch.detector.compiling import image
from reusewatch.streams.signals import stopping, to_the_end
from tests.streams.interrupted import is_interrupted


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_is_heard_at_the_end_of_what_must_not_be_broken_off() -> None:
    done: list[str] = []

    def work() -> None:
        with to_the_end():
            interrupt()
            done.append("whole")
        done.append("never")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["whole"]
    with pytest.raises(KeyboardInterrupt):
        interrupt()


def test_a_second_ctrl_c_is_heard_at_once() -> None:
    done: list[str] = []

    def work() -> None:
        with to_the_end():
            interrupt()
            done.append("once")
            interrupt()
            done.append("twice")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["once"]


def test_an_error_is_raised_and_what_is_heard_is_as_before() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="mine"), to_the_end():
        raise ValueError("mine")
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.timeout(60)
def test_a_signal_at_any_step_of_a_wait_for_it_lets_the_wait_end() -> None:
    at, came = 0, True
    while came:
        at += 1
        with stopping() as stop:
            came = is_interrupted(at, lambda: stop.wait(0))
            assert stop.is_set() == came
    assert at > 3


def test_threads_hear_no_signals() -> None:
    ended = []

    def work() -> None:
        with to_the_end():
            ended.append(True)

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert ended == [True]


def test_a_second_ctrl_c_is_raised_behind_what_kernels_call_and_not_in_it() -> None:
    done: list[str] = []

    def interrupted() -> None:
        interrupt()
        done.append("whole")

    # As a function of that module: a signal may come in its first instruction.
    names = globals() | {"__name__": image.__name__}
    called = FunctionType(interrupted.__code__, names, closure=interrupted.__closure__)

    def work() -> None:
        called()
        threading.Event().wait(30)
        done.append("never")

    with stopping() as stop:
        interrupt()
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            work()
    assert done == ["whole"]
