"""What `doctor` says of a machine that is well."""

from __future__ import annotations

from pathlib import Path

import pytest

from reusewatch.streams.checks import Check
from reusewatch.streams.local import DATABASE, LocalBus
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs import checking, doctor
from tests.command import run

ALL_WELL = [
    Check("python", True, "3.13", "3.11"),
    *(Check(f"reusewatch.t{n}: {what}", True, "yes", "yes")
      for n in range(10) for what in ("exists", "partitions", "retention.ms")),
    Check("stage index: processes", True, "2", "1"),
]  # fmt: skip


def test_all_topics_that_are_well_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    checking._report(ALL_WELL, json=False, verbose=False)
    assert capsys.readouterr().out.splitlines() == [
        "ok     python: 3.13", "ok     topics: 30 checks", "ok     stage index: processes: 2",
    ]  # fmt: skip
    checking._report(ALL_WELL, json=False, verbose=True)
    assert len(capsys.readouterr().out.splitlines()) == len(ALL_WELL)
    checking._report(ALL_WELL, json=True, verbose=False)
    assert len(capsys.readouterr().out.splitlines()) == len(ALL_WELL)


def test_doctor_lists_everything_if_asked(tmp_path: Path) -> None:
    short, long = (run("doctor", *flags, cwd=tmp_path) for flags in ([], ["--verbose"]))
    assert "extensions: " in short.out
    assert "extension lz4" in long.out
    assert len(short.out.splitlines()) < len(long.out.splitlines())


def test_what_is_wrong_is_shown_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = Check("reusewatch.t5: exists", False, "no", "yes", "make it")
    with pytest.raises(Exception, match="1"):
        checking._report([*ALL_WELL, wrong], json=False, verbose=False)
    assert "WRONG  reusewatch.t5: exists: no (wanted: yes)\n       → make it" in (
        capsys.readouterr().out
    )


def test_a_bus_whose_tables_are_just_being_made_is_no_fault(tmp_path: Path) -> None:
    bus = LocalBus(tmp_path)
    bus.lock()
    (tmp_path / DATABASE).touch()
    found = {one.check: one.ok for one in doctor.examine(Settings(bus=f"local:{tmp_path}"))}
    assert found["bus"]
    bus.close()
