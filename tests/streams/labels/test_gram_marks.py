"""Labeled content below the paragraph: found by the gram, with the page that each run is from."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from reusewatch.crawler.labeling.packing import Kept, build_pack
from reusewatch.crawler.verbs.seen_blocks import Seen, Wanted
from reusewatch.detector.labels.format import PackLabel
from reusewatch.detector.labels.pack import open_pack
from reusewatch.detector.labels.page_chunks import stop_chunks_of
from reusewatch.detector.labels.stop_chunks import StopList
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.labels import changes
from reusewatch.streams.labels.marking import Labeler
from reusewatch.streams.labels.matching import matching_with
from reusewatch.streams.labels.pushing import Desk
from reusewatch.streams.labels.store import LabelStore
from reusewatch.streams.labels.table import Overlay
from reusewatch.streams.local import LocalBus
from reusewatch.streams.records import Alert, Direction
from reusewatch.streams.running.label_preview import preview
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.labeled import LabeledPages
from reusewatch.streams.url_sets import UrlSet
from reusewatch.streams.wire import page_message
from tests.pages import SCHEME, Fetch, page_of
from tests.streams.memory_bus import MemoryBus
from tests.streams.stages.making import NOW, as_message, zero

STOPS = stop_chunks_of(StopList(), SCHEME)
Built = dict[str, str]


def sentence(text: int, number: int, words: int = 12) -> str:
    return " ".join(f"w{text}x{number}x{word}" for word in range(words)) + "."


def article(text: int, sentences: int = 12) -> str:
    return " ".join(sentence(text, number) for number in range(sentences))


def desk_of(directory: Path) -> Desk:
    return Desk(LocalBus(directory / "bus"), LabelStore(directory / "bus/labels"), SCHEME, print)


def push(
    desk: Desk,
    directory: Path,
    files: Built,
    kept: Kept | None = None,
    label: PackLabel | None = None,
) -> None:
    """A pack of these files, in force."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (directory / name).write_text(f"<p>{text}</p>")
    build_pack(label or PackLabel(name="ours"), [str(directory / name) for name in files],
               directory / "pack", scheme=SCHEME, stops=STOPS, say=print,
               kept=kept or Kept())  # fmt: skip
    desk.push(directory / "pack", open_pack(directory / "pack", SCHEME))


def alerts(desk: Desk, body: str, *, grams: float = 0.05) -> list[Alert]:
    """What is said of a page; its own grams are not kept."""
    page = page_of(Fetch(7, 1, 10, 5))
    fields = {name: getattr(page, name) for name in page.__struct_fields__}
    page = type(page)(**fields | {"body": body.encode()})
    stage = FingerprintStage(SCHEME, zero, labeler=Labeler(desk.store.directory, SCHEME))
    (block,) = stage.process([as_message(page_message(page))]).messages
    (said,) = LabeledPages(SCHEME, fixed=0.1, grams=grams).judge_block(
        read_block(as_message(block), SCHEME), NOW
    )
    return list(said.alerts)


def own(sentences: int) -> str:
    return article(1000, sentences)


def test_sentences_within_other_paragraphs_are_found_with_their_pages(tmp_path: Path) -> None:
    desk = desk_of(tmp_path)
    push(desk, tmp_path / "a", {"x.html": article(1), "y.html": article(2)})
    text = f"{own(3)} {sentence(1, 4)} {sentence(1, 5)} {own(1)} {sentence(2, 7)} {own(2)}"
    body = f"<h1>Mine</h1><p>{text}</p>"
    (alert,) = alerts(desk, body)
    assert (alert.kind, alert.labels, alert.figure_of) == ("labeled-content", ("ours",), "grams")
    assert 0.1 < alert.figure < 0.4
    assert alert.threshold == 0.05
    rows = [(Path(str(row.donor)).name, body[row.start : row.end],
             Path(str(row.donor)).read_text()[row.donor_start : row.donor_end])
            for row in alert.evidence]  # fmt: skip
    two = f"{sentence(1, 4)} {sentence(1, 5)}".rstrip(".")
    assert rows == [("x.html", two, two), ("y.html", *[sentence(2, 7).rstrip(".")] * 2)]


def test_fewer_than_the_least_of_its_grams_are_turns_of_phrase(tmp_path: Path) -> None:
    desk = desk_of(tmp_path)
    push(desk, tmp_path / "a", {"x.html": article(1)})
    assert not alerts(desk, f"<p>{own(1)} {sentence(1, 4)}</p>")
    assert alerts(desk, f"<p>{own(1)} {sentence(1, 4)} {own(1)} {sentence(1, 6, 12)}"
                        f" {own(1)} {sentence(1, 8)}</p>")  # fmt: skip


@pytest.mark.parametrize("share", [0.25, 1.0])
def test_a_page_retold_with_words_changed_is_found_by_a_sample_too(
    tmp_path: Path, share: float
) -> None:
    desk = desk_of(tmp_path)
    push(desk, tmp_path / "a", {"x.html": article(1, 40)}, Kept(share))
    retold = article(1, 40).split()
    retold[5::10] = ["another" for _ in retold[5::10]]
    (alert,) = alerts(desk, f"<ol><li>{'</li><li>'.join(retold)}</li></ol>")
    assert alert.figure == pytest.approx(0.5, abs=0.12)
    assert {Path(str(row.donor)).name for row in alert.evidence} == {"x.html"}


