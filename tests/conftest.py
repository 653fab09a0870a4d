"""What several tests stand on. Kernels are compiled before a test, and not within its time."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

from reusewatch.streams import kernels
from reusewatch.streams.console import say
from tests import forgotten, hermetic
from tests.broker import broker, kafka_config

# Who starts the tests in the background has them ignore Ctrl-C, and their commands would as well.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Or each command that a test starts compiles every module of ours again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# With several workers, the process that starts them comes here first: it alone compiles.
kernels.prepare(say)
if not kernels.are_compiled(questions=True):
    kernels.prepare_questions(say)
hermetic.install()
forgotten.install()
# How long an example takes says how busy the machine is, and nothing of the code.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
# Seconds, as in pyproject.toml.
USUAL = 300.0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What may take longest begins first: at the end, the other workers would wait for it."""
    items.sort(key=_patience, reverse=True)


def _patience(item: pytest.Item) -> float:
    marker = item.get_closest_marker("timeout")
    return max(USUAL, float(marker.args[0])) if marker else USUAL


__all__ = ["broker", "kafka_config"]
