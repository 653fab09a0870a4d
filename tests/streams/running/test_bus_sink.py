"""What a broker refuses of what pages do not wait for: it is counted, and the pages go on."""

from __future__ import annotations

from pathlib import Path
from random import Random

from msgspec.structs import replace

from reusewatch.streams import topics
from reusewatch.streams.kafka import KafkaBus, KafkaConfig
from reusewatch.streams.local.spools import spools_of
from reusewatch.streams.running.bus_sink import BusSink
from reusewatch.streams.running.spilling import Spill
from reusewatch.streams.running.steady import Going
from reusewatch.streams.wire import alert_message, packed_page_message, page_message, read_page
from tests.pages import Fetch, page_of
from tests.streams.kafka.test_topics import alter
from tests.streams.made_alerts import made
from tests.streams.memory_bus import MemoryBus, MemoryOutlet


def urls_on(bus: KafkaBus) -> list[str]:
    return sorted(read_page(message).url for message in bus.read(topics.PAGES))


def test_a_refused_alert_is_untold_and_no_page_is_lost(
    kafka_config: KafkaConfig, tmp_path: Path
) -> None:
    # What an administrator forbids a login, the broker says as late as this.
    alter(kafka_config, topics.ALERTS, max_message_bytes="100")
    bus = KafkaBus(kafka_config)
    pages = [page_of(Fetch(number, 0, 1, 0)) for number in range(5)]
    spill = Spill(tmp_path)
    spill.take([alert_message(made(1), stage="crawl"), page_message(pages[0])])
    spill.close()
    sink = Going(lambda: BusSink(bus), say=print, aside=Spill(tmp_path))
    assert (sink.untold, spools_of(tmp_path)) == (1, [])
    for number, page in enumerate(pages[1:], 2):
        sink.report(made(number))
        sink.put(page)
        sink.checkpoint()
    sink.close()
    assert urls_on(bus) == [page.url for page in pages]
    assert (sink.untold, sink.lost) == (5, 0)
    assert str(sink.remark).startswith("5 alerts of crawl traps were refused, and no page: the")


def test_alerts_that_are_taken_are_told(kafka_config: KafkaConfig) -> None:
    bus = KafkaBus(kafka_config)
    sink = BusSink(bus)
    sink.report(made(1))
    sink.checkpoint()
    assert [message.key for message in bus.read(topics.ALERTS)] == [made(1).id]
    sink.report(made(2))
    sink.close()
    assert len(list(bus.read(topics.ALERTS))) == 2
    assert (sink.untold, sink.remark) == (0, None)


def test_pages_are_sent_together_and_in_order_whatever_their_size() -> None:
    bus = MemoryBus()
    sink = BusSink(bus, together=3)
    outlet = sink._outlet
    assert isinstance(outlet, MemoryOutlet)
    pages = [page_of(Fetch(number, 0, 1, 0)) for number in range(6)]
    pages[4] = replace(pages[4], body=Random(1).randbytes(100_000))
    sent = []
    for page in pages:
        sink.put(page)
        sent.append(len(outlet.pending))
    assert sent == [0, 0, 3, 3, 5, 5]
    assert list(sink.take_back()) == [packed_page_message(pages[5])]
    sink.checkpoint()
    sink.put(pages[0])
    sink.close()
    assert [read_page(message) for message in bus.read(topics.PAGES)] == [*pages, pages[0]]
