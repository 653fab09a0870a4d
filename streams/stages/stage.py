"""What every stage is: messages in, messages out, and a state that can be saved.

A stage knows neither the bus nor the clock on the wall beyond what it is given; the worker around
it polls, sends and commits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from reusewatch.streams.bus import Message, Outgoing
from reusewatch.streams.labels.marking import InForce
from reusewatch.streams.questions import Parameters, Rows
from reusewatch.streams.stages.snapshot import State


class Unfinished(Protocol):
    """Messages that another process is still at work on."""

    def ready(self) -> bool:
        """Whether nobody would wait for them."""

    def finished(self) -> list[tuple[Outgoing, Outgoing]]:
        """Wait for them: what stands for each among the messages, and what belongs there."""


@dataclass(frozen=True, slots=True)
class Output:
    """What came of a batch: messages to send, and counts of what was seen."""

    messages: list[Outgoing] = field(default_factory=list)
    # Pages in the batch; dead letters by reason; other events by name. Names are a closed set.
    pages: int = 0
    dead: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    # The labeled dataset that the batch was matched with.
    labels: InForce | None = None
    # How many popular shingles pages have, that were judged by them.
    popular: Sequence[int] = ()
    # What stands for messages that are not made yet. Nothing of it is sent before it is finished.
    unfinished: Sequence[Unfinished] = ()

    def ready(self) -> bool:
        """Whether nobody would wait for it to be finished."""
        return all(one.ready() for one in self.unfinished)

    def finished(self) -> Output:
        """With all its messages. Waits for those that are not made yet."""
        if not self.unfinished:
            return self
        made = {id(place): one for part in self.unfinished for place, one in part.finished()}
        messages = [made.get(id(message), message) for message in self.messages]
        return replace(self, messages=messages, unfinished=())


@dataclass(frozen=True, slots=True)
class Line:
    """Where the line is drawn from which on something is reported, and what it is drawn by."""

    threshold: float
    mean: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Condition:
    """How a stage's state is: what it may grow to, what times it spans, the lines in force."""

    most_rows: int | None = None
    oldest_us: int | None = None
    newest_us: int | None = None
    # Pages that it has judged, over all that was ever restored: its steps are counted from there.
    passed: int = 0
    # By the figure that is compared with it: `contains` or `badness`.
    lines: Mapping[str, Line] = field(default_factory=dict)


class Stage(Protocol):
    """A step on a page's way."""

    @property
    def name(self) -> str:
        """The stage's name, and its consumer group's."""

    @property
    def reads(self) -> Sequence[str]:
        """The topics that it reads."""

    @property
    def sole(self) -> bool:
        """One process reads everything (its state spans all sites); others stand by."""

    def process(self, messages: Sequence[Message]) -> Output:
        """Take a batch of messages, in order per partition."""

    def settle(self) -> Output:
        """Judge what waits for later pages, as none come now; nothing where nothing waits."""

    def rows(self) -> int:
        """Rows of state."""

    def nbytes(self) -> int:
        """Bytes of state, about."""

    def condition(self) -> Condition:
        """How the state is, for who watches."""

    def save(self) -> State | None:
        """The state, or None where there is none to keep."""

    def restore(self, state: State | None, *, question: str | None = None) -> None:
        """Be as when this was saved, or, with None, as at first: what was known is forgotten. For
        a `question`, all that answers it, and no more than that has to be taken up."""

    def answer(self, name: str, parameters: Parameters) -> Rows:
        """What a question to the state comes to; changes nothing. BadQuestion if it is none."""


@runtime_checkable
class Repeats(Protocol):
    """A stage that spares itself what is made for the output alone."""

    def repeat(self, messages: Sequence[Message]) -> Output:
        """Take messages again to be where they led to; nobody hears the output."""
