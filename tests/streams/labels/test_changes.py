"""The labeled dataset on its topic: changes, their undoing, packs in parts, damage."""

from __future__ import annotations

import pickle
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace as replace_record

from reusewatch.detector.hashing import HashScheme, hex_of
from reusewatch.detector.labels.building import LabelBuilder
from reusewatch.detector.labels.dataset import LabeledDataset
from reusewatch.detector.labels.format import PackLabel
from reusewatch.detector.labels.merging import changed
from reusewatch.detector.labels.pack import LabelPack, open_pack
from reusewatch.streams import topics
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.bus import Message, Outgoing
from reusewatch.streams.labels import changes, parts
from reusewatch.streams.labels.follower import Follower, put_in_force
from reusewatch.streams.labels.marking import Labeler
from reusewatch.streams.labels.parts import PackLost, assemble, named, parts_of
from reusewatch.streams.labels.pushing import Desk
from reusewatch.streams.labels.store import LabelStore
from reusewatch.streams.labels.table import LabelTable
from reusewatch.streams.local import LocalBus
from reusewatch.streams.records import Label
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.wire import label_message
from tests.pages import SCHEME, Fetch, page_of
from tests.streams.memory_bus import MemoryBus
from tests.streams.stages.making import as_message, page_messages, zero

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def make_pack(path: Path, **labels: list[int]) -> LabelPack:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(LabelBuilder(path.parent, SCHEME)) as builder:
        for name, hashes in labels.items():
            builder.add_files(builder.label(PackLabel(name=name)), np.array(hashes, np.uint64))
        builder.build(path)
    return open_pack(path, SCHEME)


def names_of(pack: LabelPack, value: int) -> frozenset[str]:
    number = int(pack.find("files", np.array([value], np.uint64))[0])
    return frozenset(pack.labels_of(number)) if number >= 0 else frozenset()


def test_what_changed_between_two_packs_is_every_hash_whose_names_did(tmp_path: Path) -> None:
    old = make_pack(tmp_path / "old", a=[1, 2, 3], b=[3, 4])
    new = make_pack(tmp_path / "new", b=[3, 4, 5], c=[4], a=[2])
    found = changed(old, new, 100)
    assert found is not None
    assert {(kind, value): names for kind, value, names, _ in found} == {
        ("files", value): names_of(new, value)
        for value in range(10)
        if names_of(old, value) != names_of(new, value)
    }
    assert changed(old, new, 2) is None
    assert changed(new, new, 0) == []


def desk_of(directory: Path) -> Desk:
    return Desk(LocalBus(directory), LabelStore(directory / "labels"), SCHEME, print)


def said(desk: Desk) -> dict[int, frozenset[str]]:
    """The names of each hash below ten, as a fingerprint process finds them."""
    current = desk.store.current()
    assert current is not None
    pack = open_pack(desk.store.directory / current.pack, SCHEME) if current.pack else None
    dataset = LabeledDataset(SCHEME, pack)
    desk.store.overlay(current).laid_on(dataset)
    assert dataset.version == current.version
    assert desk.table().version(SCHEME) == current.version
    found = dataset.match("files", np.arange(1, 10, dtype=np.uint64)).tolist()
    return {
        value: frozenset(dataset.labels_of(number))
        for value, number in enumerate(found, 1)
        if number >= 0
    }


def test_pushed_as_a_difference_a_pack_says_the_same_and_can_be_taken_back(tmp_path: Path) -> None:
    desk = desk_of(tmp_path / "bus")
    old = make_pack(tmp_path / "old", a=[1, 2, 3], b=[3, 4])
    new = make_pack(tmp_path / "new", b=[3, 4, 5], c=[4], a=[2])
    assert desk.push(tmp_path / "old", old)["travelled"] == "whole"
    first = said(desk)
    done = desk.push(tmp_path / "new", new)
    assert (done["travelled"], done["pushed"]) == ("difference", new.version)
    second = said(desk)
    assert second == {value: names_of(new, value) for value in (2, 3, 4, 5)}
    desk.change(changes.rollback)
    assert said(desk) == first
    desk.change(changes.rollback)
    assert said(desk) == second
    assert desk.push(tmp_path / "new", new, whole=True)["travelled"] == "whole"
    assert said(desk) == second
    assert len(list(desk.store.directory.glob("*.pack"))) == 2  # the one before, for a rollback


