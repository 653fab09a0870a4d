"""When a file that a running crawl writes is finished.

Heritrix writes under a name that ends in `.open` and renames; others write in place. So a file is
finished when it lost that suffix while being watched, or when it was not written for a while.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reusewatch.crawler.errors import SourceError

_OPEN = ".open"


@dataclass(frozen=True, slots=True)
class _Look:
    """A file as it was, and since when it has been so."""

    size: int
    written: int
    since: float


def follow_files(
    directory: str,
    listing: Callable[[str], list[str]],
    *,
    stop: Callable[[], bool],
    settle_seconds: float,
    poll_seconds: float = 1.0,
    wait: Callable[[float], object] | None = None,
    now: Callable[[], float] | None = None,
) -> Iterator[str]:
    """The files of a directory as they are finished, each once, until `stop` says so."""
    if not os.path.isdir(directory):
        raise SourceError(f"{directory} is no directory to follow")
    wait = wait or threading.Event().wait
    now = now or time.time
    watch = _Watch(settle_seconds)
    while not stop():
        for path in watch.finished(listing(directory), _open_names(directory), now()):
            yield path
            if stop():
                return
        wait(poll_seconds)


def _open_names(directory: str) -> set[str]:
    """The names that files will have which are still being written under another."""
    return {
        os.path.join(at, name.removesuffix(_OPEN))
        for at, _, names in os.walk(directory)
        for name in names
        if name.endswith(_OPEN)
    }


class _Watch:
    """What was seen of the files so far."""

    def __init__(self, settle_seconds: float) -> None:
        self._settle = settle_seconds
        self._looks: dict[str, _Look] = {}
        self._opened: set[str] = set()
        self._done: set[str] = set()

    def finished(self, paths: list[str], open_names: set[str], now: float) -> list[str]:
        """Those of the files that are finished and were not before."""
        self._opened |= open_names
        found = [
            path
            for path in paths
            if path not in self._done and path not in open_names and self._is_finished(path, now)
        ]
        self._done.update(found)
        return found

    def _is_finished(self, path: str, now: float) -> bool:
        try:
            state = os.stat(path)
        except OSError:
            # Gone between listing and looking; it is back in the next listing or never.
            return False
        if path in self._opened:
            return True
        last = self._looks.get(path)
        if last is None or (last.size, last.written) != (state.st_size, state.st_mtime_ns):
            # A file from before counts from when it was written, not from when it was seen.
            last = _Look(state.st_size, state.st_mtime_ns, min(now, state.st_mtime))
            self._looks[path] = last
        return now - last.since >= self._settle
