"""Neighborhoods over several processes: kills, partitions that move, one threshold for all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

import pytest

from reusewatch.detector.neighborhoods.figures import PageFacts
from reusewatch.detector.neighborhoods.neighborhoods import COUNTED
from reusewatch.detector.neighborhoods.unlabeled import Unlabeled
from reusewatch.streams import topics
from reusewatch.streams.bus import Bus, BusBroken, Message, Outgoing, Partition
from reusewatch.streams.kafka.read import latest
from reusewatch.streams.running.changelog import Changelog, require_room
from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.running.news import Brief
from reusewatch.streams.running.worker import Worker
from reusewatch.streams.stages.neighborhood_log import NeighborhoodLog
from reusewatch.streams.stages.neighboring import NeighborhoodStage
from reusewatch.streams.times import moment
from tests.pages import SCHEME
from tests.streams.memory_bus import MemoryBus
from tests.streams.stages.hoods import Copied, Figures, asked, bad_site, blocks_of, stage_of
from tests.streams.stages.making import NEVER, by_site, inlet_of, work_off

PARTS = 3
SHARE = [Partition(topics.FINGERPRINTS, n) for n in range(PARTS)]


class CompactedBus(MemoryBus):
    """The last message of each key, as a bus reads a compacted topic."""

    def read(self, topic: str, **options: object):  # type: ignore[no-untyped-def, override]
        messages = super().read(topic, **options)  # type: ignore[arg-type]
        return latest(messages) if topics.TOPICS[topic].cleanup == "compact" else messages


@dataclass
class News:
    """What was said on `moments` since this was last asked."""

    bus: MemoryBus
    seen: int = field(default=0)

    def __call__(self) -> Sequence[Message]:
        found = self.bus.logs.get(Partition(topics.MOMENTS, 0), [])[self.seen :]
        self.seen += len(found)
        return found


def test_pages_without_labels_are_noted_together_as_each_would_be() -> None:
    random = Random(5)
    rows = [(random.randrange(20), f"http://a.example/{n}", n, n % 3) for n in range(40)]
    pages = Unlabeled(*map(list, zip(*rows, strict=True)))  # type: ignore[arg-type]
    each, together = NeighborhoodLog(), NeighborhoodLog()
    for log in (each, together):
        log.forget(1, rows[7][0])
    for page, url, at, total in rows[5:30]:
        each.note(1, PageFacts(page, url, at, 0, total), moment(at), COUNTED)
    together.note_unlabeled(1, pages, 5, 30)
    assert together.take() == each.take() != []


def crawl(seed: int) -> list[Copied]:
    random = Random(seed)
    pages = [
        Copied(
            f"http://www.site{random.randrange(9)}.example/{random.choice(['', 'a/', 'a/b/'])}{n}",
            random.randrange(4), 3, random.randrange(9),
        )
        for n in range(60)
    ] + bad_site(1, 8) + bad_site(2, 8)  # fmt: skip
    pages += [Copied(p.url, 0, 3, p.at + 1) for p in pages[::5]]
    random.shuffle(pages)
    return pages


def bus_of(pages: Sequence[Copied]) -> CompactedBus:
    bus = CompactedBus({topics.FINGERPRINTS: PARTS, topics.NEIGHBORHOODS: PARTS})
    for block in blocks_of(pages, by_site(PARTS)):
        bus.append(block)
    return bus


def worker_on(bus: MemoryBus, **settings: object) -> tuple[Worker, NeighborhoodStage]:
    stage = stage_of(logged=True, **settings)
    changelog = Changelog(stage, bus, topics.NEIGHBORHOODS, news=News(bus))
    worker = Worker(
        stage, bus, bus.outlet(), Meters(stage.name, SCHEME.name), pace=NEVER,
        changelog=changelog, news=Brief(print),
    )  # fmt: skip
    return worker, stage


Said = dict[str, list[str]]


def said(bus: MemoryBus) -> Said:
    """What was said of each prefix, in order: open, closed, open…"""
    return _said(bus.logs.get(Partition(topics.ALERTS, 0), []))


def said_by(bus: Bus) -> Said:
    """What is said of each prefix last."""
    return _said(bus.read(topics.ALERTS))


def _said(messages: Iterable[Message]) -> Said:
    found: Said = {}
    for message in messages:
        state = json.loads(message.value or b"{}")["state"]
        found.setdefault(message.key, []).append(state)
    return found


def alone(pages: Sequence[Copied], **settings: object) -> tuple[Figures, Said, float]:
    bus = bus_of(pages)
    worker, stage = worker_on(bus, **settings)
    work_off(worker)
    worker.close()
    return asked(stage), said(bus), stage.threshold


@pytest.mark.parametrize("seed", range(3))
def test_killed_at_any_moment_it_goes_on_without_loss_and_says_nothing_twice(seed: int) -> None:
    pages, random = crawl(seed), Random(seed)
    bus = bus_of(pages)
    for _ in range(6):
        worker, _stage = worker_on(bus)
        for _ in range(random.randrange(8)):
            worker.step(0)
        worker.commit()
        for _ in range(random.randrange(3)):
            worker.step(0)  # sent, and never flushed: it dies here
    worker, stage = worker_on(bus)
    work_off(worker)
    worker.close()
    figures, wanted, _ = alone(pages)
    assert asked(stage) == figures
    assert said(bus) == wanted
    again, known = worker_on(bus)
    work_off(again)
    assert asked(known) == figures


@pytest.mark.parametrize("cut", range(0, 40, 7))
def test_a_changelog_that_is_cut_short_is_made_whole(cut: int) -> None:
    pages = crawl(7)
    bus = bus_of(pages)
    worker, _ = worker_on(bus)
    work_off(worker)
    worker.commit()
    bus.commits.clear()  # the offsets were not written any more, nor the last of the changes
    for part in [part for part in bus.logs if part.topic == topics.NEIGHBORHOODS]:
        del bus.logs[part][cut:]
    again, stage = worker_on(bus)
    work_off(again)
    again.close()
    found, wanted = asked(stage), alone(pages)[0]
    assert {p: f[:3] for p, f in found.items()} == {p: f[:3] for p, f in wanted.items()}


def test_partitions_that_move_are_counted_once_and_by_who_holds_them() -> None:
    pages = crawl(3)
    bus = bus_of(pages)
    one, _ = worker_on(bus)
    other, second = worker_on(bus)
    inlet_of(one).to_come, inlet_of(other).to_come = [SHARE[:2]], [SHARE[2:]]
    for _ in range(5):
        one.step(0)
        other.step(0)
    inlet_of(one).lose(SHARE[1:2])
    assert not {Partition(topics.FINGERPRINTS, 1)} & set(inlet_of(one).held)
    inlet_of(other).to_come = [SHARE[1:2]]
    for _ in range(20):
        other.step(0)
    # The first dies without a word; the other takes over what it had.
    inlet_of(other).to_come = [SHARE[:1]]
    work_off(other)
    other.close()
    figures, wanted, _ = alone(pages)
    assert asked(second) == figures
    assert said(bus).keys() == wanted.keys()


def test_two_workers_have_the_threshold_of_one() -> None:
    pages = crawl(5)
    settings: dict[str, object] = {"threshold": None, "warm_up": 1}
    bus = bus_of(pages)
    one, first = worker_on(bus, **settings)
    other, second = worker_on(bus, **settings)
    inlet_of(one).to_come, inlet_of(other).to_come = [SHARE[:2]], [SHARE[2:]]
    for worker in (one, other):
        work_off(worker)
        worker.commit()
    one.step(0)
    other.step(0)
    assert first.threshold == second.threshold == alone(pages, **settings)[2]
    # Whoever comes later knows it at once.
    third, stage = worker_on(bus, **settings)
    inlet_of(third).to_come = [[]]
    third.step(0)
    assert stage.threshold == first.threshold


def test_what_leaves_the_state_leaves_the_changelog() -> None:
    bus = bus_of(bad_site(1, 9))
    worker, _ = worker_on(bus, max_pages=4)
    work_off(worker)
    worker.close()
    kept = [m.key for m in bus.read(topics.NEIGHBORHOODS) if m.key.startswith("page")]
    assert len(kept) == 4


def test_what_was_sent_is_safe_before_offsets_count_where_nothing_changed() -> None:
    bus = bus_of([])
    worker, _ = worker_on(bus)
    worker.outlet.send(Outgoing(topics.ALERTS, "a", b"{}"))
    worker.commit()
    assert [message.key for message in bus.read(topics.ALERTS)] == ["a"]


def test_a_changelog_without_room_is_refused() -> None:
    outlet = MemoryBus({topics.FINGERPRINTS: 6, topics.NEIGHBORHOODS: 2}).outlet()
    with pytest.raises(BusBroken, match="has 2 partitions and fingerprints 6"):
        require_room(outlet, topics.NEIGHBORHOODS, topics.FINGERPRINTS)
