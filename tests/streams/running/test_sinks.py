"""The local sink between checkpoints: nothing is written while nothing comes, nor kept for ever."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
import pytest

from reusewatch.detector.errors import BadPage
from reusewatch.streams import topics
from reusewatch.streams.blocks.format import PAGES_HEADER
from reusewatch.streams.local import LocalBus
from reusewatch.streams.records import STDIN, UNDATED, Alert, DeadLetter, Origin, Page
from reusewatch.streams.running import local_sink
from reusewatch.streams.running.local_sink import LocalSink
from reusewatch.streams.running.recent_pages import RecentPages
from reusewatch.streams.segments import LogWriter, bases
from reusewatch.streams.settings import Settings
from reusewatch.streams.stages.fingerprinting import PART_BYTES, FingerprintStage
from reusewatch.streams.wire import dead_letter_message, page_message
from tests.end_to_end.runs import wait_until
from tests.pages import SCHEME, Fetch, page_of
from tests.streams.stages.making import NOW, as_message, index_stage, zero
from tests.streams.stages.test_near_order import page as near_page


def sink_in(directory: Path, **settings: object) -> LocalSink:
    found = Settings(bus=f"local:{directory}", **settings)  # type: ignore[arg-type]
    return LocalSink(LocalBus(directory), found, read_origin=None, say=print)


def test_an_idle_checkpoint_writes_no_snapshot(tmp_path: Path) -> None:
    sink = sink_in(tmp_path, snapshot_seconds=1e-9)
    sink.put(page_of(Fetch(1, 1, 1, 1)))
    sink.checkpoint()
    written = sorted((tmp_path / "snapshots").iterdir())
    assert written
    for _ in range(3):
        sink.checkpoint()
    assert sorted((tmp_path / "snapshots").iterdir()) == written
    sink.close()


def gone(origin: Origin) -> Page:
    raise BadPage("too-large", "nobody can read it again")


def alerts_of_gone(directory: Path, workers: int) -> list[Alert]:
    """The alerts of pages that nobody can read again, by so many processes."""
    found = Settings(bus=f"local:{directory}", workers=workers, batch_pages=4, near_own=0)
    sink = LocalSink(LocalBus(directory), found, read_origin=gone, say=print)
    # Between a page and those that are like it: fifteen others.
    for number, text in enumerate([0, *(10, 11, 12) * 5, 1, 2, 4]):
        made = near_page(number, number, text)
        origin = Origin(source=STDIN, offset=number)
        sink.put(msgspec.structs.replace(made, origin=origin))
    sink.settle()
    sink.close()
    sent = LocalBus(directory).read(topics.ALERTS)
    return [
        msgspec.structs.replace(msgspec.json.decode(one.value or b"", type=Alert), detected_at=NOW)
        for one in sent
    ]


def test_what_only_this_process_has_is_evidence_however_many_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Room for some of the pages: those that are at hand must not hang on what is on its way.
    monkeypatch.setattr(local_sink, "RecentPages", partial(RecentPages, most_bytes=30_000))
    wanted = alerts_of_gone(tmp_path / "one", 1)
    assert {one.evidence_missing for one in wanted} == {None, "archive gone"}
    assert alerts_of_gone(tmp_path / "two", 2) == wanted


def test_a_batch_ends_where_a_step_does_though_the_bus_has_pages(tmp_path: Path) -> None:
    fetches = [page_of(Fetch(number, 1, number, number)) for number in range(17)]
    for some in (fetches[:5], fetches[5:]):
        sink = sink_in(tmp_path, batch_pages=8, settle_pages=8)
        for page in some:
            sink.put(page)
        sink.close()
    blocks = LocalBus(tmp_path).read(topics.FINGERPRINTS)
    assert [int(dict(block.headers)[PAGES_HEADER]) for block in blocks] == [5, 3, 8, 1]


def test_the_log_is_trimmed_while_it_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "reusewatch.streams.local.outlet.LogWriter", partial(LogWriter, segment_bytes=2000)
    )
    sink = sink_in(tmp_path, window_pages=3)
    for number in range(40):
        sink.put(page_of(Fetch(number, number % 3, number, number)))
        sink.checkpoint()
    assert bases(tmp_path / topics.FINGERPRINTS)[0] > 0
    assert len(bases(tmp_path / topics.FINGERPRINTS)) < 20
    sink.close()


def test_what_messages_refer_to_is_not_held_all_at_once() -> None:
    small = page_of(Fetch(1, 1, 1, 1))
    held: list[int] = []

    def read_origin(origin: Origin) -> Page:
        held.append(origin.offset or 0)
        return msgspec.structs.replace(small, body=b" " * (PART_BYTES // 2))

    stage = FingerprintStage(SCHEME, zero, read_origin)
    by_reference = msgspec.structs.replace(small, body=b"", by_reference=True)
    out = stage.process([as_message(page_message(by_reference)) for _ in range(6)])
    assert len(held) == 6
    assert out.pages == 6
    assert sum(sent.topic == topics.FINGERPRINTS for sent in out.messages) == 3


def test_a_dead_letter_always_fits_its_topic() -> None:
    letter = DeadLetter(
        reason="wrong-digest", source="s" * 9_000_000, offset=1, url="u" * 9_000_000,
        detail="\x1c" * 9_000_000, at=NOW,
    )  # fmt: skip
    sent = dead_letter_message(letter)
    assert len(sent.value or b"") < topics.TOPICS[topics.DEAD_LETTERS].message_bytes / 2


@pytest.mark.parametrize("text", [7, 8])
def test_a_record_without_a_date_does_not_replace_a_verdict(text: int) -> None:
    dated = [page_of(Fetch(1, 1, 1, 7)), page_of(Fetch(2, 2, 5, 7))]
    undated = msgspec.structs.replace(page_of(Fetch(2, 2, 5, text)), fetched_at=UNDATED)
    stage, index = FingerprintStage(SCHEME, zero), index_stage()
    first, then = (
        index.process([as_message(sent) for sent in stage.process(messages).messages])
        for messages in (
            [as_message(page_message(page)) for page in dated],
            [as_message(page_message(undated))],
        )
    )
    assert sum(sent.topic == topics.VERDICTS for sent in first.messages) == 2
    assert then.events["misdated"] == 1
    assert then.messages == []


def test_what_is_given_up_is_on_no_log_and_its_dead_letters_are_told(tmp_path: Path) -> None:
    sink = sink_in(tmp_path, batch_pages=2)
    for number in range(2):
        sink.put(page_of(Fetch(number, number, number, number)))
    sink.checkpoint()
    for number in range(2, 6):
        sink.put(page_of(Fetch(number, number, number, number)))
    sink.bury(
        DeadLetter(
            reason="empty-file", source="x.warc", offset=0, url=None, detail="", at=UNDATED
        )
    )  # fmt: skip
    sink.abandon()
    sink_in(tmp_path).close()
    bus = LocalBus(tmp_path)
    assert sum(int(dict(one.headers)[PAGES_HEADER]) for one in bus.read(topics.FINGERPRINTS)) == 2
    assert len(list(bus.read(topics.DEAD_LETTERS))) == 1


def test_what_has_waited_is_safe_with_the_next_checkpoint_and_not_before(tmp_path: Path) -> None:
    """Or it would be safe without the cursor that stands for it, and come again."""
    for checkpointed in (False, True):
        sink = sink_in(tmp_path)
        for number, text in enumerate((0, 1, 2)):
            sink.put(near_page(number, number, text))
        sink.settle()
        if checkpointed:
            sink.checkpoint()
        sink.abandon()
        sink_in(tmp_path).close()
        assert bool(LocalBus(tmp_path).end(topics.FINGERPRINTS)) == checkpointed


@dataclass(frozen=True)
class Touch:
    """Reads nothing, and can be seen to have done so."""

    place: Path

    def read(self) -> tuple[None, list[Page]]:
        self.place.touch()
        return None, []


def test_of_an_empty_bus_processes_read_before_what_judges_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = sink_in(tmp_path / "bus", workers=2)
    load, touched = sink._load_judges, tmp_path / "touched"

    def once_touched() -> None:
        wait_until(touched.exists)
        load()

    monkeypatch.setattr(sink, "_load_judges", once_touched)
    told = sink.ahead(Touch(touched), lambda _: None)
    assert told is not None
    assert list(told) == [None]
    assert sink.ready()
    sink.close()
