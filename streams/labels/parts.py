"""A label pack as messages: parts of a file, each with its place and its checksum.

Assembled under another name, checked as a whole, then renamed: a pack that is there is sound.

PackLost   the topic does not hold the pack that the manifest names
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import xxhash

from reusewatch.detector.labels.replacing import replacing
from reusewatch.streams import topics
from reusewatch.streams.bus import Bus, BusBroken, Message, Outgoing
from reusewatch.streams.disk import write_pieces
from reusewatch.streams.labels.store import checksum_of
from reusewatch.streams.records import PackLabel, PackNamed
from reusewatch.streams.wire import WireError, check_schema, headers_for

if TYPE_CHECKING:
    from reusewatch.detector.labels.pack import LabelPack

# Below the limit of a message, with room for key and headers.
PART_BYTES = 4 << 20
_SOURCE = 100
_PART = re.compile("[0-9]{6,9}")


class PackLost(BusBroken):
    """Parts of a pack are missing or damaged."""


def named(path: Path, pack: LabelPack) -> PackNamed:
    """What is said of a pack that travels."""
    size = path.stat().st_size
    return PackNamed(
        version=pack.version,
        size=size,
        parts=-(-size // PART_BYTES),
        checksum=checksum_of(path),
        files=len(pack.files),
        chunks=len(pack.chunks),
        grams=len(pack.grams),
        labels=tuple(
            PackLabel(name=x.name, severity=x.severity, source=x.source[:_SOURCE],
                      files=x.files, chunks=x.chunks, grams=x.grams, homes=x.homes)
            for x in pack.labels
        ),
    )  # fmt: skip


def key_of(pack: PackNamed, part: int) -> str:
    """The key of a part."""
    return f"{pack.version}/{part:06d}"


def parts_of(path: Path, pack: PackNamed) -> Iterator[Outgoing]:
    """The messages of a pack."""
    with path.open("rb") as file:
        for part in range(pack.parts):
            data = file.read(PART_BYTES)
            yield Outgoing(
                topics.LABEL_PACKS,
                key_of(pack, part),
                data,
                (
                    *headers_for(topics.LABEL_PACKS),
                    ("at", b"%d" % (part * PART_BYTES)),
                    ("checksum", xxhash.xxh3_128_hexdigest(data).encode()),
                ),
            )


def withdrawn_parts(pack: PackNamed) -> Iterator[Outgoing]:
    """Tombstones of a pack that is needed no more."""
    headers = headers_for(topics.LABEL_PACKS)
    for part in range(pack.parts):
        yield Outgoing(topics.LABEL_PACKS, key_of(pack, part), None, headers)


def copy(source: Path, target: Path) -> None:
    """A pack at another place of this machine, on disk when this returns."""
    with source.open("rb") as read, replacing(target) as written:
        shutil.copyfileobj(read, written, 1 << 20)


def assemble(
    bus: Bus, pack: PackNamed, target: Path, stop: Callable[[], bool] | None = None
) -> None:
    """The pack from its parts. Raises PackLost, and leaves nothing behind then."""
    if pack.parts != -(-pack.size // PART_BYTES):
        raise _lost(pack, f"{pack.parts} parts are said to be {pack.size} bytes")
    with replacing(target) as file:
        # Not those that are missing: how many there should be is what a manifest says.
        here: set[int] = set()
        damage = ""
        for message in bus.read(topics.LABEL_PACKS, every=True, stop=stop):
            part = _number(pack, message)
            if part is None or part in here or message.value is None:
                continue
            # A damaged part may have been sent again: the sound one comes later.
            if reason := _damage(pack, part, message):
                damage = f"; part {part:06d}: {reason}"
                continue
            file.seek(part * PART_BYTES)
            write_pieces(file, message.value)
            here.add(part)
            if len(here) == pack.parts:
                break
        if len(here) < pack.parts:
            what = f"{pack.parts - len(here)} of {pack.parts} parts are missing{damage}"
            raise _lost(pack, what)
        file.flush()
        if checksum_of(Path(file.name)) != pack.checksum:
            raise _lost(pack, "its parts do not add up to it")


def _number(pack: PackNamed, message: Message) -> int | None:
    """Which part of the pack a message is; None where it is none of it."""
    version, _, part = message.key.rpartition("/")
    if version != pack.version or not _PART.fullmatch(part) or int(part) >= pack.parts:
        return None
    return int(part)


def _damage(pack: PackNamed, part: int, message: Message) -> str | None:
    """What is wrong with a part."""
    headers = dict(message.headers)
    value = message.value or b""
    try:
        check_schema(message)
    except WireError as error:
        return str(error)
    at = part * PART_BYTES
    if headers.get("checksum") != xxhash.xxh3_128_hexdigest(value).encode():
        return "it does not match its checksum"
    if headers.get("at") != b"%d" % at:
        return "it is not where it should be"
    return "it has another length" if len(value) != min(PART_BYTES, pack.size - at) else None


def _lost(pack: PackNamed, what: str) -> PackLost:
    return PackLost(
        f"label pack {pack.version[:80]} cannot be put together from {topics.LABEL_PACKS}: "
        f"{what}; what was in force before stays so; push it again with `reusewatch labels push "
        "PACK --whole`"
    )
