"""Homes of labels: their pages are free of that label, and of no other one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from reusewatch.detector.labels.building import LabelBuilder
from reusewatch.detector.labels.format import MOST_HOMES, PackLabel
from reusewatch.detector.labels.merging import diff, merge
from reusewatch.detector.labels.pack import LabelPack, open_pack
from reusewatch.detector.labels.page_chunks import chunks_of, stop_chunks_of
from reusewatch.detector.labels.stop_chunks import StopList
from reusewatch.detector.sketching.fingerprint import Document
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.labels.marking import Labeler
from reusewatch.streams.labels.matching import matching_with
from reusewatch.streams.labels.parts import named
from reusewatch.streams.labels.pushing import Desk
from reusewatch.streams.labels.store import LabelStore
from reusewatch.streams.labels.table import Overlay
from reusewatch.streams.local import LocalBus
from reusewatch.streams.records import Alert, Direction
from reusewatch.streams.running.label_preview import preview
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.labeled import LabeledPages
from reusewatch.streams.url_sets import UrlSet
from tests.pages import SCHEME, Fetch, page_of
from tests.streams.memory_bus import MemoryBus
from tests.streams.stages.making import NOW, as_message, page_messages, zero

# The same text on three sites: ours, a stranger's, and a third one's.
OURS, STRANGERS, THIRD = (Fetch(site, site, 10 * site, 5) for site in range(3))
FETCHES = [OURS, STRANGERS, THIRD]
HOME, NO_HOME = ("site0.example",), ()


def pack_of(
    path: Path, homes: Mapping[str, tuple[str, ...]], fetches: Sequence[Fetch] = (OURS,)
) -> LabelPack:
    """A pack in which the text of these pages stands under each of these names."""
    path.parent.mkdir(parents=True, exist_ok=True)
    bodies = [Document(page_of(fetch).body) for fetch in fetches]
    with closing(LabelBuilder(path.parent, SCHEME, min_length=0)) as builder:
        for name, places in homes.items():
            label = builder.label(PackLabel(name=name, homes=places))
            builder.add_chunks(label, chunks_of(bodies, SCHEME))
        builder.build(path)
    return open_pack(path, SCHEME)


def desk_of(tmp_path: Path) -> Desk:
    return Desk(LocalBus(tmp_path / "bus"), LabelStore(tmp_path / "bus/labels"), SCHEME, print)


def alerts(tmp_path: Path, homes: Mapping[str, tuple[str, ...]]) -> dict[str, Alert]:
    """What is reported, by URL, of the three pages with a pack that was pushed."""
    desk = desk_of(tmp_path)
    desk.push(tmp_path / "pack", pack_of(tmp_path / "pack", homes))
    return alerts_with(desk)


def alerts_with(desk: Desk) -> dict[str, Alert]:
    """What is reported, by URL, of the three pages with what is in force."""
    stage = FingerprintStage(SCHEME, zero, labeler=Labeler(desk.store.directory, SCHEME))
    pages = LabeledPages(SCHEME, fixed=0.1)
    found = {}
    for block in stage.process(page_messages(FETCHES)).messages:
        for said in pages.judge_block(read_block(as_message(block), SCHEME), NOW):
            found |= {str(alert.url): alert for alert in said.alerts}
    return found


def test_what_is_at_home_is_not_reported_and_is_where_the_rest_is_from(tmp_path: Path) -> None:
    found = alerts(tmp_path, {"ours": HOME})
    assert found.keys() == {STRANGERS.url, THIRD.url}
    for alert in found.values():
        assert alert.direction == Direction(original="there", by="owned")


def test_a_strangers_pack_frees_its_home_of_its_own_label_alone(tmp_path: Path) -> None:
    found = alerts(tmp_path, {"ours": HOME, "theirs": ("site1.example",), "nobodys": NO_HOME})
    assert {url: alert.labels for url, alert in found.items()} == {
        OURS.url: ("nobodys", "theirs"),
        STRANGERS.url: ("nobodys", "ours"),
        THIRD.url: ("nobodys", "ours", "theirs"),
    }


def test_what_a_difference_adds_to_a_label_has_its_homes(tmp_path: Path) -> None:
    desk, others = desk_of(tmp_path), [Fetch(5, n, 100 + n, 50 + n) for n in range(40)]
    old = pack_of(tmp_path / "old", {"ours": HOME}, others)
    desk.push(tmp_path / "old", old)
    assert not alerts_with(desk)
    merge([old, pack_of(tmp_path / "more", {"ours": HOME})], tmp_path / "new")
    new = open_pack(tmp_path / "new", SCHEME)
    assert desk.push(tmp_path / "new", new)["travelled"] == "difference"
    found = alerts_with(desk)
    assert found.keys() == {STRANGERS.url, THIRD.url}
    for alert in found.values():
        assert alert.direction == Direction(original="there", by="owned")


def test_of_a_label_without_a_home_nobody_knows_where_it_is_from(tmp_path: Path) -> None:
    found = alerts(tmp_path, {"nobodys": NO_HOME})
    assert len(found) == len(FETCHES)
    assert all(alert.direction is None for alert in found.values())


def test_homes_travel_with_a_pack(tmp_path: Path) -> None:
    old, new = pack_of(tmp_path / "old", {"a": NO_HOME}), pack_of(tmp_path / "new", {"a": HOME})
    (change,) = diff(old, new)
    assert (change.name, change.added_homes, change.removed_homes) == ("a", HOME, ())
    assert diff(new, new) == ()
    merge([old, new], tmp_path / "merged")
    (label,) = open_pack(tmp_path / "merged", SCHEME).labels
    assert label.homes == HOME
    assert named(tmp_path / "new", new).labels[0].homes == HOME


@pytest.mark.parametrize("added", [{"a": HOME}, {"a": NO_HOME, "b": HOME}])
def test_a_push_that_changes_a_home_travels_whole(
    tmp_path: Path, added: dict[str, tuple[str, ...]]
) -> None:
    desk = Desk(LocalBus(tmp_path / "bus"), LabelStore(tmp_path / "bus/labels"), SCHEME, print)
    desk.push(tmp_path / "old", pack_of(tmp_path / "old", {"a": NO_HOME}))
    done = desk.push(tmp_path / "new", pack_of(tmp_path / "new", added))
    assert done["travelled"] == "whole"
    manifest = desk.table().manifest
    assert manifest is not None
    assert manifest.pack is not None
    assert manifest.pack.labels[-1].homes == HOME


def test_a_preview_leaves_homes_alone_too(tmp_path: Path) -> None:
    bus = MemoryBus()
    for block in FingerprintStage(SCHEME, zero).process(page_messages(FETCHES)).messages:
        bus.append(block)
    pack = pack_of(tmp_path / "pack", {"ours": HOME})
    matching = matching_with(SCHEME, pack, Overlay(), stop_chunks_of(StopList(), SCHEME))
    judging = LabeledPages(SCHEME, fixed=0.1)
    found = preview(bus, SCHEME, matching, judging, owned=UrlSet(), max_pages=9)
    assert {one["url"] for one in found["examples"]} == {STRANGERS.url, THIRD.url}
    assert found["labeled"] == 2


def test_homes_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="homes"):
        PackLabel(name="a", homes=("a.example",) * (MOST_HOMES + 1))
    with pytest.raises(msgspec.ValidationError, match="a home has"):
        msgspec.json.decode(b'{"name": "a", "homes": ["a\\u001bb"]}', type=PackLabel)
