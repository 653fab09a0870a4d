"""The verb `notify`: each alert is sent to a webhook or a command once it is there, until stopped.

At least once, and in the order of the topic: how far it came is committed after each alert that was
taken, as the group `notify-NAME` (in the directory of a local bus; on the cluster), so that a crash
repeats an alert and loses none. What is not taken is tried again, ever more slowly; after a while
the command gives up, and goes on from there when it is started again. What will never be taken is a
dead letter: it is said, counted, and passed over, or it would hold up all behind it. That an alert
was withdrawn is sent as well, as JSON with its id and the state `withdrawn`: the receiver has it.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from reusewatch.streams import topics
from reusewatch.streams.bus import BEGINNING, Inlet, Message, Partition, PastRetention, Unreachable
from reusewatch.streams.console import fail, say
from reusewatch.streams.opening import open_bus
from reusewatch.streams.records import Alert, Withdrawn
from reusewatch.streams.settings import Settings
from reusewatch.streams.signals import Stop, stopping
from reusewatch.streams.verbs.alerts import (
    KindOption,
    SeverityOption,
    choice_given,
)
from reusewatch.streams.verbs.choosing import AlertChoice
from reusewatch.streams.verbs.delivering import (
    Answer,
    Command,
    Delivery,
    Event,
    Later,
    Refused,
    Webhook,
)
from reusewatch.streams.verbs.listing import SinceOption
from reusewatch.streams.verbs.options import BUS, with_settings
from reusewatch.streams.wire import WireError, read_finding

POLL_SECONDS = 0.5
GIVE_UP_SECONDS = 900.0
_NAME = re.compile("[A-Za-z0-9._-]{1,64}")


class NotTaken(Unreachable):
    """The other side took nothing for so long that it was given up."""


@dataclass(frozen=True, slots=True)
class BackOff:
    """Pauses between attempts, each twice as long as the one before, and their limits."""

    first: float = 0.5
    longest: float = 60.0
    # A pause is not begun behind this.
    patience: float = GIVE_UP_SECONDS

    def pause(self, attempt: int, wanted: float | None) -> float:
        """Seconds before the next attempt; what the other side wants counts up to the longest.

        >>> [BackOff().pause(attempt, None) for attempt in (0, 1, 20)]
        [0.5, 1.0, 60.0]
        >>> BackOff().pause(0, 3600.0)
        60.0
        """
        own = self.first * 2.0 ** min(attempt, 30)
        return min(max(own, wanted or 0.0), self.longest)


@dataclass(slots=True)
class Sent:
    """What became of the alerts, counted."""

    taken: int = 0
    dead_letters: int = 0


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "notify",
        help="Send each alert to a webhook or a command once it is there, until stopped.\n\n"
        "At first those that stand on the bus; started again, it goes on where it was.\n\n"
        "Example: reusewatch notify --webhook https://hooks.example.org/x --severity critical",
    )(notify)


@with_settings(*BUS)
def notify(
    settings: Settings,
    webhook: Annotated[
        str | None, typer.Option("--webhook", metavar="URL", help="Post each as a CloudEvent here.")
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(
            "--exec", metavar="CMD",
            help="Run this for each, without a shell; it reads the alert's JSON. Exit code 65: it "
            "is never to be sent again; any other but 0: later.",
        ),
    ] = None,
    kind: KindOption = None,
    severity: SeverityOption = None,
    since: SinceOption = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name", metavar="NAME",
            help="How far it came is kept under this name; without it, under where it sends.",
        ),
    ] = None,
    give_up: Annotated[
        float,
        typer.Option("--give-up", metavar="SECONDS", min=0, help="End with 3 after so long."),
    ] = GIVE_UP_SECONDS,
) -> None:  # fmt: skip
    """Send alerts."""
    delivery = _delivery(webhook, command)
    if name is not None and not _NAME.fullmatch(name):
        fail(f"--name {name}: up to 64 letters, digits, dots, hyphens", 2)
    chosen = choice_given(kind=kind, severity=severity, since=since)
    made_of = (webhook or command or "").encode()
    group = f"notify-{name or hashlib.sha256(made_of).hexdigest()[:16]}"
    with stopping() as stop:
        inlet = open_bus(settings, stop=stop, say=say).inlet(group, [topics.ALERTS], sole=True)
        say(f"sending alerts to {delivery.name}; Ctrl-C ends it")
        sending = Sending(inlet, delivery, chosen, stop, BackOff(patience=give_up))
        try:
            sending.run()
        finally:
            inlet.close()
            say(f"{sending.sent.taken} sent, {sending.sent.dead_letters} dead letters")
    if stop.interrupted:
        raise typer.Exit(130)
    if sending.sent.dead_letters:
        raise typer.Exit(1)


def _delivery(webhook: str | None, command: str | None) -> Delivery:
    if (webhook is None) == (command is None):
        fail("notify: --webhook URL or --exec CMD, one of the two, says where to send", 2)
    try:
        return Webhook(webhook) if webhook is not None else Command(command or "")
    except ValueError as error:
        option = "--webhook" if webhook is not None else "--exec"
        fail(f"{option}: {error}", 2)


class Sending:
    """Sends what an inlet gives, one alert after the other."""

    def __init__(
        self, inlet: Inlet, delivery: Delivery, chosen: AlertChoice, stop: Stop, back_off: BackOff,
        tell: Callable[[str], None] = say,
    ) -> None:  # fmt: skip
        self.sent = Sent()
        self._inlet = inlet
        self._delivery = delivery
        self._chosen = chosen
        self._stop = stop
        self._back_off = back_off
        self._tell = tell
        # While it reads for the first time what stands there: what it has sent. All that was
        # withdrawn before is unknown to the receiver.
        self._sent_first: set[str] | None = None
        self._polled = False

    def run(self) -> None:
        """Until stopped; the alert in hand is finished. Raises NotTaken."""
        while not self._stop.is_set():
            self.some()

    def some(self) -> None:
        """What one poll gives."""
        try:
            messages = self._inlet.poll(POLL_SECONDS)
        except PastRetention as error:
            self._tell(f"the bus was begun anew, and so is this: {error}")
            self._inlet.seek(dict.fromkeys(self._inlet.committed(), BEGINNING))
            return
        self._see_whether_first(messages)
        done: dict[Partition, int] = {}
        for message in messages:
            sent = self.sent.taken
            # What was not sent when a stop came is sent when this is started again.
            if self._stop.is_set() or not self._did(message):
                break
            done[message.partition] = message.offset + 1
            if self.sent.taken != sent:
                self._inlet.commit(done)
                done = {}
        if done:  # passed over: nothing is lost if that is done once more
            self._inlet.commit(done)

    def _see_whether_first(self, messages: Sequence[Message]) -> None:
        if not messages:
            self._sent_first = None
        elif not self._polled:
            self._polled = True
            self._sent_first = None if self._inlet.committed() else set()

    def _did(self, message: Message) -> bool:
        """Whether the message is done with; False where a stop came first."""
        try:
            said = read_finding(message)
        except WireError as error:
            self._dead_letter(f"offset {message.offset}", str(error))
            return True
        if not self._wanted(said):
            return True
        answer = self._answer(Event.of(message, said))
        if isinstance(answer, Refused):
            self._dead_letter(f"alert {said.id}", answer.why)
        elif answer is not None:
            self.sent.taken += 1
            if self._sent_first is not None:
                self._sent_first.add(said.id)
        return answer is not None

    def _wanted(self, said: Alert | Withdrawn) -> bool:
        if isinstance(said, Alert):
            return self._chosen.fits(said)
        known = self._sent_first is None or said.id in self._sent_first
        return known and self._chosen.may_fit(said)

    def _dead_letter(self, what: str, why: str) -> None:
        self.sent.dead_letters += 1
        self._tell(f"dead letter: {what}: {why}"[:400])

    def _answer(self, event: Event) -> Answer | None:
        """Whether it was taken, in the end; None where a stop came first."""
        began, attempt = time.monotonic(), 0
        while isinstance(answer := self._delivery.send(event), Later):
            pause = self._back_off.pause(attempt, answer.seconds)
            waited = time.monotonic() - began
            if waited + pause > self._back_off.patience:
                raise NotTaken(
                    f"{self._delivery.name} {answer.why}; given up after {waited:.0f} s. Mend it, "
                    "and run this again: it goes on where it was"
                )
            self._tell(f"{self._delivery.name} {answer.why}: again in {pause:g} s")
            if self._stop.wait(pause):
                return None
            attempt += 1
        return answer