def test_what_is_at_home_is_free_and_what_is_removed_is_gone(tmp_path: Path) -> None:
    desk = desk_of(tmp_path)
    body = f"<p>{own(3)} {sentence(1, 4)} {sentence(1, 5)} {sentence(1, 6)}</p>"
    push(
        desk,
        tmp_path / "a",
        {"x.html": article(1)},
        label=PackLabel(name="a", homes=("site1.example",)),
    )
    assert not alerts(desk, body)
    push(
        desk,
        tmp_path / "b",
        {"x.html": article(1)},
        label=PackLabel(name="b", homes=("else.example",)),
    )
    (alert,) = alerts(desk, body)
    assert alert.direction == Direction(original="there", by="owned")
    desk.change(lambda *given: changes.remove(given[0], "b", *given[1:]))
    assert not alerts(desk, body)


def test_a_difference_brings_grams_and_a_rollback_takes_them(tmp_path: Path) -> None:
    desk = desk_of(tmp_path)
    many = {f"{n}.html": article(n, 40) for n in range(1, 9)}
    push(desk, tmp_path / "a", many)
    push(desk, tmp_path / "b", many | {"new.html": article(99, 3)})
    manifest = desk.table().manifest
    assert manifest is not None
    assert manifest.pack is not None
    assert manifest.pushed != manifest.pack.version  # it travelled as a difference
    body = f"<p>{own(3)} {sentence(99, 0)} {sentence(99, 1)} {sentence(99, 2)}</p>"
    (alert,) = alerts(desk, body)
    assert [Path(str(row.donor)).name for row in alert.evidence] == ["new.html"]
    desk.change(changes.rollback)
    assert not alerts(desk, body)


def blocks(body: str, grams: Literal["all", "sampled", "none"]) -> MemoryBus:
    """A bus with the fingerprint of a page."""
    page = page_of(Fetch(7, 1, 10, 5))
    fields = {name: getattr(page, name) for name in page.__struct_fields__}
    bus = MemoryBus()
    message = as_message(page_message(type(page)(**fields | {"body": body.encode()})))
    for block in FingerprintStage(SCHEME, zero, grams=grams).process([message]).messages:
        bus.append(block)
    return bus


@pytest.mark.parametrize(("grams", "share"), [("all", 1.0), ("sampled", 0.125), ("none", 0.0)])
def test_what_was_crawled_is_labeled_with_the_grams_that_the_bus_has(
    tmp_path: Path, grams: Literal["all", "sampled", "none"], share: float
) -> None:
    seen = Seen(blocks(f"<p>{article(1, 80)}</p>", grams), SCHEME, "text", Wanted())
    summary = build_pack(PackLabel(name="ours"), [], tmp_path / "pack", scheme=SCHEME, stops=STOPS,
                         say=print, more=seen)  # fmt: skip
    assert summary["gram_share"] == share
    assert summary["sites"] == {"site1.example": 1}
    desk = desk_of(tmp_path)
    desk.push(tmp_path / "pack", open_pack(tmp_path / "pack", SCHEME))
    found = alerts(desk, f"<p>{article(1, 40)} {own(20)}</p>")
    assert len(found) == (share > 0)
    for alert in found:
        assert alert.figure == pytest.approx(2 / 3, abs=0.15)
        assert {row.donor for row in alert.evidence} == {Fetch(7, 1, 10, 5).url}


@pytest.mark.parametrize("grams", ["all", "sampled"])
def test_a_preview_counts_what_grams_find(tmp_path: Path, grams: Literal["all", "sampled"]) -> None:
    push(desk_of(tmp_path), tmp_path / "a", {"x.html": article(1, 80)})
    pack = open_pack(tmp_path / "a/pack", SCHEME)
    matching = matching_with(SCHEME, pack, Overlay(), STOPS)
    bus = blocks(f"<p>{own(20)} {article(1, 20)} {own(20)}</p>", grams)
    for threshold, flagged in ((0.05, 1), (0.9, 0)):
        judging = LabeledPages(SCHEME, fixed=0.5, grams=threshold)
        found = preview(bus, SCHEME, matching, judging, owned=UrlSet(), max_pages=9)
        assert (found["labeled"], found["labeled_content"]) == (flagged, flagged)
        assert found["by_label"] == ({"ours": 1} if flagged else {})


def test_a_page_over_both_thresholds_is_told_by_its_paragraphs(tmp_path: Path) -> None:
    desk = desk_of(tmp_path)
    push(desk, tmp_path / "a", {"x.html": article(1)})
    (alert,) = alerts(desk, f"<p>{article(1)}</p><p>{own(4)}</p>")
    assert (alert.figure_of, alert.figure) == ("chunks", 0.5)
    assert len(alert.evidence) == 1
    assert not alerts(desk, f"<p>{own(40)} {article(1, 2)}</p>", grams=0.5)
