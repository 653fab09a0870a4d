"""What a worker sends is compressed once."""

from __future__ import annotations

from typing import Any

import pytest

from reusewatch.crawler.verbs import work
from reusewatch.streams.running.news import WorkerLog
from reusewatch.streams.running.stage_names import STAGES
from reusewatch.streams.settings import Settings
from reusewatch.streams.signals import Stop


class _Opened(Exception):
    """A bus was asked for."""


@pytest.mark.parametrize("stage", STAGES)
def test_blocks_whose_columns_are_compressed_are_not_compressed_again(
    stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    def opened(_: Settings, **named: Any) -> None:
        asked.update(named)
        raise _Opened

    monkeypatch.setattr(work, "open_bus", opened)
    with pytest.raises(_Opened):
        work._run(stage, Settings(), Stop(), WorkerLog(stage, "text", lambda _: None))
    assert asked["packed"] is (stage == "fingerprint")
