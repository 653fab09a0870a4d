"""The bus on Kafka: `KafkaBus`, the same protocol as the local one, for many processes.

Its parts: `config` what is said to the clients, `connect` why one does not connect, `outlet`
sending, `inlet` reading in a group, `read` reading a topic as it is, `admin` and `checking`
the topics themselves. Only modules of this package import kafka.
Clients are made after a fork, never before: an inherited one hangs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Event

from reusewatch.streams import topics
from reusewatch.streams.bus import Message, OnAssigned, OnRevoked
from reusewatch.streams.kafka.admin import create_topics, require_topics
from reusewatch.streams.kafka.checking import check_topics
from reusewatch.streams.kafka.config import KafkaConfig, from_url
from reusewatch.streams.kafka.connect import check_codecs
from reusewatch.streams.kafka.inlet import KafkaInlet
from reusewatch.streams.kafka.outlet import KafkaOutlet
from reusewatch.streams.kafka.patience import Patience, idle, never, nothing
from reusewatch.streams.kafka.read import read

__all__ = [
    "KafkaBus",
    "KafkaConfig",
    "check_topics",
    "create_topics",
    "from_url",
]


class KafkaBus:
    """A cluster. Holds no connection itself; each outlet and inlet has its own.

    `stopping` ends the waiting for a broker that does not answer (a process that was told to
    leave must be able to); `report` is told, in words for people, when something is waited for or
    begun anew; `away`, where there is one, is told of the waiting instead, and `back` of its end.
    """

    def __init__(
        self,
        config: KafkaConfig,
        *,
        stopping: Callable[[], bool] = never,
        report: Callable[[str], None] = nothing,
        away: Callable[[str], None] | None = None,
        back: Callable[[], None] = idle,
    ) -> None:
        check_codecs()
        self.config = config
        self._stopping = stopping
        self._report = report
        self._away, self._back = away or report, back
        self._met = Event()

    def outlet(self) -> KafkaOutlet:
        """A new outlet, for one thread."""
        patience = self._patience()
        return patience.open(lambda: KafkaOutlet(self.config, patience))

    def inlet(
        self,
        group: str,
        topics: Sequence[str],
        *,
        sole: bool = False,
        on_assigned: OnAssigned | None = None,
        on_revoked: OnRevoked | None = None,
    ) -> KafkaInlet:
        """A new member of the group. `sole`: one member reads everything, others stand by."""
        patience = self._patience()
        return patience.open(
            lambda: KafkaInlet(
                self.config, group, topics, patience,
                sole=sole, on_assigned=on_assigned, on_revoked=on_revoked,
            )
        )  # fmt: skip

    def read(
        self,
        topic: str,
        *,
        partition: int | None = None,
        follow: bool = False,
        every: bool = False,
        stop: Callable[[], bool] | None = None,
        idle: Callable[[], None] | None = None,
    ) -> Iterator[Message]:
        """All messages of a topic as it is now; with `follow` then those that come."""
        return read(
            self.config, topic, self._patience(), partition=partition, follow=follow, every=every,
            stop=stop, idle=idle,
        )  # fmt: skip

    def mark(self) -> str:
        """Nothing: what was done is committed on the cluster itself."""
        return ""

    def require(self, mark: str, what: str) -> None:
        """A file without a mark can stand beside any cluster."""

    def check(self) -> None:
        """Raise Unreachable or BusBroken with what to do about it."""
        require_topics(self.config, topics.TOPICS)

    def close(self) -> None:
        """Nothing is held here; outlets and inlets are closed by who opened them."""

    def _patience(self) -> Patience:
        return Patience(
            self.config.patience, self._stopping, self._report, self._away, self._back, self._met
        )
