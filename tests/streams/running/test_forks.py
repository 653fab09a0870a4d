"""Processes forked from this one: what they take along, and how they end."""

from __future__ import annotations

import fcntl
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from reusewatch.streams.running.channel import Channel, channel
from reusewatch.streams.running.forks import Fork, can_fork


@contextmanager
def forked(told: Any) -> Iterator[tuple[Fork, Channel]]:
    """A process that says what a function returns there, and waits."""
    ours, theirs = channel()
    fork = Fork(partial(_tell, theirs, told), theirs.fileno())
    theirs.close()
    try:
        yield fork, ours
    finally:
        fork.kill()
        fork.join()
        ours.close()


def _tell(theirs: Channel, told: Any) -> None:
    theirs.send(told())
    theirs.recv()


def _descriptors() -> set[str]:
    return {os.readlink(f"/proc/self/fd/{fd}") for fd in range(256) if _is_open(fd)}


def _is_open(fd: int) -> bool:
    return os.path.lexists(f"/proc/self/fd/{fd}")


def _signals() -> tuple[bool, bool]:
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return signal.SIGINT in blocked, signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_what_is_open_here_is_not_open_there(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with forked(_descriptors) as (_, ours):
            there = ours.recv()
            assert str(tmp_path / "lock") not in there
            assert f"socket:[{os.fstat(ours.fileno()).st_ino}]" not in there
            lock.close()
            with (tmp_path / "lock").open("w") as again:
                fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_ctrl_c_is_for_this_process_alone_and_others_end_it() -> None:
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with forked(_signals) as (_, ours):
            assert ours.recv() == (True, True)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_the_end_of_either_is_told_to_the_other() -> None:
    with forked(os.getpid) as (fork, ours):
        pid = ours.recv()
        fork.kill()
        fork.join()
        with pytest.raises(EOFError):
            ours.recv()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    with forked(os.getpid) as (fork, ours):
        ours.recv()
        ours.close()
        fork.join()  # without a signal: what it waits for has ended


def test_one_whose_end_was_waited_for_is_not_ended_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its number may be another process's by then."""
    ended: list[int] = []
    with forked(os.getpid) as (fork, ours):
        ours.recv()
        fork.kill()
        fork.join()
        monkeypatch.setattr(os, "kill", lambda pid, _: ended.append(pid))
        fork.kill()
        fork.join()
    assert not ended


def test_what_goes_wrong_there_is_shown_and_ends_it(capfd: pytest.CaptureFixture[str]) -> None:
    with forked(partial(int, "none")) as (fork, ours):
        with pytest.raises(EOFError):
            ours.recv()
        fork.join()
    assert "ValueError: invalid literal for int() with base 10: 'none'" in capfd.readouterr().err


def test_beside_another_thread_none_is_forked() -> None:
    assert can_fork()
    leave = threading.Event()
    other = threading.Thread(target=leave.wait)
    other.start()
    try:
        assert not can_fork()
    finally:
        leave.set()
        other.join()
    assert can_fork()


@pytest.mark.parametrize("size", [0, 1, 70_000, 5_000_000])
def test_values_of_any_size_come_whole(size: int) -> None:
    ours, theirs = channel()
    value = {"said": os.urandom(size), "of": [size, None]}
    sender = threading.Thread(target=theirs.send, args=(value,))
    sender.start()
    assert ours.recv() == value
    sender.join()
    theirs.close()
    with pytest.raises(EOFError):
        ours.recv()
    ours.close()
