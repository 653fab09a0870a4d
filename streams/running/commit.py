"""The commit order, in one place.

1. Outputs are flushed: what was found is safe.
2. The snapshot, if one is due: the state as of the offsets below. Where a stage has a changelog
   instead, what changed, always.
3. Offsets, last. A crash before them repeats a batch; the other order would lose one.

On start: the newest sound snapshot, and on from its offsets, with output muted up to the committed
ones (`streams.running.recovery`): what was reported before is not reported again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from reusewatch.streams.bus import BEGINNING, Inlet, Message, Offsets, Outlet, Partition
from reusewatch.streams.running.recovery import CatchUp
from reusewatch.streams.stages.snapshot import Loaded


class Progress:
    """What was processed and what is committed, per partition."""

    def __init__(self, inlet: Inlet, outlet: Outlet) -> None:
        self._inlet = inlet
        self._outlet = outlet
        self._done: dict[Partition, int] = {}
        self._committed: dict[Partition, int] = {}
        self._catch_up: CatchUp | None = None

    def recover(self, parts: Sequence[Partition], loaded: Loaded) -> None:
        """Stand where the snapshot ends, or at the beginning without one."""
        start = {part: loaded.offsets.get(part, BEGINNING) for part in parts}
        self._committed = dict(self._inlet.committed())
        self._inlet.seek(start)
        self._done = {part: offset for part, offset in start.items() if offset != BEGINNING}
        catch_up = CatchUp(self._inlet, start, self._committed)
        self._catch_up = None if catch_up.through else catch_up

    @property
    def recovering(self) -> bool:
        """Whether what was committed is still being read again."""
        return self._catch_up is not None

    @property
    def left(self) -> int:
        """Messages that are still to be read again, about: a log may begin later."""
        return 0 if self._catch_up is None else self._catch_up.left

    def repeats(self, messages: Sequence[Message]) -> list[Message]:
        """While recovering: the messages whose outcome was sent before the restart."""
        if self._catch_up is None:
            return []
        repeated = self._catch_up.repeats(messages)
        if self._catch_up.through:
            self._catch_up = None
        return repeated

    def did(self, message: Message) -> None:
        """The message is processed; what came of it was sent."""
        self._done[message.partition] = message.offset + 1

    def forget(self, parts: Sequence[Partition]) -> None:
        """These partitions are read by somebody else now."""
        for part in parts:
            self._done.pop(part, None)
        if self._catch_up is not None:
            self._catch_up.forget(parts)

    def commit(self, save: Callable[[Offsets], object] | None, *, beside: bool = False) -> None:
        """Make everything done so far last. `save` writes the snapshot that is due, or changes, and
        flushes before these count. Without it all may be done `beside` what comes next."""
        commit = partial(self._commit, self._ahead())
        if beside and save is None:
            self._outlet.flush_then(commit)
            return
        if save is None:
            self._outlet.flush()
        else:
            self._outlet.flush_then(_nothing)
            save(self._done)
        commit()

    def _ahead(self) -> Offsets:
        offsets = dict(self._done)
        if self._catch_up is not None:
            # What is read again is behind what was committed: a commit must not go back.
            offsets = {p: at for p, at in offsets.items() if at > self._committed.get(p, 0)}
        return offsets

    def _commit(self, offsets: Offsets) -> None:
        if offsets:
            self._inlet.commit(offsets)


def _nothing() -> None:
    """Offsets wait for what is saved."""
