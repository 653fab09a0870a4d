"""Recovery: everything that was judged before a restart is judged again, without a word, before
anything new is.

Partitions do not come back at the same pace. Were a new page of one judged while another is still
behind, what the one behind says of the new page would be taken for something said before, and an
alert be lost. So new messages are passed over until the last partition is through, then read.
"""

from __future__ import annotations

from collections.abc import Sequence

from reusewatch.streams.bus import BusBroken, Inlet, Message, Offsets, Partition, PastRetention


class CatchUp:
    """Between the offsets where reading starts and those that were committed."""

    def __init__(self, inlet: Inlet, start: Offsets, committed: Offsets) -> None:
        self._inlet = inlet
        self._committed = dict(committed)
        self._start = {part: max(at, 0) for part, at in start.items()}
        self._behind = {part for part, at in start.items() if max(at, 0) < committed.get(part, 0)}
        self._seen: dict[Partition, int] = {}
        self._passed_over: dict[Partition, int] = {}

    @property
    def through(self) -> bool:
        """Whether everything committed is in the state again."""
        return not self._behind

    @property
    def left(self) -> int:
        """Messages that are still to be judged again, where none is missing from the log."""
        return sum(
            self._committed[part] - self._seen.get(part, self._start[part]) for part in self._behind
        )

    def forget(self, parts: Sequence[Partition]) -> None:
        """These are somebody else's to read again."""
        for part in parts:
            self._behind.discard(part)
            self._passed_over.pop(part, None)

    def repeats(self, messages: Sequence[Message]) -> list[Message]:
        """Of the messages of a poll those to be judged without a word. Call until `through`."""
        repeated = [message for message in messages if self._is_repeated(message)]
        if not repeated:
            self._look_for_ends()
        if self.through and self._passed_over:
            self._inlet.seek(self._passed_over)
        return repeated

    def _is_repeated(self, message: Message) -> bool:
        part, offset = message.partition, message.offset
        committed = self._committed.get(part, 0)
        if part in self._behind and offset > committed:
            raise PastRetention(
                f"{part.topic}/{part.number}: done up to offset {committed}, and the next that is "
                f"there is {offset}: what lay between is lost to this process. Raise the retention "
                "of the topic, and replay what is missing"
            )
        self._seen[part] = offset + 1
        if offset + 1 >= committed:
            self._behind.discard(part)
        if offset < committed:
            return True
        self._passed_over.setdefault(part, offset)
        return False

    def _look_for_ends(self) -> None:
        """A partition may hold nothing any more of what was committed: retention took it."""
        waiting = self._inlet.lag()
        for part in [part for part in self._behind if not waiting.get(part, 0)]:
            if part in self._seen:
                raise BusBroken(
                    f"{part.topic}/{part.number} ends at offset {self._seen[part]}, yet it is done "
                    f"up to {self._committed[part]}: the topic was made anew, or partly restored. "
                    "Reset the offsets of the group, or use another --topic-prefix"
                )
            self._behind.discard(part)
