"""Ctrl-C at a chosen step of the main thread."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from types import FrameType
from typing import Any


def is_interrupted(at: int, work: Callable[[], object]) -> bool:
    """Do the work with Ctrl-C at this step of Python's; whether it came so far."""
    steps, came = count(1), False

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal came
        if next(steps) != at:
            return trace
        came = True
        sys.settrace(None)
        os.kill(os.getpid(), signal.SIGINT)
        return None

    before = sys.gettrace()
    try:
        sys.settrace(trace)
        work()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    return came
