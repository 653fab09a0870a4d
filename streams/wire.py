"""Records ↔ bytes: msgpack for pages, JSON for what people read, each with its schema version.

A record of a newer version than this code knows is refused by name, never half understood.

WireError
├── Malformed    not a record of the kind it claims to be
└── NewerSchema  written by a newer reusewatch
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

import msgspec

from reusewatch.streams import topics
from reusewatch.streams.alert_kinds import KINDS
from reusewatch.streams.bus import Message, Outgoing
from reusewatch.streams.packing import LEAST_PACKED, MOST_PACKED, packed, unpacked
from reusewatch.streams.records import (
    UNDATED,
    VERSIONS,
    Alert,
    DeadLetter,
    Kind,
    Label,
    LabelManifest,
    NeighborhoodPart,
    Page,
    PartitionMoments,
    Record,
    Verdict,
    Withdrawn,
)

R = TypeVar("R", bound=Record)
# Of a text in a dead letter: enough for people, and never over the limit of a message.
_LETTER_TEXT = 4096
Headers = tuple[tuple[str, bytes], ...]
# Python refuses to read numbers of thousands of digits, and reads those of other scripts.
_VERSION = re.compile("[0-9]{1,9}")
_LONGEST_TOLD = 100

# What decoding may raise: nesting without end, and text that is no UTF-8, are errors of their own.
UNREADABLE = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)

_json = msgspec.json.Encoder()
_msgpack = msgspec.msgpack.Encoder()
_page_decoder = msgspec.msgpack.Decoder(Page)
_alerts_decoder = msgspec.msgpack.Decoder(list[Alert])
_json_decoders: dict[type[Record], msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(kind)
    for kind in (
        Verdict,
        Alert,
        Label,
        LabelManifest,
        DeadLetter,
        NeighborhoodPart,
        PartitionMoments,
    )
}


class WireError(Exception):
    """Root of what can be wrong with received bytes. `reason` is a dead letter's."""

    reason = "malformed-message"


class Malformed(WireError):
    """Bytes that are not a record of the kind they claim to be."""


class NewerSchema(WireError):
    """A record written by a newer reusewatch."""

    reason = "newer-schema"


def headers_for(topic: str) -> Headers:
    """The headers that every message of a topic has.

    >>> headers_for("pages")[0]
    ('schema', b'page/2')
    """
    declared = topics.TOPICS[topic]
    schema = f"{declared.schema}/{VERSIONS[declared.schema]}"
    return (("schema", schema.encode()), ("content-type", declared.content_type.encode()))


MANIFEST_KEY = "manifest"
_MANIFEST_HEADERS: Headers = (
    ("schema", f"label-manifest/{VERSIONS['label-manifest']}".encode()),
    ("content-type", topics.JSON.encode()),
)
_HEADERS = {name: headers_for(name) for name in topics.TOPICS}


def check_schema(message: Message, wanted: str | None = None) -> None:
    """Refuse what another schema than its topic's, or a newer version of ours, has written."""
    wanted = wanted or topics.TOPICS[message.partition.topic].schema
    found = dict(message.headers).get("schema")
    if found is None:
        raise Malformed(f"no `schema` header; {wanted}/{VERSIONS[wanted]} is expected")
    name, _, version = found.decode("utf-8", "replace").partition("/")
    if name != wanted or not _VERSION.fullmatch(version):
        told = f"{name}/{version}"[:_LONGEST_TOLD]
        raise Malformed(f"schema {told}; {wanted}/{VERSIONS[wanted]} is expected")
    if int(version) > VERSIONS[wanted]:
        raise NewerSchema(
            f"schema {name}/{version} was written by a newer reusewatch; this one reads up to "
            f"{wanted}/{VERSIONS[wanted]}: upgrade this process"
        )


def to_builtins(record: Record) -> dict[str, Any]:
    """A record as JSON types, for the command line."""
    built: dict[str, Any] = msgspec.to_builtins(record)
    return built


def page_message(page: Page) -> Outgoing:
    """A page, keyed by its registered domain."""
    return Outgoing(topics.PAGES, page.site, _msgpack.encode(page), _HEADERS[topics.PAGES])


def packed_page_message(page: Page) -> Outgoing:
    """A page with its body compressed: a third of the bytes for everything behind it, and Python's
    lock is free meanwhile."""
    if LEAST_PACKED <= len(page.body) <= MOST_PACKED:
        page = msgspec.structs.replace(page, body=packed(page.body), packed="lz4")
    return page_message(page)


def read_page(message: Message) -> Page:
    """The page in a message, its body unpacked."""
    check_schema(message)
    try:
        page = _page_decoder.decode(message.value or b"")
        if page.packed is None:
            return page
        return msgspec.structs.replace(page, body=unpacked(page.body), packed=None)
    except (*UNREADABLE, ValueError) as error:
        raise Malformed(f"not a page: {error}") from error


def verdict_message(verdict: Verdict) -> Outgoing:
    """A verdict, keyed by the page's id."""
    return Outgoing(topics.VERDICTS, verdict.id, _json.encode(verdict), _HEADERS[topics.VERDICTS])


def verdict_bytes(page_id: str, value: bytes) -> Outgoing:
    """A verdict that is encoded already."""
    return Outgoing(topics.VERDICTS, page_id, value, _HEADERS[topics.VERDICTS])


def dead_letter_message(letter: DeadLetter) -> Outgoing:
    """A dead letter, keyed by its id. What strangers wrote into it is cut."""
    letter = msgspec.structs.replace(
        letter,
        source=letter.source[:_LETTER_TEXT],
        detail=letter.detail[:_LETTER_TEXT],
        url=letter.url and letter.url[:_LETTER_TEXT],
    )
    return Outgoing(
        topics.DEAD_LETTERS, letter.id, _json.encode(letter), _HEADERS[topics.DEAD_LETTERS]
    )


