"""What is disturbed: a replay, and the judge of spools, each alone on a small disk of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from reusewatch.streams import topics
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.local import LocalBus
from reusewatch.streams.local.spools import SpoolWriter
from reusewatch.streams.wire import page_message
from tests.end_to_end.runs import State, environment_of, state_in
from tests.pages import SCHEME, mixed_crawl, page_of, write_warc

PAGES = 600
PATIENCE = 600.0
DISK = 64 << 20
OFTEN: dict[str, object] = {"commit_seconds": 0.05, "snapshot_seconds": 0.2, "batch_pages": 16}
# How a command may end that something happened to: by itself, for want of room, or by Ctrl-C.
_CODES = (0, 3, 130)


class Trouble(Exception):
    """A command that ended as none may end."""


@dataclass(frozen=True)
class Held:
    """What a bus holds in the end."""

    state: State
    urls: frozenset[str]

    @classmethod
    def by(cls, bus: Path) -> Held:
        blocks = LocalBus(bus).read(topics.FINGERPRINTS)
        urls = (read_block(one, SCHEME).column("url").to_pylist() for one in blocks)
        return cls(state_in(bus), frozenset(url for some in urls for url in some))


@dataclass(frozen=True)
class Begun:
    """A job under way in a directory."""

    directory: Path
    words: tuple[str, ...]
    wanted: Held | None

    @property
    def bus(self) -> Path:
        return self.directory / "bus"

    def written(self) -> int:
        """Bytes of the log of fingerprints."""
        return sum(path.stat().st_size for path in (self.bus / "fingerprints").glob("*.log"))

    def start(self) -> subprocess.Popen[bytes]:
        """The command, once more."""
        with (self.directory.parent / f"{self.directory.name}.err").open("wb") as err:
            return subprocess.Popen(
                [sys.executable, "-m", "reusewatch.crawler", *self.words], cwd=self.directory,
                env=environment_of(OFTEN), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=err, start_new_session=True,
            )  # fmt: skip

    def ended(self, process: subprocess.Popen[bytes]) -> int:
        """Its exit code."""
        try:
            code = process.wait(PATIENCE)
        finally:
            process.kill()
            process.wait()
        said = (self.directory.parent / f"{self.directory.name}.err").read_text()
        if code not in _CODES or "Traceback" in said:
            raise Trouble(f"ended with {code}: {said[-500:]}")
        return code

    def to_the_end(self) -> None:
        """Let it do what is left."""
        if (code := self.ended(self.start())) != 0:
            raise Trouble(f"undisturbed, it ended with {code}")

    def lost(self) -> str | None:
        """What is not there that an undisturbed run has, or the other way round."""
        held, wanted = Held.by(self.bus), self.wanted
        if wanted is None or held == wanted:
            return None
        parts = {
            "verdicts": (held.state.verdicts.keys(), wanted.state.verdicts.keys()),
            "alerts": (held.state.alerts.keys(), wanted.state.alerts.keys()),
            "pages in the log": (held.urls, wanted.urls),
        }
        counted = [
            f"{len(there - here)} {name} missing, {len(here - there)} too many"
            for name, (here, there) in parts.items()
            if here != there
        ]
        return ", ".join(counted) or f"these differ: {_differing(held.state, wanted.state)}"


def _differing(here: State, there: State) -> str:
    """What is said otherwise, of findings that both have."""
    found = [
        f"{alert['kind']} {name}: {alert[name]!r:.200} instead of {there.alerts[key][name]!r:.200}"
        for key, alert in here.alerts.items()
        for name in alert
        if alert[name] != there.alerts[key][name]
    ]
    found += [url for url, said in here.verdicts.items() if said != there.verdicts[url]]
    return "; ".join(found[:5]) or "dead letters"


@dataclass(frozen=True)
class Job:
    """Something that can be begun again and again."""

    name: str
    words: tuple[str, ...]
    template: Path
    wanted: Held | None = None

    @contextmanager
    def begun(self, directory: Path) -> Iterator[Begun]:
        """The job in a new directory, which is a disk of its own."""
        directory.mkdir()
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", directory], check=True
        )
        try:
            shutil.copytree(self.template, directory, dirs_exist_ok=True)
            yield Begun(directory, self.words, self.wanted)
        finally:
            subprocess.run(["umount", "--lazy", directory], check=True)


def jobs_in(directory: Path) -> list[Job]:
    """All jobs, and what an undisturbed run of each comes to."""
    random = Random(5)
    fetches = mixed_crawl(PAGES, random.randrange)
    random.shuffle(fetches)
    # Beside the disks: alerts name where a page can be read again.
    archive, nothing, spooled = (directory / name for name in ("crawl.warc.gz", "none", "spooled"))
    nothing.mkdir()
    write_warc(fetches, archive)
    for part in range(2):
        writer = SpoolWriter(spooled / "bus")
        for fetch in fetches[part::2]:
            writer.append(page_message(page_of(fetch)))
        writer.close()
    found = []
    for workers in ("1", "2"):
        on = ("--bus", "local:bus", "--workers", workers)
        replay, judge = ("replay", str(archive), *on), ("work", "local", *on)
        found.append(Job(f"replay, {workers} at work", replay, nothing))
        found.append(Job(f"judge, {workers} at work", judge, spooled))
    return [_measured(job, directory / f"whole-{number}") for number, job in enumerate(found)]


def _measured(job: Job, directory: Path) -> Job:
    with job.begun(directory) as begun:
        begun.to_the_end()
        wanted = Held.by(begun.bus)
    assert len(wanted.urls) == len(wanted.state.verdicts) > PAGES // 4
    return Job(job.name, job.words, job.template, wanted)


os.nice(10)
