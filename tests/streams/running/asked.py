"""A port of a worker that has nothing to say."""

from __future__ import annotations

from concurrent.futures import Future

from reusewatch.streams.questions import Parameters, Rows
from reusewatch.streams.running.prefix_answers import PrefixAnswers
from tests.streams.memory_bus import MemoryBus


class Idle:
    """A worker that is well."""

    def trouble(self) -> str | None:
        return None

    def ready(self) -> bool:
        return True

    def ask(self, name: str, parameters: Parameters) -> Future[Rows]:
        answer: Future[Rows] = Future()
        answer.set_result([])
        return answer


def no_prefixes() -> PrefixAnswers:
    """Reads an empty bus, should anybody ask."""
    return PrefixAnswers(lambda stop: MemoryBus({"alerts": 1}), print)
