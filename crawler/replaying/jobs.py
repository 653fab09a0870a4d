"""What one replay reads: archives, trees of pages, and directories that a crawl still fills."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from reusewatch.crawler.archives.reading import read_archive
from reusewatch.crawler.errors import SourceError
from reusewatch.crawler.pages.archive_events import Found, Limits
from reusewatch.crawler.replaying.giving_up import until_given_up
from reusewatch.crawler.replaying.readable import file_of, is_below
from reusewatch.crawler.replaying.sources import Source, check_name, expand, follow
from reusewatch.crawler.replaying.trees import tree_pages
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.records import STDIN

Idle = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Reader:
    """How everything of a job is read."""

    scheme: HashScheme
    limits: Limits
    # The share of damage from which on an archive is left, and whether links may lead out of trees.
    dead_letter_limit: float = 1.0
    follow_links: bool = False
    stop: Callable[[], bool] = bool
    # Below these directories dates are believed; pages of others count as fetched when the job
    # began: one time for all, so that none of them precedes another by the order of reading.
    trust_dates: tuple[str, ...] = (os.sep,)
    began: datetime = field(default_factory=lambda: datetime.now(UTC))

    def dated(self, path: str, at: datetime) -> datetime | None:
        """When the pages of a file or directory count as fetched; None where it is believed."""
        # Of a pipe nobody knows what it is below: it is believed where everything is.
        real = os.sep if path == STDIN else os.path.realpath(path)
        believed = any(is_below(real, os.path.realpath(root)) for root in self.trust_dates)
        return None if believed else at


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive of the job."""

    source: Source
    reader: Reader
    # Of one that a crawl finished while it was followed: when it was found.
    found: datetime | None = None

    @property
    def dated(self) -> datetime | None:
        """When its pages count as fetched, where its own dates are not believed."""
        return self.reader.dated(file_of(self.name), self.found or self.reader.began)

    @property
    def name(self) -> str:
        """Its path."""
        return self.source.name

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.source.size or 0

    @property
    def lasts(self) -> bool:
        """Whether it can be read twice; what comes through a pipe cannot."""
        return self.source.size is not None

    def read(self, start: int, doubt: int = 0) -> Iterator[Found]:
        """Its records, up to where it is given up."""
        reader = self.reader
        events = read_archive(
            self.name, scheme=reader.scheme, limits=reader.limits, start=start, doubt=doubt,
            clock=now, stop=reader.stop, dated=self.dated,
        )  # fmt: skip
        return until_given_up(events, reader.dead_letter_limit)


@dataclass(frozen=True, slots=True)
class Tree:
    """A directory of saved HTML, served as a URL."""

    directory: str
    url: str
    reader: Reader

    @property
    def name(self) -> str:
        """Directory and URL."""
        return f"{self.directory}={self.url}"

    @property
    def size(self) -> int:
        """Nobody knows before it is read."""
        return 0

    @property
    def lasts(self) -> bool:
        """Files are."""
        return True

    def read(self, start: int, _doubt: int = 0) -> Iterator[Found]:
        """Its pages."""
        return tree_pages(
            self.directory, self.url, scheme=self.reader.scheme, limits=self.reader.limits,
            start=start, clock=now, follow_links=self.reader.follow_links,
            dated=self.reader.dated(self.directory, self.reader.began),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Job:
    """What is replayed. `name` is how an interrupted replay is known again."""

    archives: tuple[Archive | Tree, ...]
    followed: str | None
    settle_seconds: float
    reader: Reader
    stop: threading.Event

    @property
    def name(self) -> str:
        """All that was named."""
        names = [source.name for source in self.archives]
        return "\n".join([*names, f"follow {self.followed}"] if self.followed else names)

    @property
    def files(self) -> list[str]:
        """The files that are read, and the directories below which any file is."""
        named = [
            source.directory if isinstance(source, Tree) else file_of(source.name)
            for source in self.archives
        ]
        return [*(name for name in named if name != STDIN), *filter(None, [self.followed])]

    @property
    def endless(self) -> bool:
        """Whether it ends by being stopped only."""
        return self.followed is not None

    @property
    def resumable(self) -> bool:
        """Whether what was read can be read again."""
        return all(source.lasts for source in self.archives)

    def going_on(self, began: datetime) -> Job:
        """This job, begun then: what is not believed of its dates counts as fetched at one time,
        however often it was interrupted."""
        reader = replace(self.reader, began=began)
        archives = tuple(replace(source, reader=reader) for source in self.archives)
        return replace(self, archives=archives, reader=reader)

    def sources(self, idle: Idle) -> Iterator[Archive | Tree]:
        """One after the other; `idle` is called while a followed crawl has finished nothing."""

        def wait(seconds: float) -> None:
            idle()
            self.stop.wait(seconds)

        yield from self.archives
        if self.followed is not None:
            found = follow(
                self.followed,
                stop=self.stop.is_set,
                settle_seconds=self.settle_seconds,
                wait=wait,
            )
            for source in found:
                yield Archive(source, self.reader, now())


def job_of(
    paths: Sequence[str],
    trees: Sequence[str],
    followed: Path | None,
    *,
    reader: Reader,
    settle_seconds: float,
    stop: threading.Event,
) -> Job:
    """The job that a command line names. Raises SourceError for what is not there."""
    if not paths and not trees and followed is None:
        raise SourceError("name archives, directories or globs, or give --tree or --follow")
    archives = [Archive(source, reader) for source in expand([_absolute(path) for path in paths])]
    return Job(
        (*archives, *(_tree(text, reader) for text in trees)),
        None if followed is None else os.path.abspath(followed),
        settle_seconds,
        reader,
        stop,
    )


def _absolute(path: str) -> str:
    # Workers elsewhere on the machine read large pages again by this name.
    return path if path == STDIN else os.path.abspath(path)


def _tree(text: str, reader: Reader) -> Tree:
    directory, equals, url = text.partition("=")
    if not equals or not url.startswith(("http://", "https://")):
        raise SourceError(f"--tree {text}: DIR=URL is expected, such as site/=https://example.org/")
    if not os.path.isdir(directory):
        raise SourceError(f"--tree {text}: there is no directory {directory}")
    check_name(directory)
    return Tree(os.path.abspath(directory), url, reader)


def now() -> datetime:
    """The time of a dead letter, or of what is found while a crawl is followed."""
    return datetime.now(UTC)
