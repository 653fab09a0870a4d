"""Nothing that is reported depends on who came first: any order, any batches, any partitions."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reusewatch.streams import topics
from reusewatch.streams.local import LocalBus
from reusewatch.streams.running.local_sink import LocalSink
from reusewatch.streams.settings import Settings
from tests.pages import BEGIN, Fetch, copies, crawls, mixed_crawl, page_of
from tests.streams.memory_bus import MemoryBus
from tests.streams.stages.making import (
    alerts_on,
    as_message,
    blocks_of,
    by_site,
    index_stage,
    inlet_of,
    standing,
    work_off,
    worker_of,
)


@given(crawls(), st.integers(1, 7))
@settings(max_examples=150)
def test_alerts_are_those_of_the_definition_in_any_order(fetches: list[Fetch], size: int) -> None:
    stage = index_stage()
    sent = stage.process([as_message(block) for block in blocks_of(fetches, size)]).messages
    assert standing(m for m in sent if m.topic == topics.ALERTS) == copies(fetches)


@given(crawls(), st.sampled_from([-1, 0, 1]))
@settings(max_examples=50)
def test_a_clock_that_is_an_hour_off_changes_nothing(fetches: list[Fetch], hours: int) -> None:
    newest = max((fetch.fetched_at for fetch in fetches), default=BEGIN)
    stage = index_stage(now=newest + timedelta(hours=hours))
    sent = stage.process([as_message(block) for block in blocks_of(fetches)]).messages
    assert standing(m for m in sent if m.topic == topics.ALERTS) == copies(fetches)


@given(crawls(), st.integers(1, 4), st.randoms(use_true_random=False))
@settings(max_examples=100)
def test_partitions_may_be_read_in_turn_as_it_happens(
    fetches: list[Fetch], partitions: int, random: Random
) -> None:
    bus = MemoryBus({topics.FINGERPRINTS: partitions})
    for block in blocks_of(fetches, 2, by_site(partitions)):
        bus.append(block)
    worker = worker_of(index_stage(), bus)
    inlet_of(worker).pick = random.choice
    work_off(worker)
    worker.close()
    assert standing(alerts_on(bus)) == copies(fetches)


@given(crawls(), st.integers(1, 4), st.data())
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_restart_at_any_moment_neither_loses_an_alert_nor_repeats_one(
    tmp_path_factory: pytest.TempPathFactory,
    fetches: list[Fetch],
    partitions: int,
    data: st.DataObject,
) -> None:
    """Killed: what was not committed is forgotten; the partitions come back in another order."""
    state = tmp_path_factory.mktemp("state")
    bus = MemoryBus({topics.FINGERPRINTS: partitions})
    for block in blocks_of(fetches, 2, by_site(partitions)):
        bus.append(block)
    random = data.draw(st.randoms(use_true_random=False))
    for snapshot in data.draw(st.lists(st.sampled_from([None, False, True]), max_size=4)):
        worker = worker_of(index_stage(), bus, snapshots=state)
        inlet_of(worker).pick = random.choice
        for _ in range(data.draw(st.integers(0, 5))):
            worker.step(0)
        if snapshot is not None:
            worker.commit(snapshot=snapshot)
    worker = worker_of(index_stage(), bus, snapshots=state)
    inlet_of(worker).pick = random.choice
    work_off(worker)
    worker.close()
    sent = alerts_on(bus)
    assert standing(sent) == copies(fetches)
    # What was committed is not said again: nothing is withdrawn that does not stand, nor is told
    # as it stands, but where pages were overtaken.
    says: dict[str, list[bytes | None]] = {}
    for message in sent:
        says.setdefault(message.key, [None]).append(message.value)
    for said in says.values():
        assert all(one or other for one, other in pairwise(said))


def run_locally(directory: Path, fetches: list[Fetch], **settings_: object) -> set[str]:
    found = Settings(bus=f"local:{directory}", **settings_)  # type: ignore[arg-type]
    sink = LocalSink(LocalBus(directory), found, read_origin=None, say=print)
    for n, fetch in enumerate(fetches):
        sink.put(page_of(fetch))
        if n % 101 == 100:
            sink.checkpoint()
    sink.close()
    found = standing(LocalBus(directory).read(topics.ALERTS))
    # What was told again counts once, and what was withdrawn not at all.
    assert sink.alerts == len(found)
    return found


@pytest.mark.parametrize(("workers", "batch"), [(1, 1), (1, 64), (2, 7), (3, 16)])
def test_any_number_of_processes_and_any_batch_say_the_same(
    tmp_path: Path, workers: int, batch: int
) -> None:
    random = Random(workers * 100 + batch)
    fetches = mixed_crawl(300, Random(7).randrange)
    wanted = copies(fetches)
    assert len(wanted) > 30
    random.shuffle(fetches)
    assert run_locally(tmp_path, fetches, workers=workers, batch_pages=batch) == wanted
