"""The benchmarks run, and write what the contract says. What they measure is not asserted."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tests.benchmarks import (
    __main__,
    commands,
    crawling,
    fingerprinting,
    index,
    kafka,
    lsh_speed,
    path,
    report,
    scraping,
    signatures,
    steering,
)
from tests.benchmarks.__main__ import NAMES, names_of, path_of, run
from tests.benchmarks.corpus import Response, build, responses
from tests.benchmarks.documents import documents
from tests.benchmarks.lsh_peers import batches, planted
from tests.benchmarks.made_up_web import Web
from tests.benchmarks.rows import BUDGETS, Bench, Family, Row, Scale
from tests.benchmarks.steps import REST, STEPS, Stopwatch
from tests.deployed import BrokerFailed

TINY = Scale(
    documents=20, rounds=1, window_pages=640, kafka_rounds=1, kafka_pages=24, hostile_bytes=2048,
    index_pages=(1024, 30_720), lsh_pages=600, labels=50_000, mwo_pages=1024,
    quilts_pages=(300, 1024),
    labels_in_force=1000, replay_pages=40, replay_rounds=1, peak_pages=24, asked=1,
    crawl_pages=12, hosts=1100,
)  # fmt: skip


def bench(directory: Path, broker: str | None = None) -> Bench:
    """One that is soon over."""
    return Bench(directory, TINY, "generated", broker)


def test_local_rows_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = (
        *kafka.FAMILY.names,
        *commands.NAMES,
        *crawling.FAMILY.names,
        *steering.FAMILY.names,
        *signatures.BESIDE_PEERS,
        *index.BESIDE_PEERS,
    )
    wanted = [name for name in NAMES if name not in elsewhere]
    made = bench(tmp_path)
    found = run(made, wanted)
    written = msgspec.json.decode(path_of(made).read_bytes())
    assert written["failed"] == {}
    assert [row["name"] for row in written["results"]] == [n for n in wanted if n != "steps"]
    for row in written["results"]:
        # Of so few pages, the difference of two replays is noise.
        assert row["value"] > 0 or row["name"].startswith("warc_to_verdict")
        assert row.keys() >= {"name", "value", "unit", "budget", "detail"}
    assert written["corpus"]["pages"] == 24
    assert written["machine"]["versions"]["reusewatch"]
    assert written["steps"].keys() == {"unit", *STEPS, REST}
    (scraped,) = [row for row in written["results"] if row["name"] == scraping.NAME]
    assert scraped["detail"]["hosts"] == TINY.hosts
    # There are more hosts than there may be series.
    assert max(scraped["detail"]["series"].values()) < 1000 < TINY.hosts
    report.show(found)
    shown = capsys.readouterr().out
    assert "warc_to_verdict_over_floor" in shown
    assert "\x1b" not in shown


def test_rows_of_a_broker_are_written(tmp_path: Path, broker: str) -> None:
    (crawl,) = run(bench(tmp_path, broker), crawling.FAMILY.names[1:])["results"]
    detail = crawl["detail"]
    assert detail["pages"] == TINY.crawl_pages
    for processes in (detail["cpu_us_per_page_without"], detail["cpu_us_per_page_with"]):
        assert processes.keys() == {"spider", "children", "site"}
    assert {"spider_mb_more", "largest_process_mb_more", "load"} <= detail.keys()
    found = run(bench(tmp_path, broker), kafka.FAMILY.names)
    assert found["failed"] == {}
    assert [row["name"] for row in found["results"]] == list(kafka.FAMILY.names)
    assert found["results"][2]["detail"]["pages"] == TINY.kafka_pages


def test_rows_of_a_users_commands_are_written(tmp_path: Path) -> None:
    wanted = ["replay_cpu_over_floor_27k", "command_start_seconds", "replay_peak_mb"]
    found = run(bench(tmp_path), wanted)
    assert found["failed"] == {}
    assert [row["name"] for row in found["results"]] == wanted
    over_floor, start, peak = (row["detail"] for row in found["results"])
    assert over_floor["pages"] == TINY.replay_pages // 5
    assert peak["pages"] == TINY.peak_pages
    assert start["wall_seconds"].keys() == {"alerts", "verdicts", "--help"}


def test_a_made_up_web_is_the_same_each_time_and_has_copies() -> None:
    first, second = Web(), Web()
    assert [first.page(n) for n in (7, 450, 999)] == [second.page(n) for n in (7, 450, 999)]
    near, source = first.words_of(457), first.words_of(200)
    assert 0 < (near != source).sum() <= 3
    assert (first.words_of(463) == first.words_of(200)).all()


def test_every_planted_copy_is_found(tmp_path: Path) -> None:
    found = run(bench(tmp_path), ["warc_to_verdict"])
    alerts = found["results"][0]["detail"]["alerts"]
    assert alerts["duplicate"] == found["corpus"]["copies"] == 4
    assert alerts["labeled-content"] > 0


def test_a_fingerprints_time_is_told_by_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(bench(tmp_path), [path.TO_FINGERPRINT])
    (row,) = found["results"]
    taken = row["detail"]["steps"]
    assert taken.keys() == {"unit", *fingerprinting.STEPS, REST}
    # Each function that is named is one that is called; these pages have no need of two.
    assert {name for name, time in taken.items() if time == 0} == set()
    report.show(found)
    shown = capsys.readouterr().out
    assert f"step of {path.TO_FINGERPRINT}" in shown
    assert "weighted terms" in shown


def test_a_corpus_is_written_once(tmp_path: Path) -> None:
    made = documents("generated", 20)
    first = build(made, tmp_path)
    at = first.archive.stat().st_mtime_ns
    assert build(documents("generated", 20), tmp_path) == first
    assert first.archive.stat().st_mtime_ns == at
    assert build(documents("generated", 19), tmp_path).archive != first.archive


def test_a_copy_stands_on_another_site_and_comes_later() -> None:
    served = list(responses(documents("generated", 40)))
    for number, page in enumerate(served):
        if page.is_copy:
            assert any(_is_of(page, other) for other in served[:number])


def _is_of(copy: Response, original: Response) -> bool:
    site, path = (copy.url.split("/")[2], copy.url.split("/", 3)[3])
    return original.url.endswith(path) and site not in original.url and not original.is_copy


def test_a_planted_page_is_its_source_but_for_words_in_one_place() -> None:
    pages = list(planted(1200))
    assert [page for _, some in batches(1200) for page in some][1100].source == pages[1100].source
    for number, page in enumerate(pages):
        if not page.changed:
            assert page.source < 0
            continue
        assert page.source < number
        differ = np.flatnonzero(page.words != pages[page.source].words)
        assert len(differ) == page.changed == differ[-1] - differ[0] + 1


def test_our_index_finds_planted_pages() -> None:
    found = lsh_speed.ours(600)
    assert found["recall"]["1"] == 1
    assert found["others"] == 0


def test_names_that_are_not_there_are_refused() -> None:
    assert names_of("floor,steps") == ["floor", "steps"]
    with pytest.raises(argparse.ArgumentTypeError, match="speed: there is fastwarc_alone"):
        names_of("floor,speed")


def test_a_row_that_cannot_be_measured_is_absent_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(bench: Bench, names: Sequence[str]) -> list[Row]:
        raise BrokerFailed("no Kafka broker: run `make broker`")

    monkeypatch.setattr(__main__, "FAMILIES", (Family(("a", "b"), broken), path.FAMILY))
    found = run(bench(tmp_path), ["a", "fastwarc_alone"])
    assert [row["name"] for row in found["results"]] == ["fastwarc_alone"]
    assert found["failed"] == {"a": "BrokerFailed: no Kafka broker: run `make broker`"}


def test_every_budget_has_a_sense() -> None:
    assert all(budget.held(budget.value) for budget in BUDGETS.values())


def test_inner_steps_are_not_counted_twice() -> None:
    watch = Stopwatch()
    began = time.thread_time()
    with watch.step("fingerprint"), watch.step("index"):
        _busy(0.02)
    total = time.thread_time() - began
    found = watch.finish()
    assert found["fingerprint"] < found["index"] <= total


def _busy(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
