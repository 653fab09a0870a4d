"""The faults, all real: a disk without room, a database that another process has, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from random import Random
from subprocess import Popen

from reusewatch.streams.local import DATABASE
from tests.stress.work import Begun

Fault = Callable[[Begun, Random], int]
_LOOK_SECONDS = 0.01
_TIMES = 6


def full(begun: Begun, random: Random) -> int:
    """A disk with a little room, and then a little more. How often that was not enough."""
    filler = begun.directory / "filler"
    for times in range(_TIMES):
        filler.unlink(missing_ok=True)
        disk = os.statvfs(begun.directory)
        free = int(10 ** random.uniform(4.2, 6.4))
        with filler.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, disk.f_bavail * disk.f_frsize - free)
        code = begun.ended(begun.start())
        if code == 0:
            filler.unlink()
            return times
    filler.unlink()
    return _TIMES


def locked(begun: Begun, random: Random) -> int:
    """Another process has the database for longer than is waited for."""
    process = _until_it_has_written(begun, random)
    # Before there is one, nobody can have it.
    with suppress(sqlite3.OperationalError), closing(_opened(begun)) as database:
        database.execute("BEGIN IMMEDIATE")
        return int(begun.ended(process) != 0)
    return int(begun.ended(process) != 0)


def _opened(begun: Begun) -> sqlite3.Connection:
    place = f"file:{begun.bus / DATABASE}?mode=rw"
    return sqlite3.connect(place, uri=True, timeout=60, isolation_level=None)


def interrupted(begun: Begun, random: Random) -> int:
    """Ctrl-C, and once more a moment later."""
    for times in range(_TIMES):
        process = _until_it_has_written(begun, random)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(random.choice((0, 0.002, 0.02, 0.1)))
        if begun.ended(process) == 0:
            return times
    return _TIMES


FAULTS: dict[str, Fault] = {"full": full, "locked": locked, "interrupted": interrupted}


def _until_it_has_written(begun: Begun, random: Random) -> Popen[bytes]:
    enough = begun.written() + random.randrange(1, 150_000)
    process = begun.start()
    while begun.written() < enough and process.poll() is None:
        time.sleep(_LOOK_SECONDS)
    return process
