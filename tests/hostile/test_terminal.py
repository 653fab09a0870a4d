"""Nothing that a stranger wrote is obeyed by a terminal; scripts get what is there."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

HOSTILE = "http://a.test/\x9b31m\u202egpj.exe\x7f\u2066"
_PRINT = f"from reusewatch.streams.console import print_json; print_json({{'url': {HOSTILE!r}}})"


def test_json_at_a_terminal_is_the_same_json_without_controls() -> None:
    ours, theirs = pty.openpty()
    try:
        subprocess.run([sys.executable, "-c", _PRINT], stdout=theirs, check=True, timeout=60)
        shown = os.read(ours, 4096).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert shown.strip().isprintable()
    assert json.loads(shown) == {"url": HOSTILE}


def test_scripts_get_what_is_there() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PRINT], capture_output=True, check=True, timeout=60
    )
    assert "\u202e" in done.stdout.decode()
    assert json.loads(done.stdout) == {"url": HOSTILE}
