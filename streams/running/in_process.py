"""The parsing half in this process: what `parallel` does on several, without loading what starts
and ends processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reusewatch.streams.bus import Message
from reusewatch.streams.records import Page
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.stage import Output, Stage


class InProcess:
    """One process: this one."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def pages(self, pages: Sequence[Page]) -> Iterator[Output]:
        """Done at once, of pages that were never packed."""
        assert isinstance(self._stage, FingerprintStage)  # noqa: S101 - no other takes pages
        yield self._stage.pages(pages)

    def submit(self, batch: Sequence[Message]) -> Iterator[Output]:
        """Done at once."""
        yield self._stage.process(batch)

    def drain(self) -> Iterator[Output]:
        """Nothing waits."""
        return iter(())

    def let_go(self) -> None:
        """Nothing to end."""

    def close(self) -> None:
        """Nothing to end."""
