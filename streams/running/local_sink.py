"""A sink that runs the stages itself: on one machine there is nobody else to judge the pages.

Everything of a local bus happens in the process that brings the pages: fingerprints, verdicts,
alerts, and the labels that come of them.
"""

from __future__ import annotations

import gc
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from reusewatch.streams import kernels, topics
from reusewatch.streams.blocks.format import PAGES_HEADER, forget_last, take_as_made
from reusewatch.streams.bus import Message, Partition
from reusewatch.streams.dead_letter_limit import DeadLetterLimit
from reusewatch.streams.labels.follower import publish_local
from reusewatch.streams.labels.marking import InForce
from reusewatch.streams.local import LocalBus
from reusewatch.streams.local.database import told
from reusewatch.streams.questions import Parameters, Rows, no_questions
from reusewatch.streams.records import UNDATED, Alert, DeadLetter, Origin, Page
from reusewatch.streams.running.allocation import give_back_much
from reusewatch.streams.running.chain import Following, Task
from reusewatch.streams.running.fingerprinters import (
    fingerprint_stage,
    labeler_of,
    only_partition,
)
from reusewatch.streams.running.in_process import InProcess
from reusewatch.streams.running.label_settings import label_store
from reusewatch.streams.running.news import Brief
from reusewatch.streams.running.page_sink import BATCH_BYTES, room
from reusewatch.streams.running.recent_pages import RecentPages
from reusewatch.streams.running.uncounted import uncounted
from reusewatch.streams.settings import Settings
from reusewatch.streams.stages.fingerprinting import FingerprintStage, ReadOrigin
from reusewatch.streams.stages.stage import Output
from reusewatch.streams.wire import alert_message, dead_letter_message, page_message

if TYPE_CHECKING:
    from reusewatch.streams.running.metrics import Meters
    from reusewatch.streams.running.parallel import ProcessPool
    from reusewatch.streams.running.serving import Health
    from reusewatch.streams.running.worker import Worker

_GIVEN_BACK_SECONDS = 4.0
_ONLY = Partition(topics.PAGES, 0)
_FIRST = Page(
    id="0" * 16, url="http://localhost/", site="localhost", host="localhost", fetched_at=UNDATED,
    content_type="text/html", body=b"<title>A page</title><p>of <a href=x>words</a>.",
    origin=Origin(source="-"),
)  # fmt: skip


