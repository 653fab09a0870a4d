"""kill -9 of a replay, or Ctrl-C twice, at any moment: run again, it ends where an undisturbed one
ends.

REUSEWATCH_TEST_KILLS asks for more of them, REUSEWATCH_TEST_SEED for others.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from random import Random

import pytest

from reusewatch.streams import topics
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.local import LocalBus
from tests.command import Done
from tests.end_to_end.conftest import Crawl
from tests.end_to_end.runs import (
    Run,
    children_of,
    command_line,
    run,
    started,
    state_in,
    wait_until,
)
from tests.pages import SCHEME, mixed_crawl, write_warc

KILLS = int(os.environ.get("REUSEWATCH_TEST_KILLS", "10"))
SEED = int(os.environ.get("REUSEWATCH_TEST_SEED", "1"))
OFTEN = {"commit_seconds": 0.02, "snapshot_seconds": 0.05, "batch_pages": 4}
SERIES = 2
# Steps of a replay that looks at its bus and starts its threads.
BEGINNING = 14
# By its path: the root of the project is not where this interpreter looks for modules.
MORTAL = Path(__file__).with_name("mortal.py")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = Random(SEED)
    fetches = mixed_crawl(250, random.randrange)
    random.shuffle(fetches)
    archive = tmp_path_factory.mktemp("small") / "small.warc.gz"
    write_warc(fetches, archive)
    archive.write_bytes(archive.read_bytes() + b"this is no record\n")
    return archive


def mortal(
    life: int, archive: Path, directory: Path, signals: str = "SIGKILL", workers: int = 1
) -> Done:
    """A replay that gets these signals at this step (0: never)."""
    command = [MORTAL, life, directory / "steps", signals]
    replay = Run(
        [*command, "replay", archive, "--bus", "local:s", "--json", "--workers", workers],
        directory, **OFTEN,
    )  # fmt: skip
    return replay.end()


@pytest.mark.parametrize("series", range(SERIES))
def test_killed_between_any_two_steps_of_making_things_last(
    small: Path, tmp_path: Path, series: int
) -> None:
    random = Random(SEED * 1000 + series)
    (tmp_path / "whole").mkdir()
    (tmp_path / "broken").mkdir()
    whole = mortal(0, small, tmp_path / "whole")
    assert whole.code == 1, whole.err
    assert "Traceback" not in whole.err, whole.err
    steps = int((tmp_path / "whole" / "steps").read_text())
    assert steps > 100
    for _ in range(KILLS // SERIES):
        ended = mortal(random.randint(1, steps), small, tmp_path / "broken")
        assert ended.code in (-signal.SIGKILL, 1), ended.err
    ended = mortal(0, small, tmp_path / "broken")
    assert ended.code == 1, ended.err
    assert ended.objects, ended.err
    assert ended.objects[0]["pages"] == whole.objects[0]["pages"]
    assert state_in(tmp_path / "broken" / "s") == state_in(tmp_path / "whole" / "s")
    found, once = (brought(tmp_path / name / "s") for name in ("broken", "whole"))
    # What is through, also one that is killed as it closes, is brought once more by the next one:
    # all of it, and never a part.
    assert found == len(found) // len(once) * once


@pytest.mark.parametrize("workers", [1, 2])
def test_a_second_ctrl_c_between_any_two_steps_loses_nothing(
    small: Path, tmp_path: Path, workers: int
) -> None:
    random = Random(SEED * 1000 + workers)
    for name in ("whole", "broken"):
        (tmp_path / name).mkdir()
    whole = mortal(0, small, tmp_path / "whole", workers=workers)
    assert whole.code == 1, whole.err
    steps = int((tmp_path / "whole" / "steps").read_text())
    for _ in range(KILLS // 2):
        step = random.randint(1, steps)
        ended = mortal(step, small, tmp_path / "broken", "SIGINT,SIGINT", workers)
        assert ended.code in (130, 1), ended.err
        assert "Traceback" not in ended.err, ended.err
    ended = mortal(0, small, tmp_path / "broken", workers=workers)
    assert ended.code == 1, ended.err
    assert state_in(tmp_path / "broken" / "s") == state_in(tmp_path / "whole" / "s")
    found, once = (brought(tmp_path / name / "s") for name in ("broken", "whole"))
    assert found == len(found) // len(once) * once


def test_a_second_ctrl_c_while_a_replay_begins_ends_it(small: Path, tmp_path: Path) -> None:
    for step in range(1, BEGINNING + 1):
        ended = mortal(step, small, tmp_path, "SIGINT,SIGINT", workers=2)
        assert ended.code == 130, ended.err
        assert "Traceback" not in ended.err, ended.err


def brought(bus: Path) -> list[str]:
    """Every page that was brought onto a bus, in the order in which they came."""
    blocks = LocalBus(bus).read(topics.FINGERPRINTS)
    return [url for one in blocks for url in read_block(one, SCHEME).column("url").to_pylist()]


def written(directory: Path) -> int:
    return sum(path.stat().st_size for path in (directory / "s" / "fingerprints").glob("*.log"))


def below(pid: int) -> list[int]:
    """The processes that a process started, and those that these did."""
    started = children_of(pid)
    return [*started, *(one for child in started for one in below(child))]


def workers_of(pid: int) -> list[int]:
    """Its worker processes: forked from itself at its start, and from one that it started to
    replace those that died."""
    helpers = {child for child in children_of(pid) if "multiprocessing" in command_line(child)}
    return [one for one in below(pid) if one not in helpers]


def test_killed_from_outside_at_any_moment(crawl: Crawl, tmp_path: Path) -> None:
    random = Random(SEED)
    args = ("replay", crawl.archive, "--bus", "local:s", "--workers", 2)
    for _ in range(max(KILLS // 4, 2)):
        enough = written(tmp_path) + random.randrange(60_000)
        with started(*args, cwd=tmp_path, **OFTEN) as replay:
            wait_until(lambda: written(tmp_path) > enough or not replay.running)  # noqa: B023
            workers = below(replay.process.pid)
            replay.tell(signal.SIGKILL)
            replay.end()
        # Nobody is left behind to wait for ever.
        wait_until(lambda: not any(map(command_line, workers)))  # noqa: B023
    ended = run(*args, cwd=tmp_path)
    assert ended.code == 1, ended.err
    assert state_in(tmp_path / "s") == crawl.wanted


def test_a_worker_process_that_is_killed_is_replaced(crawl: Crawl, tmp_path: Path) -> None:
    random = Random(SEED)
    args = ("replay", crawl.archive, "--bus", "local:s", "--workers", 2)
    with started(*args, cwd=tmp_path, **OFTEN) as replay:
        for size in (1, 40_000):
            wait_until(lambda: written(tmp_path) > size or not replay.running)  # noqa: B023
            workers = workers_of(replay.process.pid)
            assert workers or not replay.running
            for worker in random.sample(workers, min(1, len(workers))):
                os.kill(worker, signal.SIGKILL)
        ended = replay.end()
    assert ended.code == 1, ended.err
    assert state_in(tmp_path / "s") == crawl.wanted
