"""Looks at the window before something is decided: a preview, and proposed stop chunks."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from reusewatch.detector.labels.building import LabelBuilder
from reusewatch.detector.labels.format import PackLabel
from reusewatch.detector.labels.pack import LabelPack, open_pack
from reusewatch.detector.labels.page_chunks import chunks_of, stop_chunks_of
from reusewatch.detector.labels.stop_chunks import StopList
from reusewatch.detector.sketching.fingerprint import Document
from reusewatch.streams.bus import Bus
from reusewatch.streams.labels.matching import matching_with
from reusewatch.streams.labels.proposing import as_list, stop_proposals
from reusewatch.streams.labels.table import Overlay
from reusewatch.streams.records import Origin
from reusewatch.streams.running.label_preview import preview
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.labeled import LabeledPages
from reusewatch.streams.url_sets import UrlSet
from reusewatch.streams.wire import page_message
from tests.pages import SCHEME, Fetch, page_of
from tests.streams.memory_bus import MemoryBus
from tests.streams.stages.making import as_message, blocks_of, zero

NO_STOPS = stop_chunks_of(StopList(), SCHEME)
# Three sites say one thing, a fourth another; the first page was fetched twice.
FETCHES = [Fetch(1, 1, 1, 5), Fetch(2, 2, 2, 7), Fetch(3, 3, 3, 7), Fetch(4, 4, 4, 7),
           Fetch(1, 1, 5, 7)]  # fmt: skip


@pytest.fixture
def bus() -> Bus:
    found = MemoryBus()
    for block in blocks_of(FETCHES, size=2):
        found.append(block)
    return found


def pack_of(directory: Path, fetch: Fetch) -> LabelPack:
    with closing(LabelBuilder(directory, SCHEME, min_length=0)) as builder:
        label = builder.label(PackLabel(name="known"))
        builder.add_chunks(label, chunks_of([Document(page_of(fetch).body)], SCHEME))
        builder.build(directory / "pack")
    return open_pack(directory / "pack", SCHEME)


def previewed(bus: Bus, pack: LabelPack, *, max_pages: int = 100) -> dict[str, Any]:
    matching = matching_with(SCHEME, pack, Overlay(), NO_STOPS)
    judging = LabeledPages(SCHEME, fixed=0.9)
    return preview(bus, SCHEME, matching, judging, owned=UrlSet(), max_pages=max_pages)


def test_a_preview_counts_the_last_version_of_each_page_of_the_window(
    bus: Bus, tmp_path: Path
) -> None:
    pack = pack_of(tmp_path, FETCHES[1])
    found = previewed(bus, pack)
    assert (found["pages"], found["labeled"], found["share"], found["already"]) == (4, 4, 1.0, 0)
    assert found["by_label"] == {"known": 4}
    assert all(one["contains"] == 1.0 for one in found["examples"])
    few = previewed(bus, pack, max_pages=2)
    assert few["pages"] == 2


def test_a_preview_flags_no_error_page_for_judging_flags_none(tmp_path: Path) -> None:
    making, bus = FingerprintStage(SCHEME, zero), MemoryBus()
    statuses = {FETCHES[1]: 200, FETCHES[2]: 404, FETCHES[3]: None}
    pages = [structs.replace(page_of(fetch), status=code) for fetch, code in statuses.items()]
    messages = [as_message(page_message(page), at) for at, page in enumerate(pages)]
    for block in making.process(messages).messages:
        bus.append(block)
    pack = pack_of(tmp_path, FETCHES[1])
    found = previewed(bus, pack)
    assert (found["pages"], found["touched"], found["labeled"]) == (3, 2, 2)


def test_stop_chunks_are_proposed_by_their_spread_with_what_they_say(bus: Bus) -> None:
    def read(origin: Origin) -> tuple[bytes, str]:
        return page_of(FETCHES[1]).body, "utf-8"

    def proposed(min_sites: int) -> list[dict[str, object]]:
        return list(
            stop_proposals(
                bus, SCHEME, NO_STOPS, min_sites=min_sites, max_length=10_000, limit=9,
                read_text=read,
            )
        )  # fmt: skip

    found = proposed(4)
    assert found
    assert all((row["sites"], row["pages"]) == (4, 4) for row in found)
    assert proposed(5) == []
    own = StopList.parse(as_list(found))
    assert len(stop_chunks_of(own, SCHEME)) > len(NO_STOPS)


def test_a_stranger_s_text_is_a_list_all_the_same() -> None:
    row = {"text": 'a "quoted" \\ \x1b[31m\x7f', "pages": 1, "sites": 1}
    (group,) = StopList.parse(as_list([row])).chunks
    assert group.texts == ('a "quoted" \\  [31m ',)
