"""Where pages of the window can be read again: one number a page.

The number of its archive in a list of names, and the offset there. Names are few; of too many
the list begins anew, and who reads a page again checks that it is the one that was meant.
"""

from __future__ import annotations

from collections.abc import Sequence

from reusewatch.streams.records import Origin

NOWHERE = 0
# Pages that no archive holds: in a spool of the local bus, or on a topic of Kafka.
_SPOOL, _KAFKA = "spool:", "kafka:"
_OFFSET_BITS = 44
_NAMES = (1 << (64 - _OFFSET_BITS)) - 1


def spool_origin(name: str, offset: int) -> Origin:
    """Where a page of a live crawl stands on a local bus."""
    return Origin(source=f"{_SPOOL}{name}", offset=offset)


def spool_of(origin: Origin) -> str | None:
    """The spool that an origin names, if it names one.

    >>> spool_of(spool_origin("a", 7)), spool_of(Origin(source="a.warc.gz", offset=7))
    ('a', None)
    """
    return origin.source.removeprefix(_SPOOL) if origin.source.startswith(_SPOOL) else None


def kafka_origin(topic: str, partition: int, offset: int) -> Origin:
    """Where a page of a live crawl stands on Kafka."""
    return Origin(source=f"{_KAFKA}{topic}/{partition}", offset=offset)


def partition_of(origin: Origin) -> tuple[str, int] | None:
    """The topic and the partition that an origin names, if it names any.

    >>> partition_of(kafka_origin("reusewatch.pages", 3, 7))
    ('reusewatch.pages', 3)
    """
    topic, slash, number = origin.source.removeprefix(_KAFKA).rpartition("/")
    sound = origin.source.startswith(_KAFKA) and slash and number.isdecimal() and number.isascii()
    return (topic, int(number)) if sound else None


class Origins:
    """Origins as numbers and back."""

    def __init__(self, names: Sequence[str] = ()) -> None:
        self.names = list(names)
        self._numbers = {name: number for number, name in enumerate(self.names, 1)}

    def number(self, source: str, offset: int | None) -> int:
        """The number of an origin; `NOWHERE` where nothing can be read again."""
        if offset is None or not 0 <= offset < 1 << _OFFSET_BITS:
            return NOWHERE
        known = self._numbers.get(source)
        if known is None:
            if len(self.names) == _NAMES:
                self.names, self._numbers = [], {}
            self.names.append(source)
            known = self._numbers[source] = len(self.names)
        return known << _OFFSET_BITS | offset

    def numbers(self, sources: Sequence[str], offsets: Sequence[int | None]) -> list[int]:
        """Those of several origins: of many pages of one archive its name is looked for once."""
        rows = list(zip(sources, offsets, strict=True))
        if len(self.names) + len(set(sources)) > _NAMES:
            return [self.number(*row) for row in rows]
        begins: dict[str, int] = {}
        found = []
        for source, offset in rows:
            if offset is None or not 0 <= offset < 1 << _OFFSET_BITS:
                found.append(NOWHERE)
                continue
            begin = begins.get(source)
            if begin is None:
                begin = begins[source] = self.number(source, 0)
            found.append(begin | offset)
        return found

    def origin(self, number: int, record_id: str | None = None) -> Origin | None:
        """The origin of a number, if it has one, with the name of its record, if that is known."""
        name = number >> _OFFSET_BITS
        if not 0 < name <= len(self.names):
            return None
        offset = number & ((1 << _OFFSET_BITS) - 1)
        return Origin(source=self.names[name - 1], offset=offset, record_id=record_id)

    @property
    def nbytes(self) -> int:
        """About what the names take."""
        return sum(map(len, self.names)) + 200 * len(self.names)