@pytest.mark.parametrize("whole", [False, True])
def test_a_push_of_what_is_in_force_keeps_the_way_back(tmp_path: Path, whole: bool) -> None:
    desk = desk_of(tmp_path / "bus")
    old = make_pack(tmp_path / "old", a=[1, 2, 3], b=[3, 4])
    new = make_pack(tmp_path / "new", b=[3, 4, 5], c=[4], a=[2])
    desk.push(tmp_path / "old", old)
    first = said(desk)
    pushed = desk.push(tmp_path / "new", new, whole=whole)
    second = said(desk)
    for _ in range(2):
        again = desk.push(tmp_path / "new", new, whole=whole)
        assert again["version"] == again["previous"] == pushed["version"]
        assert said(desk) == second
    desk.change(changes.rollback)
    assert said(desk) == first


def test_a_first_push_again_leaves_nothing_before_it(tmp_path: Path) -> None:
    desk = desk_of(tmp_path / "bus")
    pack = make_pack(tmp_path / "pack", a=[1])
    desk.push(tmp_path / "pack", pack)
    desk.push(tmp_path / "pack", pack)
    assert said(desk) == {1: {"a"}}
    desk.change(changes.rollback)
    assert desk.table().version(SCHEME) is None


def test_what_was_discovered_stays_under_another_pack_until_its_name_is_removed(
    tmp_path: Path,
) -> None:
    desk = desk_of(tmp_path / "bus")
    outlet = desk.bus.outlet()
    outlet.send(label_message(Label(hash=hex_of(7), unit="file", name="found", version="x")))
    outlet.close()
    pack = make_pack(tmp_path / "pack", a=[1])
    desk.push(tmp_path / "pack", pack)
    assert said(desk) == {1: {"a"}, 7: {"found"}}
    desk.change(lambda *given: changes.remove(given[0], "found", *given[1:]))
    assert said(desk) == {1: {"a"}}
    with pytest.raises(changes.NoChange, match="removed already"):
        desk.change(lambda *given: changes.remove(given[0], "found", *given[1:]))
    desk.change(changes.rollback)
    assert said(desk) == {1: {"a"}, 7: {"found"}}


def test_a_pack_of_several_parts_arrives_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "PART_BYTES", 256)
    pack = make_pack(tmp_path / "pack", a=list(range(1, 200)))
    told = named(tmp_path / "pack", pack)
    sent = list(parts_of(tmp_path / "pack", told))
    assert len(sent) == told.parts > 3
    whole = bus_with(sent)
    assemble(whole, told, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "pack").read_bytes()
    spoilt = replace_record(sent[1], value=b"x" + (sent[1].value or b"")[1:])
    for wrong in (sent[1:], [*sent[:1], spoilt, *sent[2:]], []):
        with pytest.raises(PackLost, match="labels push PACK --whole"):
            assemble(bus_with(wrong), told, tmp_path / "not")
    assemble(bus_with([spoilt, *sent]), told, tmp_path / "mended")  # sent again, it is sound
    assert {path.name for path in tmp_path.iterdir()} == {"pack", "again", "mended"}


def bus_with(sent: list[Outgoing]) -> MemoryBus:
    bus = MemoryBus()
    for message in sent:
        bus.append(message)
    return bus


def test_a_pack_that_cannot_be_put_together_leaves_the_old_version_and_is_told(
    tmp_path: Path,
) -> None:
    pack = make_pack(tmp_path / "pack", a=[1])
    store = LabelStore(tmp_path / "labels")
    table = LabelTable()
    whole = changes.push_whole(table, named(tmp_path / "pack", pack), SCHEME, NOW)
    bus = bus_with([*parts_of(tmp_path / "pack", named(tmp_path / "pack", pack)),
                    *whole.messages()])  # fmt: skip
    with store.locked():
        put_in_force(bus, store, LabelTable.read(bus), SCHEME)
    labeler = Labeler(store.directory, SCHEME)
    assert labeler.look().version == pack.version
    other = make_pack(tmp_path / "other", a=[1, 2])
    lost = changes.push_whole(LabelTable.read(bus), named(tmp_path / "other", other), SCHEME, NOW)
    for message in lost.messages():
        bus.append(message)
    told: list[str] = []
    follower = Follower(bus, store, SCHEME, say=told.append, seconds=0)
    assert follower.ready(30)
    follower.close()
    assert labeler.look().version == pack.version
    assert follower.refused == 1
    assert "missing" in told[0]


