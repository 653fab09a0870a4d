"""One value of a record replaced by another that no one expects: it is still JSON, or msgpack.

Flipped bytes seldom leave a record that can be decoded, so that what stands behind the decoder
would hardly be reached.
"""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec

TEXTS = (
    "", "\0", "\n\r\t", "a" * 5000, "\u202e\x9b31m", "http://", "http://a", "http://[::1]:x/",
    "http://one.example/\ud7ff", "//", "9" * 5000, "-1", "zz", "0x7", "ffffffffffffffff",
    "file:///etc/passwd", "http://xn--a/", "http://\u4f8b.example:99999/", "1970-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00Z", "2099-02-29T00:00:00Z",
    "2026-01-01T00:00:00+23:59", "open", "page", "chunk", "manifest", "kafka:pages/0",
    "http://www.site0.example/" + "a/" * 400,
)  # fmt: skip
NUMBERS = (0, 1, -1, 7, 84, 255, 1 << 31, -(1 << 31), (1 << 63) - 1, -(1 << 63), (1 << 64) - 1,
           1e308, -1e308, 5e-324, 0.5)  # fmt: skip
OTHERS: tuple[Any, ...] = (None, True, False, [], {}, [[]] * 40, {"a": {"b": {}}}, [None])


def value(random: Random) -> Any:
    """Anything that JSON can say."""
    return random.choice(random.choice([TEXTS, NUMBERS, OTHERS]))


def changed(record: Any, random: Random) -> Any:
    """The record with one value, somewhere in it, replaced, left out, doubled or renamed."""
    deeper = record and random.random() < 0.9
    if deeper and isinstance(record, dict):
        return _changed_object(record, random)
    if deeper and isinstance(record, list):
        return _changed_list(record, random)
    if isinstance(record, bytes):
        return random.choice([b"", record[: len(record) // 2], record * 2, record + b"\xff\0<p>"])
    if isinstance(record, str) and random.random() < 0.4:
        at = random.randrange(len(record) + 1)
        return record[:at] + random.choice(TEXTS)[:40] + record[at + random.randrange(3) :]
    return value(random)


def _changed_object(record: dict[str, Any], random: Random) -> dict[str, Any]:
    name = random.choice(list(record))
    how = random.randrange(12)
    if how == 0:
        return {key: kept for key, kept in record.items() if key != name}
    if how == 1:
        return {**record, random.choice(TEXTS): record[name]}
    return {**record, name: changed(record[name], random)}


def _changed_list(record: list[Any], random: Random) -> list[Any]:
    at = random.randrange(len(record))
    if random.randrange(6) == 0:
        return record[:at] + [record[at]] * random.choice([0, 2, 40]) + record[at + 1 :]
    return [*record[:at], changed(record[at], random), *record[at + 1 :]]


def encoded(data: bytes, random: Random, *, packed: bool) -> bytes:
    """Bytes of a record, changed; as they are where they are none."""
    codec: Any = msgspec.msgpack if packed else msgspec.json
    try:
        record = codec.decode(data)
        for _ in range(random.choice([1, 1, 1, 2, 4])):
            record = changed(record, random)
        found: bytes = codec.encode(record)
    except (msgspec.MsgspecError, RecursionError, OverflowError, UnicodeError, ValueError):
        return data[: random.randrange(len(data) + 1)] + bytes([random.randrange(256)])
    return found
