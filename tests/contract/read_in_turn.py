"""Commands in turn, each in a fork of this process: how it ended, what it said, what it changed.

`python read_in_turn.py DIRECTORY < COMMANDS`: an answer a line, and whether the files of the
directory are as they were before.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import reusewatch.crawler.verbs.similar
import reusewatch.streams.running.topology  # noqa: F401 - loaded once for all
from reusewatch.crawler.cli import main


def tree(directory: Path) -> dict[str, tuple[int, str]]:
    """Every file and directory: when it was changed, and what it holds."""
    found = {}
    for path in (directory, *sorted(directory.rglob("*"))):
        # A replay beside it may replace or remove a file meanwhile.
        with suppress(FileNotFoundError):
            held = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            found[str(path)] = (path.stat().st_mtime_ns, held)
    return found


def ended(words: list[str]) -> tuple[int, str, str]:
    """A command's code, stdout and stderr."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.fork()
        if not pid:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            sys.argv = ["reusewatch", *words]
            main()
            sys.exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        out.seek(0)
        err.seek(0)
        return code, out.read().decode(), err.read().decode()


def answer(words: list[str], directory: Path) -> list[object]:
    """How it ended, and which files it changed."""
    before = tree(directory) if directory.exists() else {}
    told = ended(words)
    after = tree(directory) if directory.exists() else {}
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return [*told, sorted(changed)]


if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line), Path(sys.argv[1]))) + "\n")
        # Or a fork would write it once more.
        sys.stdout.flush()
