"""When Ctrl-C is heard."""

from __future__ import annotations

import os
import signal
from threading import Thread

import pytest

from reusewatch.streams.signals import to_the_end


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


def test_threads_hear_no_signals() -> None:
    ended = []

    def work() -> None:
        with to_the_end():
            ended.append(True)

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert ended == [True]
