"""Where nobody asks for metrics, whoever counts can tell them as ever."""

from __future__ import annotations

import inspect

from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.running.uncounted import uncounted
from tests.pages import SCHEME

VERBS = {"inc", "set", "observe", "observe_all", "time"}


def test_what_is_told_to_a_meter_can_be_told_to_what_stands_in() -> None:
    nothing, meters = uncounted(), Meters("index", SCHEME.name)
    for name, meter in vars(meters).items():
        for verb in VERBS & set(dir(meter)):
            assert callable(getattr(getattr(nothing, name).labels("index", "one"), verb))
    nothing.pages.labels("index").inc()
    with nothing.commit_seconds.labels("index").time():
        nothing.begin("index")


def test_what_is_told_to_all_of_them_can_be_told_to_what_stands_in() -> None:
    for name in ("begin", "forget", "show_labels"):
        told, stands_in = (getattr(kind, name) for kind in (Meters, type(uncounted())))
        assert list(inspect.signature(told).parameters) == list(
            inspect.signature(stands_in).parameters
        )
