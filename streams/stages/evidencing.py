"""Evidence of alerts about two pages: both are read again where they came from, and aligned.

Judging does not wait for it: so many pairs a step of pages, and so many bytes of their pages,
whatever the clock says and however pages came in batches, since two runs over the same pages must
say the same. What is over it is made when somebody asks. An alert without evidence says why there
is none, and has the same id.

It hangs on the alerts alone, so another process can make it (`elsewhere`): the alerts then keep
their places among what is sent.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from msgspec.structs import replace

from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.documents import documents_of
from reusewatch.streams.page_text import ReadKnown, ReadOrigin, read_or_why, together
from reusewatch.streams.records import (
    Alert,
    Differs,
    Evidence,
    EvidenceMissing,
    Origin,
    Page,
    Within,
)
from reusewatch.streams.stages.quilt_reports import with_other_donors
from reusewatch.streams.wire import alert_message, packed_alerts, unpacked_alerts

if TYPE_CHECKING:
    from reusewatch.detector.evidence.pairs import Told
    from reusewatch.streams.stages.snapshot import State

MOST_ROWS = 5
"""Passages that an alert carries, those that say most; `alerts show` draws all."""
MOST_BYTES = 32 << 20
"""Bytes of pages that are aligned in a step; those behind it are left to who asks."""
# Donors are named again and again, by each page that has them, and other pages hardly ever: of
# donors that were read so many bytes are kept for the steps that follow.
_KEPT_BYTES = 2 << 20
# Of a step that has not ended, about.
_STEP_BYTES = 200
_EVENTS: Mapping[EvidenceMissing | None, str] = {
    None: "evidence-made",
    "budget": "evidence-budget",
    "no origin": "evidence-no-origin",
    "retention": "evidence-gone",
    "archive gone": "evidence-gone",
    "crawl without keep_pages": "evidence-gone",
    "changed": "evidence-changed",
    "no common run": "evidence-no-common-run",
}


class Place(NamedTuple):
    """Where a page can be read again, and the hash of what was there: the same for a subject, of
    which the name of its record is known too, and for a donor."""

    source: str
    offset: int
    file_hash: str

    @property
    def origin(self) -> Origin:
        """What is asked for."""
        return Origin(source=self.source, offset=self.offset)


_Places = tuple[Place, Place]


@runtime_checkable
class Holds(Protocol):
    """What reads pages again, and can keep one at hand that will be asked for."""

    def hold(self, origin: Origin) -> None:
        """The page of an origin is asked for later."""

    def release(self, origin: Origin) -> object:
        """It is not, or was."""

    def only_here(self, origin: Origin) -> bool:
        """Whether another process may fail to read it."""


class Allowance(NamedTuple):
    """What is left of what may be aligned in a step."""

    pairs: int
    size: int


@dataclass(frozen=True, slots=True)
class Made:
    """Alerts with their evidence, what happened, and what is left to those that follow."""

    alerts: list[Alert]
    events: Counter[str]
    left: Allowance

    def __reduce__(self) -> Any:
        return _made, (packed_alerts(self.alerts), self.events, self.left)


def _made(alerts: bytes, events: Counter[str], left: Allowance) -> Made:
    return Made(unpacked_alerts(alerts), events, left)


class Underway(Protocol):
    """What another process makes."""

    def done(self) -> bool:
        """Whether it is there."""

    def result(self) -> Made:
        """Wait for it."""


Elsewhere = Callable[[Sequence[Alert], Allowance], Underway]


class Making:
    """Makes evidence: reads both pages of each alert, and aligns them."""

    def __init__(self, scheme: HashScheme, read_origin: ReadOrigin | None) -> None:
        self._scheme = scheme
        self._read_origin = read_origin
        self._kept: OrderedDict[Place, Page] = OrderedDict()
        self._kept_bytes = 0

    def make(self, alerts: Sequence[Alert], allowance: Allowance) -> Made:
        """The alerts, each with its evidence or why it has none. All pages are scanned together."""
        pages: dict[Place, Page | EvidenceMissing] = {}
        events = Counter[str]()
        places = []
        with self._reading() as read:
            for alert in alerts:
                both, allowance = self._read(alert, read, pages, allowance)
                places.append(both)
        pairs = [both for both in places if not isinstance(both, str)]
        told = iter(self._told(pairs, pages))
        self._keep({there: pages[there] for _, there in pairs})
        out = []
        for alert, both in zip(alerts, places, strict=True):
            if isinstance(both, str):
                made = replace(alert, evidence_missing=both)
            else:
                pair = next(told)
                made = told_of(alert, pair)
                events["evidence-cut"] += pair.cut
            out.append(made)
            events[_EVENTS[made.evidence_missing]] += 1
        return Made(out, events, allowance)

    def _told(
        self, places: Sequence[_Places], pages: dict[Place, Page | EvidenceMissing]
    ) -> list[Told]:
        """What the pages at two places have of each other. All are scanned together."""
        if not places:
            return []
        from reusewatch.detector.evidence.many_pairs import told_of_pairs
        from reusewatch.detector.evidence.pages import many_words

        found = {one: page for one, page in pages.items() if isinstance(page, Page)}
        number = {one: at for at, one in enumerate(found)}
        words = many_words(documents_of(list(found.values())), self._scheme)
        pairs = [(number[here], number[there]) for here, there in places]
        return told_of_pairs(words, pairs, self._scheme, MOST_ROWS)

    def _reading(self) -> AbstractContextManager[ReadKnown | None]:
        return nullcontext() if self._read_origin is None else together(
            self._read_origin, self._scheme
        )  # fmt: skip

    def _read(
        self, alert: Alert, read: ReadKnown | None, pages: dict[Place, Page | EvidenceMissing],
        allowance: Allowance,
    ) -> tuple[_Places | EvidenceMissing, Allowance]:  # fmt: skip
        """Read both pages of an alert, unless they are at hand; or why that was not done."""
        both = places_of(alert)
        if both is None or read is None:
            return "no origin", allowance
        pairs, size = allowance
        if pairs <= 0 or size <= 0:
            return "budget", allowance
        for one in both:
            if one not in pages:
                pages[one] = self._kept.get(one) or read(one.origin, int(one.file_hash, 16))
            page = pages[one]
            if not isinstance(page, Page):
                return page, Allowance(pairs - 1, size)
            # Also of those that are at hand: they are scanned, and what was kept must not matter.
            size -= len(page.body)
        return both, Allowance(pairs - 1, size)

    def _keep(self, pages: dict[Place, Page | EvidenceMissing]) -> None:
        for one, page in pages.items():
            if isinstance(page, Page):
                before = self._kept.pop(one, None)
                self._kept_bytes += len(page.body) - (len(before.body) if before else 0)
                self._kept[one] = page
        while self._kept_bytes > _KEPT_BYTES:
            _, gone = self._kept.popitem(last=False)
            self._kept_bytes -= len(gone.body)


@dataclass(slots=True)
class _Step:
    left: Allowance | Underway
    # Told again while nobody hears it: what these took is reckoned if the step goes on.
    muted: list[Alert] = field(default_factory=list)

    def allowance(self, making: Making) -> Allowance:
        """What those before left; waits for them."""
        left = self.left if isinstance(self.left, Allowance) else self.left.result().left
        if self.muted:
            left = self.left = making.make(self.muted, left).left
            self.muted = []
        return left


class Evidencing:
    """Has evidence made for up to `pairs` alerts a step; without `read_origin` for none."""

    def __init__(
        self, scheme: HashScheme, read_origin: ReadOrigin | None, pairs: int,
        elsewhere: Elsewhere | None = None,
    ) -> None:  # fmt: skip
        self._making = Making(scheme, read_origin)
        reader: object = read_origin
        self._holds = reader if isinstance(reader, Holds) else None
        self._elsewhere = elsewhere if read_origin is not None and pairs else None
        self._pairs = pairs
        self._unfinished: list[LateAlerts] = []
        self._muted = False
        self.restore(None)

    def begin(self) -> None:
        """What follows is a step by itself."""
        self._step = _Step(Allowance(self._pairs, MOST_BYTES))

    def resume(self, partition: str) -> None:
        """What follows belongs to the step of a partition that has not ended."""
        if partition not in self._steps:
            self.begin()
            self._steps[partition] = self._step
        self._step = self._steps[partition]

    def ended(self, partition: str) -> None:
        """The step of a partition has ended."""
        self._steps.pop(partition, None)

    @contextmanager
    def muted(self) -> Iterator[None]:
        """What is told meanwhile was told before: nothing is made, but it counts in its step."""
        self._muted = True
        try:
            yield
        finally:
            self._muted = False

    def nbytes(self) -> int:
        """Bytes of state, about."""
        return _STEP_BYTES * len(self._steps)

    def save(self) -> State:
        """What is left to the steps that have not ended, else a restart would give it anew."""
        from reusewatch.streams.stages.snapshot import State  # not for who only asks

        left = {name: [*step.allowance(self._making)] for name, step in self._steps.items()}
        return State(facts={"left": left})

    def restore(self, state: State | None) -> None:
        """Be as when this was saved; a state of before says nothing of it."""
        left = {} if state is None else state.facts["left"]
        self._steps = {name: _Step(Allowance(*of)) for name, of in left.items()}
        self.begin()

    def expect(self, origin: Origin | None) -> None:
        """An alert of this page is told when it has settled: its evidence needs the page then."""
        if origin is not None and self._holds is not None and self._pairs:
            self._holds.hold(origin)

    def settled(self, origin: Origin | None) -> None:
        """What was told of a page when it settled is told: it is expected no more."""
        if origin is not None and self._holds is not None:
            self._holds.release(origin)

    def messages(self, alerts: Sequence[Alert], events: Counter[str]) -> list[Outgoing]:
        """The alerts with their evidence, as messages. Where another process makes it they stand
        for them until then, see `take`."""
        if not alerts:
            return []
        step = self._step
        if self._muted:
            # More of them than may be made would change nothing of what is left.
            room = self._pairs - len(step.muted)
            step.muted += [alert for alert in alerts if places_of(alert)][:room]
            return [alert_message(alert) for alert in alerts]
        if self._elsewhere is None or self._only_here(alerts):
            made = self._making.make(alerts, step.allowance(self._making))
            step.left = made.left
            events.update(made.events)
            return _messages(alerts, made)
        step.left = underway = self._elsewhere(alerts, step.allowance(self._making))
        # Of no topic: one that is sent as it is would be refused.
        places = [Outgoing("", alert.id, None) for alert in alerts]
        self._unfinished.append(LateAlerts(alerts, places, underway, events))
        return places

    def _only_here(self, alerts: Sequence[Alert]) -> bool:
        """Whether a page of any cannot be read elsewhere: what another process finds is then not
        what this one does."""
        holds = self._holds
        both = (places_of(alert) or () for alert in alerts)
        return holds is not None and any(holds.only_here(x.origin) for two in both for x in two)

    def take(self) -> list[LateAlerts]:
        """Those that stand for alerts, since it was asked last."""
        taken, self._unfinished = self._unfinished, []
        return taken


@dataclass(frozen=True, slots=True)
class LateAlerts:
    """Alerts whose evidence is being made, and the messages that stand for them until then."""

    alerts: Sequence[Alert]
    places: list[Outgoing]
    underway: Underway
    events: Counter[str]

    def ready(self) -> bool:
        """Whether nobody would wait."""
        return self.underway.done()

    def finished(self) -> list[tuple[Outgoing, Outgoing]]:
        """Each place, and the message that belongs there."""
        made = self.underway.result()
        self.events.update(made.events)
        return list(zip(self.places, _messages(self.alerts, made), strict=True))


def _messages(alerts: Sequence[Alert], made: Made) -> list[Outgoing]:
    return [
        alert_message(with_other_donors(one, alert))
        for one, alert in zip(made.alerts, alerts, strict=True)
    ]


def places_of(alert: Alert) -> _Places | None:
    """Where the subject and the first donor can be read again; None where one cannot."""
    donor = alert.donors[0] if alert.donors else None
    if donor is None or alert.origin is None or donor.origin is None:
        return None
    here, there = alert.origin, donor.origin
    if here.offset is None or there.offset is None:
        return None
    return (
        Place(here.source, here.offset, alert.file_hash or "0"),
        Place(there.source, there.offset, donor.file_hash or "0"),
    )


def read_place(read_origin: ReadOrigin, where: Place, scheme: HashScheme) -> Page | EvidenceMissing:
    """The page as it was, read again; or why there is none."""
    return read_or_why(read_origin, where.origin, int(where.file_hash, 16), scheme)


def told_of(alert: Alert, pair: Told) -> Alert:
    """An alert with what two aligned pages say."""
    url = alert.donors[0].url
    rows = tuple(
        Evidence(
            start=row.start, end=row.end, text=row.text,
            donor=url, donor_start=row.donor_start, donor_end=row.donor_end,
        )
        for row in pair.copied
    )  # fmt: skip
    return replace(
        alert,
        evidence=rows,
        evidence_missing=None if rows else "no common run",
        within=Within(url=url, here=round(pair.share_here, 3), there=round(pair.share_there, 3)),
        differs=Differs(only_here=pair.only_here, only_there=pair.only_there),
    )
