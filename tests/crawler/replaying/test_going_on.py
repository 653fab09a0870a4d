"""Where a replay stops, its cursor is behind all that is on the bus; what changed is not known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from reusewatch.crawler.pages.archive_events import Limits
from reusewatch.crawler.replaying.cursors import Cursors, Tally
from reusewatch.crawler.replaying.done import Done
from reusewatch.crawler.replaying.jobs import Reader, job_of
from reusewatch.crawler.replaying.replay import Interrupted, run_replay
from reusewatch.streams.local import LocalBus
from tests.crawler.archives import zoo

RECORDS = [zoo.response(zoo.url(number), zoo.html(f"page {number} " * 9)) for number in range(9)]
TOGETHER = 4


class Ahead:
    """Has pages of a range on the bus before what was read is told, as processes bring them."""

    alerts, lost, remark, batch_pages = None, 0, None, TOGETHER

    def __init__(self, stop: Callable[[], None]) -> None:
        self.on_bus: list[str] = []
        self.dead = Counter[str]()
        self._stop = stop

    def ahead(self, task: Any, following: Callable[[Any], Any]) -> Iterator[Any]:
        while task is not None:
            told, pages = task.read()
            self.on_bus += [page.url for page in pages]
            self._stop()
            yield told
            task = following(told)

    def put(self, page: Any) -> None:
        raise AssertionError(page)

    bury = report = put

    def checkpoint(self) -> None:
        pass

    settle = close = abandon = checkpoint


@pytest.mark.parametrize("seconds", [0.0, 1e9])
def test_what_processes_brought_together_is_read_once(tmp_path: Path, seconds: float) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(zoo.member_each(RECORDS))
    on_bus, stops = [], 0
    for _ in RECORDS:
        stop = Event()
        sink = Ahead(stop.set)
        job = job_of(
            [str(path)], [], None, reader=Reader(zoo.SCHEME, Limits()), settle_seconds=0, stop=stop
        )
        try:
            run_replay(sink, job, Cursors(tmp_path), stop=stop, checkpoint_seconds=seconds)
            break
        except Interrupted:
            stops += 1
        finally:
            on_bus += sink.on_bus
    assert on_bus == [zoo.url(number) for number in range(len(RECORDS))]
    assert stops == -(-len(RECORDS) // TOGETHER)


def test_an_archive_that_grew_while_it_was_read_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(zoo.member_each(RECORDS[:5]))
    job = job_of(
        [str(path)], [], None, reader=Reader(zoo.SCHEME, Limits()), settle_seconds=0, stop=Event()
    )
    (source,) = job.sources(idle=lambda: None)
    bus = LocalBus(tmp_path / "bus")
    for grows, known in ((True, None), (False, Tally(records=5))):
        done = Done(tmp_path, bus, lambda: "now")
        assert done.find(source) is None
        if grows:
            path.write_bytes(zoo.member_each(RECORDS))
        done.read(source, Tally(records=5))
        (tmp_path / "replays").mkdir(exist_ok=True)
        done.save()
        assert Done(tmp_path, bus, lambda: "now").find(source) == known
    bus.close()
