"""Alerts name the labeled page and where on it, however the pack came into force."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from reusewatch.crawler.labeling.packing import Kept, build_pack
from reusewatch.detector.labels.format import PackLabel
from reusewatch.detector.labels.pack import LabelPack, open_pack
from reusewatch.detector.labels.page_chunks import stop_chunks_of
from reusewatch.detector.labels.stop_chunks import StopList
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.labels import changes
from reusewatch.streams.labels.follower import put_in_force
from reusewatch.streams.labels.marking import Labeler
from reusewatch.streams.labels.pushing import Desk
from reusewatch.streams.labels.store import LabelStore
from reusewatch.streams.local import LocalBus
from reusewatch.streams.records import Alert, Origin
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.labeled import LabeledPages
from reusewatch.streams.wire import page_message
from tests.pages import SCHEME, Fetch, page_of
from tests.streams.memory_bus import MemoryBus
from tests.streams.stages.making import NOW, as_message, zero

# What differs from text to text stands in each sentence.
_SENTENCE = "of the {} things that are known about gardens the {} is the {} one to be told twice "
STOPS = stop_chunks_of(StopList(), SCHEME)
BARE = Kept(0.0, places=True)


def paragraph(text: int) -> str:
    return " ".join(_SENTENCE.format(f"a{text}x{n}", f"b{text}x{n}", f"c{text}x{n}") for n in "12")


def html(texts: Sequence[int]) -> bytes:
    return "".join(f"<p>{paragraph(text)}</p>\n" for text in texts).encode()


def pack_of(directory: Path, pages: dict[str, Sequence[int]], kept: Kept = BARE) -> LabelPack:
    """A pack of files of these paragraphs."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, texts in pages.items():
        (directory / name).write_bytes(html(texts))
    files = [str(directory / name) for name in pages]
    build_pack(PackLabel(name="ours"), files, directory / "pack", scheme=SCHEME, stops=STOPS,
               say=print, kept=kept)  # fmt: skip
    return open_pack(directory / "pack", SCHEME)


def alerts(store: LabelStore, texts: Sequence[int]) -> list[Alert]:
    """What is said of a page with these paragraphs."""
    page = page_of(Fetch(7, 1, 10, 5))
    other = type(page)(**{name: getattr(page, name) for name in page.__struct_fields__} | {
        "body": html(texts)
    })  # fmt: skip
    stage = FingerprintStage(SCHEME, zero, labeler=Labeler(store.directory, SCHEME))
    pages = LabeledPages(SCHEME, fixed=0.1)
    (block,) = stage.process([as_message(page_message(other))]).messages
    (said,) = pages.judge_block(read_block(as_message(block), SCHEME), NOW)
    return list(said.alerts)


def donors(store: LabelStore, texts: Sequence[int]) -> list[tuple[str, bytes]]:
    """Of each labeled paragraph the file that is named, and what stands there in it."""
    (alert,) = [one for one in alerts(store, texts) if one.kind == "labeled-content"]
    found = []
    for row in alert.evidence:
        assert row.label == "ours"
        if row.donor is None:
            continue
        body = Path(row.donor).read_bytes()
        assert row.donor_hash == f"{SCHEME.of_bytes(body):016x}"
        assert row.donor_origin == Origin(source=f"tree:http://localhost/#{row.donor}", offset=0)
        found.append((row.donor, body[row.donor_start : row.donor_end]))
    return found


def test_evidence_names_the_page_and_the_bytes(tmp_path: Path) -> None:
    desk = Desk(LocalBus(tmp_path / "bus"), LabelStore(tmp_path / "bus/labels"), SCHEME, print)
    desk.push(tmp_path / "a/pack", pack_of(tmp_path / "a", {"x.html": [1, 2], "y.html": [3]}))
    assert donors(desk.store, [9, 3, 8, 2]) == [
        (str(tmp_path / "a/y.html"), paragraph(3).strip().encode()),
        (str(tmp_path / "a/x.html"), paragraph(2).strip().encode()),
    ]
    (page, _) = alerts(desk.store, [3])
    assert page.kind == "labeled-page"
    assert [(row.donor, row.donor_start) for row in page.evidence] == [
        (str(tmp_path / "a/y.html"), None)
    ]


def test_a_difference_a_removal_and_a_rollback_keep_places(tmp_path: Path) -> None:
    desk = Desk(LocalBus(tmp_path / "bus"), LabelStore(tmp_path / "bus/labels"), SCHEME, print)
    many = {f"{n}.html": [10 * n + one for one in range(9)] for n in range(1, 9)}
    desk.push(tmp_path / "a/pack", pack_of(tmp_path / "a", many))
    more = pack_of(tmp_path / "b", many | {"new.html": [99]})
    assert desk.push(tmp_path / "b/pack", more)["travelled"] == "difference"
    new = [(str(tmp_path / "b/new.html"), paragraph(99).strip().encode())]
    old = [(str(tmp_path / "a/3.html"), paragraph(31).strip().encode())]
    assert donors(desk.store, [99]) == new
    assert donors(desk.store, [31]) == old
    desk.change(changes.rollback)
    assert not alerts(desk.store, [99])
    assert donors(desk.store, [31]) == old
    desk.change(changes.rollback)
    assert donors(desk.store, [99]) == new
    desk.change(lambda *given: changes.remove(given[0], "ours", *given[1:]))
    assert not alerts(desk.store, [31])


def test_places_come_in_parts_over_a_bus(tmp_path: Path) -> None:
    bus, here = MemoryBus(), LabelStore(tmp_path / "here")
    desk = Desk(bus, LabelStore(tmp_path / "there"), SCHEME, print)
    desk.push(tmp_path / "a/pack", pack_of(tmp_path / "a", {"x.html": [1, 2]}))
    with here.locked():
        put_in_force(bus, here, desk.table(), SCHEME)
    assert donors(here, [2]) == [(str(tmp_path / "a/x.html"), paragraph(2).strip().encode())]


@pytest.mark.parametrize("kept", [Kept(0.0, places=False)])
def test_without_places_no_page_is_named(tmp_path: Path, kept: Kept) -> None:
    desk = Desk(LocalBus(tmp_path / "bus"), LabelStore(tmp_path / "bus/labels"), SCHEME, print)
    desk.push(tmp_path / "a/pack", pack_of(tmp_path / "a", {"x.html": [1]}, kept))
    assert donors(desk.store, [1, 9]) == []
