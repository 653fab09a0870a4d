"""The judge of a local bus: what all spools bring is judged once, whatever dies and when."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from threading import Event

import pytest

from reusewatch.crawler.replaying.origins import origin_reader
from reusewatch.crawler.replaying.readable import Readable
from reusewatch.streams import topics
from reusewatch.streams.blocks.format import PAGES_HEADER
from reusewatch.streams.local import LocalBus
from reusewatch.streams.local.judged import read_judged
from reusewatch.streams.local.spools import SpoolWriter, spools_of
from reusewatch.streams.page_text import OriginGone
from reusewatch.streams.records import Origin, Page, Verdict
from reusewatch.streams.running.local_sink import LocalSink
from reusewatch.streams.running.spool_judge import SpoolJudge
from reusewatch.streams.settings import Settings
from reusewatch.streams.settings.keeping import Keep
from reusewatch.streams.verbs import topic_views
from reusewatch.streams.wire import page_message
from tests.pages import SCHEME, Fetch, page_of

KEEP_ALL = Keep()
PAGES = [page_of(Fetch(n, n % 5, n, n % 7)) for n in range(40)]
LIVE = Origin(source="scrapy:test")


def live(page: Page) -> Page:
    return Page(**{name: getattr(page, name) for name in page.__struct_fields__} | {"origin": LIVE})


def judge_in(directory: Path, keep: Keep = KEEP_ALL, **settings: object) -> SpoolJudge:
    found = Settings(bus=f"local:{directory}", batch_pages=7, **settings)  # type: ignore[arg-type]
    sink = LocalSink(LocalBus(directory), found, read_origin=None, say=print)
    return SpoolJudge(sink, directory, keep=keep, commit_seconds=1e-9, say=print)


def judged_in(directory: Path, keep: Keep = KEEP_ALL) -> dict[str, Verdict]:
    """Judge all there is; the verdicts, by URL."""
    judge = judge_in(directory, keep)
    judge.run(Event())
    judge.close()
    return verdicts_in(directory)


def verdicts_in(directory: Path) -> dict[str, Verdict]:
    return {one.url: one for one in topic_views.verdicts(LocalBus(directory))}


def fingerprinted(directory: Path) -> int:
    """Pages in the log of fingerprints: one that is there twice was judged twice."""
    blocks = LocalBus(directory).read(topics.FINGERPRINTS)
    return sum(int(dict(block.headers)[PAGES_HEADER]) for block in blocks)


def write(directory: Path, pages: Sequence[Page]) -> SpoolWriter:
    writer = SpoolWriter(directory)
    for page in pages:
        writer.append(page_message(live(page)))
    writer.sync()
    return writer


def test_two_writers_at_once_find_what_one_finds(tmp_path: Path) -> None:
    write(tmp_path / "one", PAGES).close()
    wanted = judged_in(tmp_path / "one")
    first, second = (write(tmp_path / "two", PAGES[part::2]) for part in range(2))
    stop = Event()
    judge = judge_in(tmp_path / "two")
    first.close()
    second.close()
    judge.run(stop)
    judge.close()
    found = verdicts_in(tmp_path / "two")
    assert found.keys() == wanted.keys() == {page.url for page in PAGES}
    ids = [{a.id for a in topic_views.alerts(LocalBus(tmp_path / name))} for name in ("one", "two")]
    assert ids[0] == ids[1] != set()


def test_a_judge_that_dies_at_any_moment_loses_no_page_and_judges_none_twice(
    tmp_path: Path,
) -> None:
    bus = tmp_path / "bus"
    for part in range(2):
        write(bus, PAGES[part::2]).close()
    judge = judge_in(bus)
    [first, second] = spools_of(bus)
    moments = [
        lambda: judge._read(first),
        judge._sink._submit,
        judge._sink._outlet.flush,
        lambda: judge._read(second),
        judge._commit,
        lambda: judge._read(first),
    ]
    for number, act in enumerate(moments):
        act()
        # What a kill at this moment leaves on disk.
        after = tmp_path / f"after-{number}"
        shutil.copytree(bus, after)
        assert judged_in(after).keys() == {page.url for page in PAGES}
        assert fingerprinted(after) == len(PAGES), number
    judge.close()


def test_what_a_killed_writer_left_torn_is_cut_and_the_rest_judged(tmp_path: Path) -> None:
    writer = write(tmp_path, PAGES[:5])
    for file in (writer._lock, writer._log._file):
        file.close()  # as a kill does
    [log] = writer.spool.directory.glob("*.log")
    with log.open("ab") as file:
        file.write(b"\x40\x00\x00\x00torn")
    assert len(judged_in(tmp_path)) == 5


def test_a_damaged_spool_is_told_of_and_the_others_are_judged(tmp_path: Path) -> None:
    damaged = write(tmp_path, PAGES[:5])
    damaged.close()
    write(tmp_path, PAGES[5:9]).close()
    [log] = damaged.spool.directory.glob("*.log")
    data = bytearray(log.read_bytes())
    data[40] ^= 1
    log.write_bytes(data)
    assert judged_in(tmp_path).keys() == {page.url for page in PAGES[5:9]}
    [letter] = topic_views.dead_letters(LocalBus(tmp_path))
    assert (letter.reason, letter.source) == ("corrupt", str(damaged.spool.directory))


def test_a_judge_waits_for_writers_that_live(tmp_path: Path) -> None:
    writer = write(tmp_path, PAGES[:2])
    judge = judge_in(tmp_path)
    looks = []

    class Looking(Event):
        def wait(self, timeout: float | None = None) -> bool:
            looks.append(read_judged(tmp_path).spools.get(writer.spool.name, 0))
            if len(looks) == 1:
                writer.append(page_message(live(PAGES[2])))
            else:
                writer.close()
            return False

    judge.run(Looking())
    judge.close()
    assert looks[0] == 2
    assert len(verdicts_in(tmp_path)) == 3


def test_judged_pages_are_kept_as_far_as_is_said_and_read_again(tmp_path: Path) -> None:
    write(tmp_path, PAGES).close()
    verdicts = judged_in(tmp_path)
    [spool] = spools_of(tmp_path)
    read = origin_reader(SCHEME, 1 << 20, Readable((), tmp_path))
    for number, page in enumerate(PAGES):
        again = read(Origin(source=f"spool:{spool.name}", offset=number))
        assert (again.url, again.body) == (page.url, page.body)
    assert {one.origin.offset for one in verdicts.values() if one.origin} == set(range(len(PAGES)))
    judged_in(tmp_path, keep=Keep(bytes=0))
    assert spools_of(tmp_path) == []
    assert read_judged(tmp_path).spools.keys() == {spool.name}
    assert judged_in(tmp_path).keys() == verdicts.keys()
    with pytest.raises(OriginGone) as gone:
        read(Origin(source=f"spool:{spool.name}", offset=1))
    assert gone.value.why == "crawl without keep_pages"


@pytest.mark.parametrize("keep", [Keep(bytes=0), Keep(seconds=0)])
def test_nothing_is_dropped_that_was_not_judged(tmp_path: Path, keep: Keep) -> None:
    writer = write(tmp_path, PAGES[:3])
    judge = judge_in(tmp_path, keep)
    judge._read(writer.spool)
    judge._commit()
    writer.append(page_message(live(PAGES[3])))
    writer.close()
    judge.run(Event())
    judge.close()
    assert len(verdicts_in(tmp_path)) == 4
    assert spools_of(tmp_path) == []
