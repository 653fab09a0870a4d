"""Pages of a live crawl are read again from the topic, while it retains them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from reusewatch.crawler.replaying.origins import origin_reader
from reusewatch.streams import topics
from reusewatch.streams.kafka import KafkaBus, KafkaConfig
from reusewatch.streams.kafka.again import close_readers
from reusewatch.streams.origins import kafka_origin
from reusewatch.streams.page_text import OriginGone
from reusewatch.streams.wire import page_message
from tests.pages import SCHEME, Fetch, page_of


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_readers()


def test_a_page_is_read_again_and_what_is_not_there_says_why(kafka_config: KafkaConfig) -> None:
    bus = KafkaBus(kafka_config)
    pages = [page_of(Fetch(number, 1, number, number)) for number in range(3)]
    with closing(bus.outlet()) as outlet:
        for page in pages:
            outlet.send(page_message(page))
        outlet.flush()
    read = origin_reader(SCHEME, 1 << 20, cluster=kafka_config)
    topic = kafka_config.topic(topics.PAGES)
    sent = list(bus.read(topics.PAGES))
    for message in reversed(sent):
        again = read(kafka_origin(topic, message.partition.number, message.offset))
        assert again.body == next(page.body for page in pages if page.url == again.url)
    for topic_named, why in ((topic, "retention"), ("others", "archive gone")):
        with pytest.raises(OriginGone) as gone:
            read(kafka_origin(topic_named, sent[0].partition.number, 999))
        assert gone.value.why == why
