"""Every record that is read from the bus, with its key and headers, by whoever reads it.

A message is understood, or it is a dead letter, or passed over: nothing raises but `WireError`,
what stands behind a hostile message is read all the same, and a record that is understood is the
same when it is sent again.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from xml.etree import ElementTree

import msgspec
import xxhash

from reusewatch.streams import topics, wire
from reusewatch.streams.bus import Message, Outgoing, Partition
from reusewatch.streams.labels import parts
from reusewatch.streams.labels.table import LabelTable
from reusewatch.streams.records import (
    Alert,
    DeadLetter,
    Donor,
    Exact,
    Label,
    LabelManifest,
    LabelsBefore,
    NeighborhoodPart,
    PackLabel,
    PackNamed,
    PartitionMoments,
    Record,
    Verdict,
)
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.neighboring import NeighborhoodStage
from reusewatch.streams.steering.formats import FORMATS, written
from reusewatch.streams.steering.places import Places
from reusewatch.streams.verbs import evidence_html, showing, topic_views
from reusewatch.streams.verbs.delivering import Event
from reusewatch.streams.verbs.reuse_summary import summarized
from tests.fuzzing import changes
from tests.pages import SCHEME, Fetch, page_of
from tests.streams.memory_bus import MemoryBus
from tests.streams.stages.making import NOW, as_message, blocks_of, index_stage, zero

_NEXT = b"\x00NEXT\x00"
_PACK = Path(mkdtemp()) / "a.pack"
_TOPICS = tuple(name for name in topics.TOPICS if name != topics.FINGERPRINTS)
_RECORDS: Mapping[str, type[Record]] = {
    topics.VERDICTS: Verdict, topics.ALERTS: Alert, topics.LABELS: Label,
    topics.DEAD_LETTERS: DeadLetter, topics.NEIGHBORHOODS: NeighborhoodPart,
    topics.MOMENTS: PartitionMoments,
}  # fmt: skip
_NAMED = PackNamed(
    version="1" * 16, size=9, parts=1, checksum=xxhash.xxh3_128_hexdigest(b"a pack.."), files=1,
    chunks=1, labels=(PackLabel(name="bank", severity="warning", source="x", files=1, chunks=1),),
)  # fmt: skip
ALERT = Alert(
    id="ab" * 16, kind="near-duplicate", severity="info", url="http://a.example/", site="a.example",
    figure=1, threshold=1, fetched_at=NOW, detected_at=NOW, detector="x", scheme=SCHEME.name,
    donors=(Donor(url="http://b.example/", share=1, fetched_at=NOW),), evidence_missing="budget",
)  # fmt: skip
HOOD = msgspec.structs.replace(
    ALERT, kind="bad-neighborhood", url=None, prefix="http://a.example/b/", severity="warning"
)
_BLOCK = as_message(blocks_of([Fetch(0, 0, 0, 1)])[0])


def packed(message: Outgoing) -> bytes:
    """A message as an input."""
    headers = [name.encode() + b"=" + value for name, value in message.headers]
    topic = bytes([_TOPICS.index(message.topic)])
    return _NEXT.join([topic, message.key.encode(), *headers, message.value or b""])


def unpacked(data: bytes) -> Message:
    """An input as a message: whatever it is, it is one."""
    topic, *rest = data.split(_NEXT)
    key, *headers = rest[:-1] or [b""]
    value = rest[-1] if rest else b""
    split = [header.partition(b"=") for header in headers]
    return Message(
        Partition(_TOPICS[(topic[:1] or b"\0")[0] % len(_TOPICS)], 0), 7,
        key.decode("utf-8", "replace"), None if value == b"\0" else value,
        tuple((name.decode("utf-8", "replace"), said) for name, _, said in split), 1_700_000_000,
    )  # fmt: skip


def seeds() -> Iterator[bytes]:
    """A message of each topic, as the code writes it."""
    before = LabelsBefore(pack=_NAMED, pushed=None, removed=(), labels=(), withdrawn=("1" * 16,))
    manifest = LabelManifest(
        scheme=SCHEME.name, pack=_NAMED, pushed="x", removed=("bank",), at=NOW, previous=before
    )
    verdict = Verdict(
        id="1" * 16, url="http://a.example/", site="a.example", fetched_at=NOW, exact=Exact(),
        detector="x", scheme=SCHEME.name,
    )  # fmt: skip
    letter = DeadLetter(
        reason="corrupt", source="x.warc", offset=7, url="http://a.example/", detail="x", at=NOW
    )
    label = Label(hash="f" * 16, unit="chunk", name="bank", also=("leak",), version="1")
    part = NeighborhoodPart(
        what="page", url="http://a.example/b/c", at=NOW, page_id="1" * 16, labeled=1, total=3,
        labels=("bank",), severity="warning",
    )  # fmt: skip
    moments = PartitionMoments(partition=0, count=1, total=1 << 20, squares="100000", pages=3)
    for message in (
        wire.page_message(page_of(Fetch(1, 1, 1, 1))),
        wire.page_message(page_of(Fetch(2, 2, 3, 1, 0, (1, 1)))),
        wire.verdict_message(verdict), wire.alert_message(ALERT), wire.alert_message(HOOD),
        wire.dead_letter_message(letter), wire.label_message(label),
        wire.manifest_message(manifest), wire.part_message("page x", part, 0),
        wire.part_message("open x", msgspec.structs.replace(part, what="open", told=1 << 20), 0),
        wire.part_message("trap x", msgspec.structs.replace(part, what="trap"), 0),
        wire.moments_message(moments), *_pack_parts(),
    ):  # fmt: skip
        yield packed(message)
    sent = wire.page_message(page_of(Fetch(1, 1, 1, 1)))
    received = (*sent.headers, (wire.RECEIVED, b"17"))
    yield packed(msgspec.structs.replace(sent, headers=received))


def _pack_parts() -> list[Outgoing]:
    _PACK.write_bytes(b"a pack..x")
    return list(parts.parts_of(_PACK, _NAMED))


def changed(data: bytes, seed: int) -> bytes:
    """A value of the record, a header, or the key changed."""
    random = Random(seed)
    topic, *rest = data.split(_NEXT)
    if len(rest) < 2:
        return data
    at = random.choice([len(rest) - 1] * 4 + list(range(len(rest))))
    if at == len(rest) - 1:
        is_page = _TOPICS[(topic[:1] or b"\0")[0] % len(_TOPICS)] == topics.PAGES
        rest[at] = changes.encoded(rest[at], random, packed=is_page)
    else:
        name, equals, said = rest[at].partition(b"=")
        text = random.choice(changes.TEXTS).encode("utf-8", "replace")
        rest[at] = random.choice([name + equals + text, name + equals + said + text, text])
    return _NEXT.join([topic, *rest])


def once(data: bytes) -> None:
    """One message, by all who read its topic."""
    message = unpacked(data)
    assert wire.received_ms(message) >= 0
    topic = message.partition.topic
    _comes_back(message)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        _READERS[topic](message)


def _comes_back(message: Message) -> None:
    """What is understood says the same when it is written again."""
    kind = _RECORDS.get(message.partition.topic)
    if kind is None:
        return
    with contextlib.suppress(wire.WireError):
        record = wire.read_json(message, kind)
        again = replace(message, value=msgspec.json.encode(record))
        assert wire.read_json(again, kind) == record


def _page(message: Message) -> None:
    """It is in a block or in the dead letters, and takes no other page with it."""
    sound = as_message(wire.page_message(page_of(Fetch(1, 1, 1, 1))), 8)
    out = FingerprintStage(SCHEME, zero).process([message, sound])
    assert out.pages + out.dead.total() == 2
    assert out.pages
    _letters_can_be_read(out.messages)
    blocks = [as_message(sent) for sent in out.messages if sent.topic == topics.FINGERPRINTS]
    for stage in (index_stage(), NeighborhoodStage(SCHEME, clock=lambda: NOW)):
        judged = stage.process(blocks)
        assert judged.pages == out.pages
        _letters_can_be_read(judged.messages)
    with contextlib.suppress(wire.WireError):
        page = wire.read_page(message)
        assert wire.read_page(as_message(wire.page_message(page))) == page


def _letters_can_be_read(sent: list[Outgoing]) -> None:
    for one in sent:
        if (kind := _RECORDS.get(one.topic)) is not None and one.value is not None:
            wire.read_json(as_message(one), kind)
        assert len(one.value or b"") < topics.TOPICS[one.topic].message_bytes


def _label(message: Message) -> None:
    """It is in force, or kept apart with its reason; what holds beside it can be named."""
    table = LabelTable()
    table.take(message)
    assert len(table.refused) + len(table.labels) + (table.manifest is not None) <= 1
    overlay = table.overlay()
    assert overlay.decoded(overlay.encoded()) == overlay
    table.version(SCHEME)
    list(table.names())


def _pack_part(message: Message) -> None:
    """A pack is put together from sound parts, or it is lost."""
    bus = MemoryBus()
    bus.logs[Partition(topics.LABEL_PACKS, 0)] = [message]
    with contextlib.suppress(parts.PackLost):
        parts.assemble(bus, _NAMED, _PACK)
        assert _PACK.read_bytes() == message.value


def _hoods(message: Message) -> None:
    """A process that takes a partition up goes on, whatever stands on the changelog."""
    stage = NeighborhoodStage(SCHEME, clock=lambda: NOW, logged=True)
    if message.partition.topic == topics.MOMENTS:
        stage.hear([message])
    else:
        stage.take_up(0, [message])
    assert stage.threshold >= 0
    out = stage.process([_BLOCK])
    assert out.pages == 1
    _letters_can_be_read([*out.messages, *stage.changes()])
    stage.answer("neighborhoods", {})
    saved = stage.save()
    stage.restore(saved)


def _shown(read: Callable[[MemoryBus], Iterator[Record]], message: Message) -> list[Record]:
    """What a command shows of a topic: the hostile message hides no other."""
    sound = {topics.ALERTS: wire.alert_message(ALERT)}.get(message.partition.topic)
    bus = MemoryBus()
    bus.logs[message.partition] = [message] + ([as_message(sound, 8)] if sound else [])
    found: list[Record] = []
    with contextlib.suppress(topic_views.PassedOver):
        found.extend(read(bus))
    assert sound is None or ALERT in found
    return found


def _alert(message: Message) -> None:
    found = [one for one in _shown(topic_views.alerts, message) if isinstance(one, Alert)]  # type: ignore[arg-type]
    showing.ALERTS.show(found)
    summarized(found)
    for alert in found:
        showing.print_alert(alert)
        ElementTree.fromstring(evidence_html.html_of(alert, [], []).encode("utf-8", "replace"))  # noqa: S314
    places = Places()
    with contextlib.suppress(wire.WireError):
        event = Event.of(message, wire.read_json(message, Alert))
        assert json.loads(event.structured())["id"]
        places.take(message)
    rows = [row.prefix for row in places.at(datetime(2026, 11, 2, tzinfo=UTC))]
    for form in FORMATS:
        lines = written(rows, form).text.split("\n")
        assert all(line.isprintable() for line in lines)


def _verdict(message: Message) -> None:
    showing.VERDICTS.show(_shown(topic_views.verdicts, message))  # type: ignore[arg-type]


def _letter(message: Message) -> None:
    showing.LETTERS.show(_shown(topic_views.dead_letters, message))  # type: ignore[arg-type]


_READERS: Mapping[str, Callable[[Message], None]] = {
    topics.PAGES: _page, topics.LABELS: _label, topics.LABEL_PACKS: _pack_part,
    topics.NEIGHBORHOODS: _hoods, topics.MOMENTS: _hoods, topics.ALERTS: _alert,
    topics.VERDICTS: _verdict, topics.DEAD_LETTERS: _letter,
}  # fmt: skip
