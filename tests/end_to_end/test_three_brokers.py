"""Three brokers with replication 3, which fail one after the other under load."""

from __future__ import annotations

from pathlib import Path

from tests.end_to_end.three_brokers import run_rounds


def test_brokers_fail_one_after_the_other_and_nothing_is_lost(tmp_path: Path) -> None:
    run_rounds(tmp_path, ("controller", "rebalance"), 1, 300, print)