class LocalSink:
    """Pages straight into the stages of this process."""

    def __init__(
        self,
        bus: LocalBus,
        settings: Settings,
        *,
        read_origin: ReadOrigin | None,
        say: Callable[[str], None],
        does: str = "replays",
    ) -> None:
        # First: whoever looks while the kernels are compiled finds the bus taken.
        bus.lock(does)
        if settings.workers > 1:
            from reusewatch.streams.running.fork_server import prepare_processes

            prepare_processes(bus.directory, read_origin, say)
        else:
            kernels.prepare(say)
        bus.check()
        self.dead: Counter[str] = Counter()
        self.lost = self.untold = 0
        self.remark: str | None = None
        self._bus = bus
        self.batch_pages = settings.batch_pages
        self._settings = settings
        self._window = settings.window_pages
        self._bytes_kept = settings.local_bytes
        self._scheme, self._say = settings.scheme, say
        self._labels = label_store(settings)
        labeler = labeler_of(settings)
        stage = fingerprint_stage(
            settings, only_partition, read_origin=read_origin, labeler=labeler
        )
        self._runner = _runner(stage, settings.workers)
        if settings.workers > 1:
            bus.write_beside()
        self._limit = DeadLetterLimit(settings.dead_letter_limit)
        self._outlet = bus.outlet()
        # An open writer cuts what a crash left torn, before anybody reads it.
        self._log = self._outlet.log(topics.FINGERPRINTS)
        self.meters = _meters(settings)
        self.meters.begin("fingerprint")
        self._recent = None if read_origin is None else RecentPages(read_origin)
        # Not 0: labels that are in force here, and on no bus any more, are in force no longer.
        self._labels_end = -1
        self._labels_trouble: str | None = None
        self._health = self._serve(settings, say)
        self._judges: list[Worker] = []
        # Of an empty bus not before processes have begun to read: to load what judges takes as long
        # as they take for the first pages.
        if self._log.end or self._health or isinstance(self._runner, InProcess):
            self._judge_all()
        self._keep_labels()
        self._batch: list[Page] = []
        self._underway: deque[list[Page]] = deque()
        self._bytes = 0
        self._taken = 0
        # Where the stage's steps stand: counted from 0, each batch would lie across two of them.
        self._passed = max((judge.passed for judge in self._judges), default=0)
        self._room = room(self._passed, self.batch_pages)
        self._reported = 0
        self._trimmed_at = -1
        # Soon: what loading took is never needed again, and short replays have no snapshot.
        self._given_back_at = float("-inf")

    def _load_judges(self) -> None:
        from reusewatch.streams.running.topology import STATEFUL, stateful_worker

        evidence = None if isinstance(self._runner, InProcess) else self._runner.evidence
        self._judges = [
            stateful_worker(
                name, self._settings, self._bus, self.meters, Brief(self._say),
                read_origin=self._recent, elsewhere=evidence,
            )
            for name in STATEFUL
        ]  # fmt: skip

    def _serve(self, settings: Settings, say: Callable[[str], None]) -> Health | None:
        """Metrics, where a port was given: most replays are over before anybody looks."""
        if settings.metrics_port is None:
            return None
        from reusewatch.streams.running.prefix_answers import PrefixAnswers
        from reusewatch.streams.running.serving import Health

        health = Health(
            self.meters,
            settings.metrics_host,
            settings.metrics_port,
            self,
            prefixes=PrefixAnswers(lambda stop: LocalBus(self._bus.directory), say),
            question_hosts=settings.question_hosts,
        )
        say(f"replay: http://{settings.metrics_host}:{health.port}/metrics")
        return health

    def warm_up(self) -> None:
        """Load what the first page would have to wait for; nothing is kept of this one."""
        if isinstance(self._runner, InProcess):
            for _ in self._runner.pages([_FIRST]):
                pass

    def judged(self) -> dict[str, int]:
        """How far each spool was judged, as of the last checkpoint."""
        return self._outlet.judged()

    def remember(self, spool: str, position: int | None) -> None:
        """The next checkpoint holds all of a spool before this position; None: it is gone."""
        self._outlet.remember(spool, position)

    @property
    def alerts(self) -> int:
        """Alerts that stand of those that were sent since the start."""
        return self._reported + sum(judge.alerts for judge in self._judges)

    @property
    def passed(self) -> int:
        """Pages that were taken, before the start, too."""
        return self._passed + len(self._batch) + sum(map(len, self._underway))

    def trouble(self) -> str | None:
        """Why this process is not healthy."""
        return next((said for judge in self._judges if (said := judge.trouble())), None)

    def ready(self) -> bool:
        """Whether every stage is through with recovery."""
        return all(judge.ready() for judge in self._judges)

    def ask(self, name: str, parameters: Parameters) -> Future[Rows]:
        """On a local bus the commands read the directory: whoever judges here is at work."""
        return no_questions(name, parameters)

    def put(self, page: Page) -> None:
        """Take a page; a full batch is processed."""
        self._batch.append(page)
        self._bytes += len(page.body)
        if len(self._batch) >= self._room or self._bytes >= BATCH_BYTES:
            self._submit()

    def _submit(self) -> None:
        batch, self._batch, self._bytes = self._batch, [], 0
        if self._recent is not None:
            self._underway.append(batch)
        if isinstance(self._runner, InProcess):
            # No other is on its way: whatever leaves for these pages goes before more is made.
            self._went_by()
            outputs = self._runner.pages(batch)
        else:
            outputs = self._runner.submit([self._message(page) for page in batch])
        for output in outputs:
            self._accept(output)
        self._room = room(self._passed, self.batch_pages)

    def _message(self, page: Page) -> Message:
        """A page as it travels to another process."""
        sent = page_message(page)
        now = time.time_ns() // 1_000_000
        self._taken += 1
        return Message(_ONLY, self._taken - 1, sent.key, sent.value, sent.headers, now)

    def ahead(self, first: Task, following: Following) -> Iterator[Any] | None:
        """Have the processes read themselves; what each task told, once its pages are judged."""
        if isinstance(self._runner, InProcess):
            return None
        return self._ahead(self._runner, first, following)

    def _ahead(self, runner: ProcessPool, first: Task, following: Following) -> Iterator[Any]:
        self._submit_all()
        begun = runner.ahead(first, following)
        self._judge_all()
        # As of what was loaded before: see who opens this.
        gc.freeze()
        for said, output in begun:
            self._accept(output)
            yield said

    def _submit_all(self) -> None:
        if self._batch:
            self._submit()
        for output in self._runner.drain():
            self._accept(output)

    def _accept(self, output: Output) -> None:
        if not self._judges:
            self._judge_all()
        self._went_by()
        self._outlet.send(*output.messages)
        self._passed += output.pages
        if self._one_block(output):
            take_as_made(output.messages[0], self._scheme)
        self.dead.update(output.dead)
        self.meters.pages.labels("fingerprint").inc(output.pages)
        for reason, count in output.dead.items():
            self.meters.dead.labels("fingerprint", reason).inc(count)
        if output.labels is not None:
            self._show_labels(output.labels)
        dead = output.dead.total()
        self._limit.saw(output.pages + dead, dead, next(iter(output.dead), ""))
        for judge in self._judges:
            judge.take(0)
        # The next block is made while this one would still stand in memory.
        forget_last()
        self._log.forget_last()

    def _went_by(self) -> None:
        """The pages of the batch that is judged next are at hand. Not before: how many others are
        on their way by then hangs on the number of processes, and what is told must not."""
        if self._recent is not None and self._underway:
            self._recent.saw(*self._underway.popleft())

    def _one_block(self, output: Output) -> bool:
        """Whether another process made a block, which is judged next, and nothing beside it."""
        made = not isinstance(self._runner, InProcess) and len(output.messages) == 1
        return made and output.messages[0].topic == topics.FINGERPRINTS

    def _judge_all(self) -> None:
        if not self._judges:
            self._load_judges()
        for judge in self._judges:
            while judge.take(0):
                pass

    def bury(self, letter: DeadLetter) -> None:
        """Keep a dead letter."""
        self.dead[letter.reason] += 1
        self._outlet.send(dead_letter_message(letter))

    def report(self, alert: Alert) -> None:
        """Keep what was found elsewhere."""
        self._reported += 1
        self.meters.alerts.labels("neighborhoods", alert.kind).inc()
        self._outlet.send(alert_message(alert, stage="crawl"))

    def checkpoint(self) -> None:
        """Process what was taken, and put everything on disk: blocks, findings, offsets."""
        self._submit_all()
        self._make_safe()

    def checkpoint_at(self, cursor: Callable[[], tuple[str, int]]) -> None:
        """The same, and with the blocks the cursor that stands for them. What was found follows
        at the latest with the next one: it is found again, where only the blocks are on disk."""
        self._submit_all()
        self._outlet.stands_for(*cursor())
        self._make_safe(beside=True)

    def _make_safe(self, *, beside: bool = False) -> None:
        # Committed here only, after this flush: an offset past a block that is not on disk yet
        # would outlive it in a power cut.
        self._outlet.flush()
        self._judge_all()
        for judge in self._judges:
            judge.commit_if_dirty(beside=beside)
        if self._log.base != self._trimmed_at:
            self._trim()
        if self._bytes_kept is not None:
            self._outlet.keep_within(self._bytes_kept)
        self._keep_labels()
        now = time.monotonic()
        if now - self._given_back_at >= _GIVEN_BACK_SECONDS and give_back_much():
            self._given_back_at = now

    def settle(self) -> None:
        """Judge what waits for later pages: there are none. Safe with the next checkpoint: most of
        what is told now replaces what was told since the last, which need not be written first."""
        self._submit_all()
        self._judge_all()
        for judge in self._judges:
            judge.settle()

    def _keep_labels(self) -> None:
        """What the stages here have labeled counts from the next batch on."""
        end = self._bus.end(topics.LABELS)
        if end > self._labels_end:
            self._labels_end = end
            publish_local(self._bus, self._labels, self._scheme, self._say)

    def _show_labels(self, found: InForce) -> None:
        self.meters.show_labels("fingerprint", found)
        if found.trouble is not None and found.trouble != self._labels_trouble:
            self._say(found.trouble)
        self._labels_trouble = found.trouble

    def _trim(self) -> None:
        """Retention at least the window, as on Kafka: the index can be rebuilt from it."""
        self._trimmed_at = self._log.base
        with told(self._bus.directory):
            self._log.retain(self._window, lambda entry: int(dict(entry.headers)[PAGES_HEADER]))

    def close(self) -> None:
        """Checkpoint with a snapshot, and let other processes write."""
        try:
            self.checkpoint()
            self._runner.let_go()
            for judge in self._judges:
                judge.close()
            self._outlet.close()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Leave without a commit; what was not committed is read again."""
        self._bus.rest()
        for judge in self._judges:
            judge.abandon()
        self._outlet.abandon()
        self._runner.close()
        if self._health is not None:
            self._health.close()
        self._bus.close()


def _runner(stage: FingerprintStage, workers: int) -> InProcess | ProcessPool:
    """What runs the parsing half; what starts processes is loaded for who wants several."""
    if workers == 1:
        return InProcess(stage)
    from reusewatch.streams.running.parallel import ProcessPool

    return ProcessPool(stage, workers)


def _meters(settings: Settings) -> Meters:
    """What counts, where somebody may ask for it."""
    if settings.metrics_port is None:
        return uncounted()
    from reusewatch.streams.running.metrics import Meters

    return Meters("local", settings.scheme.name)
