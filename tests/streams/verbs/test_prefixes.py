"""`reusewatch prefixes`: what is printed, and a file that is always whole and follows the bus."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.local import LocalBus
from reusewatch.streams.steering.places import KeptOut, Places
from reusewatch.streams.verbs.prefixes import keep_written
from reusewatch.streams.wire import alert_message, headers_for, withdrawal
from tests.command import run
from tests.contract.tables import KEPT_OUT
from tests.streams.made_alerts import BAD, bad

NOW = datetime.now(UTC)
OPEN = replace(bad(1), detected_at=NOW)


def send(bus: LocalBus, *sent: Outgoing) -> None:
    outlet = bus.outlet()
    for one in sent:
        outlet.send(one)
    outlet.close()


def test_it_is_printed_and_written(tmp_path: Path) -> None:
    send(LocalBus(tmp_path / "bus"), alert_message(OPEN))
    on_bus = ("prefixes", "--bus", "local:bus")
    (row,) = run(*on_bus, "--json", cwd=tmp_path).objects
    assert set(row) >= KEPT_OUT
    assert (row["prefix"], row["alert"]) == (BAD, OPEN.id)
    done = run(*on_bus, "--format", "surt", "--output", "out", cwd=tmp_path)
    assert (done.code, done.out) == (0, "")
    assert (tmp_path / "out").read_text() == "-http://(example,bad,)/copies/\n"
    assert sorted(os.listdir(tmp_path)) == ["bus", "out"]


WRONG = {
    "a format that is none": ["--format", "odd"],
    "objects in another format": ["--format", "surt", "--json"],
    "nothing to write anew": ["--follow"],
    "an age that is none": ["--expire", "2GB"],
}


@pytest.mark.parametrize("arguments", WRONG.values(), ids=WRONG)
def test_wrong_use_is_2(arguments: list[str], tmp_path: Path) -> None:
    done = run("prefixes", *arguments, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("reusewatch: ")


def test_a_place_that_cannot_be_written_is_3(tmp_path: Path) -> None:
    done = run("prefixes", "--output", "nowhere/out", cwd=tmp_path)
    assert (done.code, done.out) == (3, "")


def test_nothing_to_keep_out_of_is_said(tmp_path: Path) -> None:
    send(LocalBus(tmp_path / "bus"))
    done = run("prefixes", "--bus", "local:bus", cwd=tmp_path)
    assert (done.code, done.out) == (0, "")
    assert "nothing to keep out of on local:bus" in done.err


def test_what_cannot_be_read_hides_nothing_and_is_1(tmp_path: Path) -> None:
    garbage = Outgoing(topics.ALERTS, "x", b"{", headers_for(topics.ALERTS))
    send(LocalBus(tmp_path / "bus"), garbage, alert_message(OPEN))
    done = run("prefixes", "--bus", "local:bus", cwd=tmp_path)
    assert (done.code, done.out) == (1, f"{BAD}\n")
    assert "1 of the messages" in done.err


def test_it_follows_what_opens_closes_and_is_withdrawn(tmp_path: Path) -> None:
    bus = LocalBus(tmp_path / "bus")
    other = replace(bad(2, prefix="http://other.example/"), detected_at=NOW)
    send(bus, alert_message(OPEN))
    steps = [
        alert_message(other),
        alert_message(replace(OPEN, state="closed")),
        withdrawal(other.id),
    ]
    held: list[list[str]] = []

    def write(rows: list[KeptOut]) -> None:
        now = [row.prefix for row in rows]
        if not held or now != held[-1]:
            held.append(now)
            if steps:
                send(bus, steps.pop(0))

    keep_written(bus, Places(), write, lambda: len(held) == 4)
    assert held == [[BAD], ["http://other.example/", BAD], ["http://other.example/"], []]
