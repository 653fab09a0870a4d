"""The command, in a process that sends itself signals at the n-th step that makes something last.

Steps are before and after every fsync, rename and commit of the database: between any two of them
a machine may fail. Others are in the main thread, when it has acquired the lock of a `Condition`
and when it is about to release it: KeyboardInterrupt may be raised there. `python mortal.py N
COUNT_FILE SIGNALS ARGS…`, where SIGNALS are names with commas between; with N 0 it sends none, and
says in COUNT_FILE how many steps there were. One more SIGINT comes while the process ends.
"""

from __future__ import annotations

import atexit
import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable
from functools import partial, wraps
from itertools import count
from pathlib import Path
from typing import Any

from reusewatch.crawler.__main__ import main

_last = int(sys.argv[1])
_signals = [signal.Signals[name] for name in sys.argv[3].split(",")]
_steps = count(1)


def step() -> None:
    if next(_steps) == _last:
        for number in _signals:
            os.kill(os.getpid(), number)


def between_steps(call: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(call)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        step()
        result = call(*args, **kwargs)
        step()
        return result

    return wrapped


class MortalCondition(threading.Condition):
    def __enter__(self) -> bool:
        entered = super().__enter__()
        step_of_main()
        return entered

    def __exit__(self, *raised: Any) -> None:
        step_of_main()
        super().__exit__(*raised)


def step_of_main() -> None:
    # Not `current_thread`: a thread that is just beginning has none, and would be given one.
    if threading.get_ident() == threading.main_thread().ident:
        step()


class MortalConnection(sqlite3.Connection):
    __exit__ = between_steps(sqlite3.Connection.__exit__)


if __name__ == "__main__":
    for name in ("fsync", "rename", "replace"):
        setattr(os, name, between_steps(getattr(os, name)))
    threading.Condition = MortalCondition  # type: ignore[misc]
    sqlite3.connect = partial(sqlite3.connect, factory=MortalConnection)  # type: ignore[assignment]
    atexit.register(os.kill, os.getpid(), signal.SIGINT)
    counted = Path(sys.argv[2])
    del sys.argv[1:4]
    try:
        main()
    finally:
        counted.write_text(str(next(_steps) - 1))