def alert_message(alert: Alert, *, stage: str = "index") -> Outgoing:
    """An alert, keyed by its id, with the headers by which event routers know it (CloudEvents)."""
    at = msgspec.to_builtins(alert.detected_at)
    cloud_event = (
        ("ce_specversion", b"1.0"),
        ("ce_id", alert.id.encode()),
        ("ce_type", event_type(alert.kind).encode()),
        ("ce_source", f"/reusewatch/{stage}".encode()),
        ("ce_time", str(at).encode()),
    )
    return Outgoing(
        topics.ALERTS, alert.id, _json.encode(alert), _HEADERS[topics.ALERTS] + cloud_event
    )


def packed_alerts(alerts: Sequence[Alert]) -> bytes:
    """Alerts on their way to another process of this command: pickled, they take ten times as
    long."""
    return _msgpack.encode(alerts)


def unpacked_alerts(value: bytes) -> list[Alert]:
    """What came that way."""
    return _alerts_decoder.decode(value)


def label_message(label: Label) -> Outgoing:
    """What is known of a hash, keyed by it."""
    return Outgoing(topics.LABELS, label.hash, _json.encode(label), _HEADERS[topics.LABELS])


def label_withdrawal(label_hash: str) -> Outgoing:
    """The tombstone of what was known of a hash: what the pack says of it counts again."""
    return Outgoing(topics.LABELS, label_hash, None, _HEADERS[topics.LABELS])


def manifest_message(manifest: LabelManifest) -> Outgoing:
    """What is in force, under the one key that is no hash."""
    return Outgoing(topics.LABELS, MANIFEST_KEY, _json.encode(manifest), _MANIFEST_HEADERS)


def withdrawal(alert_id: str, kind: Kind | None = None) -> Outgoing:
    """The tombstone of an alert that no longer holds: its page was seen before its donor.

    Its source as an event is another than the alert's: routers take each source and id once.
    """
    cloud_event = (
        ("ce_specversion", b"1.0"),
        ("ce_id", alert_id.encode()),
        ("ce_type", event_type(kind).encode()),
        ("ce_source", b"/reusewatch/withdrawn"),
    )
    return Outgoing(topics.ALERTS, alert_id, None, _HEADERS[topics.ALERTS] + cloud_event)


def event_type(kind: str | None) -> str:
    """The type of an alert as a CloudEvent."""
    return f"reusewatch.alert.{kind}" if kind else "reusewatch.alert"


def read_finding(message: Message) -> Alert | Withdrawn:
    """What a message of the topic of alerts says: an alert, or that one was withdrawn."""
    if message.value is not None:
        return read_json(message, Alert)
    said = dict(message.headers).get("ce_type", b"").decode("ascii", "replace")
    kind = next((kind for kind in KINDS if said == event_type(kind)), None)
    said_of = {"id": message.key, "kind": kind, "withdrawn_at": sent_at(message)}
    try:
        return msgspec.convert(said_of, Withdrawn)
    except msgspec.ValidationError as error:
        raise Malformed(f"not the withdrawal of an alert: {error}") from error


def sent_at(message: Message) -> datetime:
    """When a message was sent. Malformed where that is no time: its sender chose the number."""
    try:
        return UNDATED + timedelta(milliseconds=message.timestamp_ms)
    except OverflowError as error:
        raise Malformed(f"sent {message.timestamp_ms} ms after 1970: that is no time") from error


def part_message(key: str, part: NeighborhoodPart, partition: int) -> Outgoing:
    """A part of the state of neighborhoods, in the partition that it comes of."""
    headers = _HEADERS[topics.NEIGHBORHOODS]
    return Outgoing(topics.NEIGHBORHOODS, key, _json.encode(part), headers, partition)


def part_gone(key: str, partition: int) -> Outgoing:
    """The tombstone of a part."""
    return Outgoing(topics.NEIGHBORHOODS, key, None, _HEADERS[topics.NEIGHBORHOODS], partition)


def moments_message(moments: PartitionMoments) -> Outgoing:
    """The moments of a partition, keyed by its number."""
    return Outgoing(
        topics.MOMENTS, str(moments.partition), _json.encode(moments), _HEADERS[topics.MOMENTS]
    )


RECEIVED = "received"
"""The header that says when the first message behind this one reached the bus, in milliseconds."""
_MILLISECONDS = re.compile(b"[0-9]{1,15}")


def received_ms(message: Message) -> int:
    """When what this message says reached the bus: as its header has it, where that is a time."""
    said = dict(message.headers).get(RECEIVED, b"")
    return int(said) if _MILLISECONDS.fullmatch(said) else message.timestamp_ms


def unread(message: Message, error: WireError, at: datetime) -> DeadLetter:
    """The dead letter of a message that says nothing of its page."""
    return DeadLetter(
        reason=error.reason,
        source=f"{message.partition.topic}/{message.partition.number}",
        offset=message.offset,
        url=None,
        detail=str(error),
        at=at,
    )


def read_manifest(message: Message) -> LabelManifest:
    """The manifest in a message of the topic of labels."""
    return read_json(message, LabelManifest, "label-manifest")


def read_json(message: Message, kind: type[R], schema: str | None = None) -> R:
    """The record of this kind in a JSON message; `schema` where it is not the topic's own."""
    check_schema(message, schema)
    value = message.value or b""
    try:
        # A field that is not known is skipped, whatever its bytes: who passes the message on would
        # pass on what is no JSON.
        value.decode()
        record: R = _json_decoders[kind].decode(value)
    except UNREADABLE as error:
        raise Malformed(f"not a {kind.__name__}: {error}") from error
    return record
