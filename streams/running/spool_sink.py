"""A sink into a spool of a local bus: pages are safe there, and another process judges them.

It imports no stage: a spider stays small. What `checkpoint` returned for is on disk. `close` waits
until everything is judged, unless told to leave: then it says who judges the rest.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

from reusewatch.streams.bus import Outgoing
from reusewatch.streams.local.judged import Judged, read_judged
from reusewatch.streams.local.spools import Kind, SpoolWriter, holder_of, is_locked
from reusewatch.streams.records import Alert, DeadLetter, Page
from reusewatch.streams.running.judge_process import LOG, JudgeProcess
from reusewatch.streams.settings import Settings
from reusewatch.streams.wire import alert_message, dead_letter_message, page_message

_LOOK_SECONDS = 0.05
_TELL_SECONDS = 10.0
# Told to leave, it waits so long for the last pages to be judged.
_GRACE_SECONDS = 5.0
# A judge that cannot begin so often in a row, when nothing more comes, is not waited for.
_MOST_FAILURES = 3


class SpoolSink:
    """Pages into a spool."""

    lost = untold = 0

    def __init__(
        self, settings: Settings, directory: Path, *, kind: Kind = "live", stop: Event,
        say: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.dead: Counter[str] = Counter()
        self.remark: str | None = None
        self._directory = directory
        self._settings = settings
        self._stop, self._say = stop, say
        self._alerts_before = read_judged(directory).alerts
        self._seen = self._alerts_before
        self._judged_to = 0
        self._writer = SpoolWriter(directory, kind)
        self._judge = JudgeProcess(settings, directory, say)
        self._judge.tend()

    @property
    def alerts(self) -> int:
        """Alerts on this bus since the start, whoever brought the pages."""
        return self._seen - self._alerts_before

    def put(self, page: Page) -> None:
        """Append the page."""
        self._writer.append(page_message(page))

    def bury(self, letter: DeadLetter) -> None:
        """Append a dead letter."""
        self._writer.append(dead_letter_message(letter))
        self.dead[letter.reason] += 1

    def report(self, alert: Alert) -> None:
        """Append an alert."""
        self._writer.append(alert_message(alert, stage="crawl"))

    def send(self, message: Outgoing) -> None:
        """Append what was a page or a letter before."""
        self._writer.append(message)

    def take_back(self) -> Sequence[Outgoing]:
        """Nothing: what was appended is here."""
        return ()

    def checkpoint(self) -> None:
        """Everything so far is on disk; and somebody judges."""
        self._writer.sync()
        self._judge.tend()
        self._look()

    def _look(self) -> Judged:
        judged = read_judged(self._directory)
        if (at := judged.spools.get(self._writer.spool.name, 0)) > self._judged_to:
            self._judged_to = at
            self._judge.succeeded()
        self._seen = max(self._seen, judged.alerts)
        return judged

    def close(self) -> None:
        """Say that nothing more comes, and wait until it is judged."""
        self._writer.close()
        if not self._writer.end:
            return
        told_at = time.monotonic()
        stopped_at: float | None = None
        while waiting := self._waiting():
            if self._stop.is_set():
                stopped_at = stopped_at or time.monotonic()
                if time.monotonic() >= stopped_at + _GRACE_SECONDS:
                    break
            self._judge.tend()
            if self._judge.failures >= _MOST_FAILURES:
                break
            if time.monotonic() >= told_at + _TELL_SECONDS:
                told_at = time.monotonic()
                self._say(f"waiting until {waiting} pages are judged{self._by()}")
            time.sleep(_LOOK_SECONDS)
        if waiting:
            self.remark = self._told(waiting)

    def _waiting(self) -> int:
        """How many of ours are not judged yet."""
        judged = self._look()
        spool = self._writer.spool
        if spool.name not in judged.spools and not spool.directory.is_dir():
            return 0  # judged, and not kept
        return self._writer.end - judged.spools.get(spool.name, 0)

    def _by(self) -> str:
        pid, does = holder_of(self._directory)
        return f" (process {pid} {does or 'has the bus'})" if is_locked(self._directory) else ""

    def _told(self, waiting: int) -> str:
        by_hand = f"`reusewatch work local --bus local:{self._directory}`"
        safe = f"{waiting} pages are safe in {self._directory} and not judged yet"
        if self._judge.failures:
            log = self._directory / LOG
            return f"{safe}: {self._judge.reason} (see {log}); mend that, then {by_hand}"
        if is_locked(self._directory):
            return f"{safe}{self._by()}: that goes on; should it end, the next crawl or {by_hand}"
        return f"{safe}: the next crawl onto this bus does that, or {by_hand}"

    def abandon(self) -> None:
        """Leave what is there; what was synced is judged by whoever judges."""
        self._writer.close()
