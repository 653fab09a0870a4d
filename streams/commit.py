"""The commit order, in one place.

1. Outputs are flushed: what was found is safe.
2. The snapshot, if one is due: the state as of the offsets below.
3. Offsets, last. A crash before them repeats a batch; the other order would lose one.

On start: the newest sound snapshot, and on from its offsets, with output muted up to the committed
ones: what was reported before is not reported again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from streams.bus import BEGINNING, Inlet, Message, Offsets, Outlet, Partition
from streams.snapshot import Snapshots, State


@dataclass(frozen=True, slots=True)
class Recovered:
    """Where a stage goes on from."""

    state: State | None
    rejected: tuple[str, ...]


class Progress:
    """What was processed and what is committed, per partition."""

    def __init__(self, inlet: Inlet, outlet: Outlet, snapshots: Snapshots | None) -> None:
        self._inlet = inlet
        self._outlet = outlet
        self._snapshots = snapshots
        self._done: dict[Partition, int] = {}
        self._muted_up_to: dict[Partition, int] = {}

    def recover(self, parts: list[Partition]) -> Recovered:
        """Stand where the newest sound snapshot ends, or at the beginning without one."""
        if self._snapshots is None:
            return Recovered(None, ())
        loaded = self._snapshots.load()
        self._muted_up_to = dict(self._inlet.committed())
        start = {part: loaded.offsets.get(part, BEGINNING) for part in parts}
        self._inlet.seek(start)
        self._done = {part: offset for part, offset in start.items() if offset != BEGINNING}
        return Recovered(loaded.state, loaded.rejected)

    def muted(self, message: Message) -> bool:
        """Whether what comes of the message was sent before a restart."""
        return message.offset < self._muted_up_to.get(message.partition, 0)

    def did(self, message: Message) -> None:
        """The message is processed; what came of it was sent."""
        self._done[message.partition] = message.offset + 1

    def forget(self, parts: list[Partition]) -> None:
        """These partitions are read by somebody else now."""
        for part in parts:
            self._done.pop(part, None)

    @property
    def done(self) -> Offsets:
        """The offset after the last message processed, per partition."""
        return self._done

    def commit(self, state: Callable[[], State | None] | None) -> None:
        """Make everything done so far last. With `state`, a snapshot is due."""
        self._outlet.flush()
        saved = state() if state is not None else None
        if saved is not None and self._snapshots is not None:
            self._snapshots.save(saved, self._done)
        ahead = {
            part: offset
            for part, offset in self._done.items()
            if offset > self._muted_up_to.get(part, 0)
        }
        if ahead:
            self._inlet.commit(ahead)
