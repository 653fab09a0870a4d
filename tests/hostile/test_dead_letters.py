"""The same damage, replayed again, is the same dead letter."""

from __future__ import annotations

from pathlib import Path

import msgspec

from reusewatch.streams import topics
from reusewatch.streams.local import LocalBus
from reusewatch.streams.records import DeadLetter
from reusewatch.streams.verbs import topic_views
from reusewatch.streams.wire import dead_letter_message
from tests.crawler.archives import zoo
from tests.crawler.archives.zoo import read_all

_DAMAGED = zoo.response(zoo.A) + b"noise\r\n" + zoo.response(zoo.B, length=3)


def letters(path: Path) -> list[DeadLetter]:
    return [event.damage for event in read_all(path) if event.damage]


def test_ids_are_of_what_is_damaged_and_not_of_when_it_was_read(tmp_path: Path) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(_DAMAGED)
    found = letters(path)
    assert len({letter.id for letter in found}) == len(found) >= 2
    later = [msgspec.structs.replace(letter, id="", at=zoo.FETCHED) for letter in found]
    assert [letter.id for letter in later] == [letter.id for letter in found]
    (tmp_path / "y.warc").write_bytes(_DAMAGED)
    assert not {letter.id for letter in letters(tmp_path / "y.warc")} & {x.id for x in found}


def test_a_local_bus_keeps_each_once(tmp_path: Path) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(_DAMAGED)
    bus = LocalBus(tmp_path / "bus")
    for _ in range(2):
        outlet = bus.outlet()
        for letter in letters(path):
            outlet.send(dead_letter_message(letter))
        outlet.close()
    stored = list(bus.read(topics.DEAD_LETTERS))
    assert len(stored) == len(letters(path))
    assert {m.key for m in stored} == {letter.id for letter in letters(path)}


def test_what_was_sent_twice_is_shown_once(tmp_path: Path) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(_DAMAGED)
    bus = LocalBus(tmp_path / "bus")
    outlet = bus.outlet()
    for number, letter in enumerate(2 * letters(path)):
        # As on Kafka, which keeps all that is sent.
        outlet.send(msgspec.structs.replace(dead_letter_message(letter), key=str(number)))
    outlet.close()
    assert list(topic_views.dead_letters(bus)) == letters(path)