def test_a_labeler_keeps_the_old_version_when_files_are_damaged_and_says_so(tmp_path: Path) -> None:
    desk = desk_of(tmp_path / "bus")
    desk.push(tmp_path / "pack", make_pack(tmp_path / "pack", a=[1]))
    labeler = pickle.loads(pickle.dumps(Labeler(desk.store.directory, SCHEME)))  # noqa: S301 - our own
    before = labeler.look()
    assert (before.files, before.trouble) == (1, None)
    (desk.store.directory / "current").write_bytes(b"{")
    after = labeler.look()
    assert after.version == before.version
    assert after.trouble is not None
    assert "push a pack anew" in after.trouble
    assert Labeler(desk.store.directory, HashScheme(5)).look().version is None


@pytest.mark.parametrize("value", [b"{", b'{"hash": "zz"}', b""])
def test_what_is_no_label_changes_nothing_and_is_named(value: bytes) -> None:
    table = LabelTable()
    good = label_message(Label(hash=hex_of(7), unit="file", name="found", version="x"))
    bus = bus_with(
        [good, replace_record(good, key="other", value=value), Outgoing(topics.LABELS, "k", None)]
    )
    for message in bus.read(topics.LABELS):
        assert isinstance(message, Message)
        table.take(message)
    assert list(table.labels) == [hex_of(7)]
    assert list(table.refused) == ["other"]


def test_a_manifest_of_twenty_million_parts_is_refused_and_takes_no_memory(tmp_path: Path) -> None:
    pack = make_pack(tmp_path / "pack", a=[1])
    told = replace_record(named(tmp_path / "pack", pack), parts=20_000_000)
    bus = bus_with(changes.push_whole(LabelTable(), told, SCHEME, NOW).messages())
    table = LabelTable.read(bus)
    assert table.manifest is None
    assert "20000000 parts" in table.refused["manifest"]


@pytest.mark.parametrize("facts", [{"parts": 60_000}, {"parts": 60_000, "size": 60_000 << 22}])
def test_parts_that_are_only_said_to_be_there_are_missing(
    facts: dict[str, int], tmp_path: Path
) -> None:
    pack = make_pack(tmp_path / "pack", a=[1])
    told = named(tmp_path / "pack", pack)
    bus = bus_with(list(parts_of(tmp_path / "pack", told)))
    with pytest.raises(PackLost, match="60000 parts"):
        assemble(bus, replace_record(told, **facts), tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_a_stage_takes_up_a_push_between_two_batches_and_nothing_before(tmp_path: Path) -> None:
    desk = desk_of(tmp_path / "bus")
    stage = FingerprintStage(SCHEME, zero, labeler=Labeler(desk.store.directory, SCHEME))
    pages = page_messages([Fetch(1, 1, 1, 5)])

    def file_labels() -> tuple[str | None, list[str]]:
        out = stage.process(pages)
        (row,) = read_block(as_message(out.messages[0]), SCHEME).to_pylist()
        assert out.labels is not None
        assert out.labels.version == row["labels_version"]
        return row["labels_version"], row["file_labels"]

    assert file_labels() == (None, [])
    body = page_of(Fetch(1, 1, 1, 5)).body
    pack = make_pack(tmp_path / "pack", sea=[SCHEME.of_bytes(body)])
    desk.push(tmp_path / "pack", pack)
    assert file_labels() == (pack.version, ["sea"])
    desk.change(lambda *given: changes.remove(given[0], "sea", *given[1:]))
    version, labels = file_labels()
    assert (version != pack.version, labels) == (True, [])


def test_a_pack_that_was_damaged_on_disk_is_put_together_anew_at_the_next_start(
    tmp_path: Path,
) -> None:
    pack = make_pack(tmp_path / "pack", a=list(range(1, 200)))
    store = LabelStore(tmp_path / "labels")
    facts = named(tmp_path / "pack", pack)
    whole = changes.push_whole(LabelTable(), facts, SCHEME, NOW)
    bus = bus_with([*parts_of(tmp_path / "pack", facts), *whole.messages()])
    with store.locked():
        put_in_force(bus, store, LabelTable.read(bus), SCHEME)
    path = store.pack_path(facts)
    sound = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(sound[:-40] + bytes(byte ^ 1 for byte in sound[-40:]))
    follower = Follower(bus, store, SCHEME, say=lambda text: None, seconds=0)
    assert follower.ready(30)
    follower.close()
    assert path.read_bytes() == sound
