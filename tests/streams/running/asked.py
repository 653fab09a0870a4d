"""A port of a worker that is asked nothing of prefixes."""

from __future__ import annotations

from reusewatch.streams.running.prefix_answers import PrefixAnswers
from tests.streams.memory_bus import MemoryBus


def no_prefixes() -> PrefixAnswers:
    """Reads an empty bus, should anybody ask."""
    return PrefixAnswers(lambda stop: MemoryBus({"alerts": 1}), print)
