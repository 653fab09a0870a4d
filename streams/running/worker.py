"""The loop around a stage: poll, process, send, commit; stop when asked, or when nothing is sound.

One thread. Whatever is slow (a broker that is away, a full disk's other end) makes it wait, and
what it does not read waits on the bus: backpressure, no growth.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from reusewatch.streams.bus import (
    Bus,
    BusError,
    Message,
    Offsets,
    Outlet,
    Partition,
    PastRetention,
)
from reusewatch.streams.dead_letter_limit import DeadLetterLimit
from reusewatch.streams.questions import Desk, Parameters, Rows
from reusewatch.streams.running.allocation import give_back_much
from reusewatch.streams.running.changelog import Changelog
from reusewatch.streams.running.commit import Progress
from reusewatch.streams.running.news import News, in_words, named
from reusewatch.streams.running.recording import Recorder
from reusewatch.streams.settings import Settings
from reusewatch.streams.stages.snapshot import Loaded, Snapshots
from reusewatch.streams.stages.stage import Output, Repeats, Stage

if TYPE_CHECKING:
    from reusewatch.streams.running.metrics import Meters

POLL_SECONDS = 0.5
STUCK_SECONDS = 300
# Outputs that wait for what other processes make of them; each is that of a batch.
_MOST_UNSENT = 16
_DEFAULTS = Settings()


@dataclass(frozen=True, slots=True)
class Pace:
    """How often a worker commits and writes snapshots, and what poison it bears."""

    commit_seconds: float = _DEFAULTS.commit_seconds
    snapshot_seconds: float = _DEFAULTS.snapshot_seconds
    dead_letter_limit: float = _DEFAULTS.dead_letter_limit
    settle_seconds: float = _DEFAULTS.settle_seconds


@dataclass(slots=True)
class _Recovery:
    """When it began, if it goes on, and the pages that were judged again so far."""

    began: float | None = None
    read_again: int = 0


class Companion(Protocol):
    """What goes on beside a stage and must be up to date before a batch is begun."""

    def ready(self, seconds: float) -> bool:
        """Whether a batch may be begun; waits so long for it. Raises what ended the companion."""

    def close(self) -> None:
        """End it."""


class Worker:
    """A stage at work on a bus."""

    def __init__(
        self,
        stage: Stage,
        bus: Bus,
        outlet: Outlet,
        meters: Meters,
        *,
        pace: Pace,
        snapshots: Snapshots | None = None,
        companion: Companion | None = None,
        changelog: Changelog | None = None,
        news: News,
    ) -> None:
        self._companion = companion
        self._stage = stage
        self._record = Recorder(meters, stage.name)
        self._pace = pace
        self._news = news
        self._standing_by = False
        self._recovery = _Recovery()
        self._limit = DeadLetterLimit(pace.dead_letter_limit)
        self._held: set[Partition] = set()
        self._newly_held: set[Partition] = set()
        self._snapshots = snapshots
        self._changelog = changelog
        self._desk = Desk()
        # Messages of the last batch: while there are none, questions may have all of the time.
        self._had = 0
        self._unsent: deque[tuple[Output, Sequence[Message]]] = deque()
        self.outlet = outlet
        self._inlet = bus.inlet(
            stage.name,
            stage.reads,
            sole=stage.sole,
            on_assigned=self._on_assigned,
            on_revoked=self._on_revoked,
        )
        self._progress = Progress(self._inlet, self.outlet)
        self._committed_at = self._snapshot_at = self._moved_at = time.monotonic()
        self._came_at = self._moved_at
        self._dirty = self._state_changed = False
        self._lag = 0

    def _on_assigned(self, parts: Sequence[Partition]) -> None:
        # Called from within poll: what it takes to recover is done after, outside the callback.
        self._newly_held.update(parts)
        self._held.update(parts)
        self._standing_by = False
        self._record.rebalanced("assigned")
        event, word = ("took-over", "took over") if self._stage.sole else ("assigned", "assigned")
        self._news.tell(event, f"{word} {in_words(parts)}", partitions=named(parts))

    def _on_revoked(self, parts: Sequence[Partition]) -> None:
        self._record.rebalanced("revoked")
        if self._dirty:
            self.commit(snapshot=False)
        self._progress.forget(parts)
        self._held.difference_update(parts)
        self._newly_held.difference_update(parts)
        if self._changelog is not None:
            self._changelog.drop(parts)
        if not self._held:
            # What is in memory is nobody's state any more: a snapshot of it would be the newest.
            self._dirty = self._state_changed = False
        self._record.forgot(parts)
        self._tell_ready()
        self._news.tell("revoked", f"gave up {in_words(parts)}", partitions=named(parts))

    def run(self, stop: threading.Event, why: Callable[[], str] = lambda: "asked to") -> None:
        """Work until told to stop; then finish the batch, flush, commit and leave."""
        try:
            while not stop.is_set():
                self.step(POLL_SECONDS)
        except BaseException:
            self.abandon()
            raise
        self._news.tell("stopping", f"stopping: {why()}", why=why())
        self.close()

    def step(self, timeout: float) -> int:
        """One batch, and a commit if it is time. Returns how many messages it had."""
        count = self.take(timeout)
        self._commit_if_due()
        return count

    def take(self, timeout: float) -> int:
        """One batch, without a commit. Returns how many messages it had."""
        self._desk.serve(self._stage.answer, idle=not self._had)
        if self._companion is not None and not self._companion.ready(timeout):
            return 0
        messages = self._inlet.poll(timeout)
        while self._newly_held:
            if self._snapshots is not None:
                self._recover(self._snapshots)
            if self._changelog is not None:
                self._take_up(self._changelog)
            # After recovery has begun: whoever asks meanwhile is not told that it is through.
            self._newly_held.clear()
            if self._snapshots is not None:
                # What was polled is read again from where the snapshot ends.
                messages = self._inlet.poll(0)
        self._tell_standing()
        if self._changelog is not None:
            self._changelog.listen()
        began = time.perf_counter()
        processed = self._repeat(messages) if self._progress.recovering else self._judge(messages)
        if processed:
            self._moved_at = self._came_at = time.monotonic()
            self._record.processed(processed, time.perf_counter() - began)
        elif not messages and self.ready():
            self._settle_if_still()
        self._send_finished(most=_MOST_UNSENT)
        self._tell_ready()
        self._had = len(messages)
        return self._had

    def _settle_if_still(self) -> None:
        """Nothing has come for a while: what waits for its company is judged without it."""
        if time.monotonic() - self._came_at >= self._pace.settle_seconds:
            self._came_at = time.monotonic()
            self.settle()

    def settle(self) -> None:
        """Judge what waits for later pages: there are none, or none now."""
        output = self._stage.settle()
        self._send_finished(most=0)
        if not output.messages:
            return
        self._send(output, ())
        # With a snapshot: the log does not say that it was done, and it would be said again.
        self._dirty = self._state_changed = True
        self._snapshot_at = float("-inf")

    def _recover(self, snapshots: Snapshots) -> None:
        """Begin anew with everything that is held: what was in memory may be somebody's past."""
        self._recovery = _Recovery(time.monotonic())
        loaded = snapshots.load(take_up=self._stage.restore)
        for reason in loaded.rejected:
            self._warn(f"{reason}; taking the one before it")
        if loaded.rejected and loaded.state is None:
            self._warn("no sound snapshot is left: rebuilding from the log")
        try:
            self._progress.recover(sorted(self._held), loaded)
        except PastRetention as error:
            if loaded.state is None:
                raise
            # Damage to newer ones left one that is older than the log: the log holds the window.
            self._warn(f"{error}; the snapshot is older than that: rebuilding from the log")
            loaded = Loaded(None, {}, ())
            self._progress.recover(sorted(self._held), loaded)
        if loaded.state is None:
            self._stage.restore(None)
        self._dirty = False
        if loaded.written_at is not None:
            self._record.snapshot(loaded.written_at)
        self._record.state(self._stage)

    def _take_up(self, changelog: Changelog) -> None:
        """Take up what came; what was held before stays as it is."""
        self._recovery = _Recovery(time.monotonic())
        changelog.take_up(sorted(self._newly_held))
        # The others are told what these partitions come to, also while nothing is read of them.
        self._dirty = True
        self._record.state(self._stage)

    def _repeat(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Bring the state back to where it was, without a word."""
        repeated = self._progress.repeats(messages)
        if repeated:
            stage = self._stage
            # Nothing is sent: evidence of each step of a long log would be made for nobody.
            again = stage.repeat if isinstance(stage, Repeats) else stage.process
            output = again(repeated)
            self._record.muted(output.messages)
            self._recovery.read_again += output.pages
        self._did(repeated)
        return repeated

    def _judge(self, messages: Sequence[Message]) -> Sequence[Message]:
        if messages:
            self._send(self._stage.process(messages), messages)
        self._did(messages)
        return messages

    def _did(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._progress.did(message)
        if messages:
            self._dirty = self._state_changed = True

    def _send(self, output: Output, cause: Sequence[Message]) -> None:
        """Send it behind what is not finished: what is said of a page keeps its order."""
        self._unsent.append((output, cause))
        self._send_finished(most=_MOST_UNSENT)

    def _send_finished(self, most: int) -> None:
        """Send what is finished, in order, and wait for it while more than so many are unsent."""
        while self._unsent and (len(self._unsent) > most or self._unsent[0][0].ready()):
            output, cause = self._unsent[0]
            self._send_now(output.finished(), cause)
            # Not before: what fails half-way must not be committed as sent.
            self._unsent.popleft()

    def _send_now(self, output: Output, cause: Sequence[Message]) -> None:
        self.outlet.send(*output.messages)
        self._record.sent(output, cause)
        dead = output.dead.total()
        self._limit.saw(output.pages + dead, dead, next(iter(output.dead), ""))

    def _commit_if_due(self) -> None:
        now = time.monotonic()
        if now - self._committed_at < self._pace.commit_seconds:
            return
        self._committed_at = now
        self._lag = self._record.lag(self._inlet.lag())
        self.commit_if_dirty()

    def commit_if_dirty(self, *, beside: bool = False) -> None:
        """Commit if there is anything to commit: nothing is written while nothing comes."""
        if self._dirty:
            self.commit(beside=beside)

    def commit(self, *, snapshot: bool | None = None, beside: bool = False) -> None:
        """Make everything done so far last, with a snapshot (None: if one is due); without one
        maybe `beside` what comes next, at the latest by the next commit."""
        if snapshot is None:
            snapshot = time.monotonic() - self._snapshot_at >= self._pace.snapshot_seconds
        self._send_finished(most=0)
        with self._record.committing():
            self._progress.commit(self._keeps(snapshot=snapshot), beside=beside)
        self._dirty = False
        self._record.state(self._stage)

    def _keeps(self, *, snapshot: bool) -> Callable[[Offsets], None] | None:
        """How the state is made to last before the offsets are."""
        if self._changelog is not None:
            changelog = self._changelog
            return lambda offsets: changelog.write(self.outlet)
        return self._save if snapshot and self._snapshots is not None else None

    def _save(self, offsets: Offsets) -> None:
        """With a name once what was sent is safe: that is written beside it, where it can be."""
        began = time.monotonic()
        # What pages took while they were judged does not stand beside what saving takes.
        give_back_much()
        with self._record.saving():
            state = self._stage.save()
            if state is None or self._snapshots is None:
                self.outlet.flush()
                return
            self._snapshots.save(state, offsets, self.outlet.flush)
        give_back_much()
        self._state_changed = False
        self._snapshot_at = time.monotonic()
        self._record.snapshot(time.time())
        rows, seconds = self._stage.rows(), self._snapshot_at - began
        text = f"snapshot of {rows} rows in {seconds:.1f} s"
        self._news.tell("snapshot", text, rows=rows, seconds=round(seconds, 3))

    @property
    def alerts(self) -> int:
        """Alerts that stand of those that were sent since the start."""
        return self._record.alerts

    @property
    def passed(self) -> int:
        """Pages that its stage has judged, before the start, too."""
        return self._stage.condition().passed

    def ready(self) -> bool:
        """Whether partitions are held and recovery is through."""
        return bool(self._held) and not self._newly_held and not self._progress.recovering

    def ask(self, name: str, parameters: Parameters) -> Future[Rows]:
        """Ask the stage's state, from another thread."""
        return self._desk.ask(name, parameters)

    def _tell_ready(self) -> None:
        ready = self.ready()
        self._record.ready(ready=ready, left=self._progress.left)
        began = self._recovery.began
        if ready and began is not None:
            self._tell_recovered(time.monotonic() - began)

    def _tell_recovered(self, seconds: float) -> None:
        again, rows = self._recovery.read_again, self._stage.rows()
        self._recovery = _Recovery()
        text = f"recovered {rows} rows in {seconds:.1f} s, {again} pages read again"
        self._news.tell(
            "recovered", text, rows=rows, seconds=round(seconds, 3), read_again=again
        )  # fmt: skip

    def _tell_standing(self) -> None:
        if self._standing_by or self._held or not self._inlet.joined():
            return
        self._standing_by = True
        others = "another process judges" if self._stage.sole else "no partition is left for this"
        self._news.tell("standing-by", f"standing by: {others}")

    def _warn(self, text: str) -> None:
        self._news.tell("trouble", text, level="warning")

    def trouble(self) -> str | None:
        """Why the worker is not healthy, for whoever restarts it. A broker that is away is no
        reason: no restart mends that, and all workers would be restarted at once."""
        still = min(time.monotonic() - self._moved_at, self._news.answered_seconds())
        if self._lag and still > STUCK_SECONDS:
            return f"{self._lag} messages waiting and none processed for {still:.0f} s"
        return None

    def abandon(self) -> None:
        """Leave without a commit: the state may hold half a batch, which is to be read again."""
        self._leave()
        with suppress(BusError):
            self._inlet.close()
        self.outlet.abandon()
        if self._changelog is not None:
            self._changelog.close()

    def close(self) -> None:
        """Commit what is done, with a snapshot, and leave."""
        try:
            self._send_finished(most=0)
            if self._dirty or self._state_changed:
                self.commit(snapshot=self._state_changed)
            self._leave()
            self._inlet.close()
            self.outlet.close()
        except BaseException:
            self.abandon()
            raise
        if self._changelog is not None:
            self._changelog.close()

    def _leave(self) -> None:
        self._desk.close()
        self._held.clear()
        self._tell_ready()
        if self._companion is not None:
            self._companion.close()
