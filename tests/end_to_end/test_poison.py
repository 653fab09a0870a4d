"""Garbage on the topics: a little is buried with its reason, a flood stops who reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from reusewatch.detector.hashing import HashScheme
from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.verbs import topic_views
from reusewatch.streams.wire import headers_for, page_message
from tests.end_to_end.test_kills import SEED
from tests.end_to_end.workers import Cluster, cluster_at, stop
from tests.pages import Fetch, copies, mixed_crawl, page_of
from tests.streams.stages.making import page_messages, zero

PAGES = 1000
NEWER = (("schema", b"page/3"), ("content-type", b"application/msgpack"))
NEWER_BLOCK = (("schema", b"fingerprints/3"),)


@pytest.fixture
def cluster(broker: str, tmp_path: Path) -> Iterator[Cluster]:
    with cluster_at(broker, tmp_path) as found:
        yield found


def send(cluster: Cluster, messages: list[Outgoing]) -> None:
    outlet = cluster.bus.outlet()
    for message in messages:
        outlet.send(message)
    outlet.close()


def garbage(random: Random, topic: str) -> Outgoing:
    """Noise, nothing, a tombstone, half a record, and one without headers."""
    sound = page_message(page_of(Fetch(1, 1, 1, 1)))
    values: list[tuple[bytes | None, tuple[tuple[str, bytes], ...]]] = [
        (random.randbytes(100), headers_for(topic)),
        (b"", headers_for(topic)),
        (None, headers_for(topic)),
        ((sound.value or b"")[:40], headers_for(topic)),
        (sound.value, ()),
        (sound.value, (("schema", b"\xff/\xff"),)),
    ]
    value, headers = random.choice(values)
    return Outgoing(topic, f"k{random.randrange(9)}", value, headers)


def test_one_in_a_hundred_is_buried_and_the_rest_is_processed(cluster: Cluster) -> None:
    random = Random(SEED)
    fetches = mixed_crawl(PAGES, random.randrange)
    sent = [page_message(page_of(fetch)) for fetch in fetches]
    sent += [garbage(random, topics.PAGES) for _ in range(PAGES // 100)]
    sent.append(Outgoing(topics.PAGES, "k", sent[0].value, NEWER))
    random.shuffle(sent)
    send(cluster, sent)
    workers = [cluster.work("fingerprint"), cluster.work("index")]
    send(cluster, [garbage(random, topics.FINGERPRINTS) for _ in range(5)])
    send(cluster, [Outgoing(topics.FINGERPRINTS, "k", b"x", NEWER_BLOCK)])
    cluster.await_done()
    assert [stop(worker).code for worker in workers] == [0, 0]
    state = cluster.state()
    assert set(state.alerts) == copies(fetches)
    assert set(state.verdicts) == {fetch.url for fetch in fetches}
    letters = list(topic_views.dead_letters(cluster.bus))
    by_reason = Counter(letter.reason for letter in letters)
    assert by_reason == {"malformed-message": PAGES // 100 + 5, "newer-schema": 2}
    for letter in letters:
        assert letter.source.startswith(("pages/", "fingerprints/"))
        assert letter.offset is not None
        assert letter.detail
    newer = [letter.detail for letter in letters if letter.reason == "newer-schema"]
    assert all("written by a newer reusewatch; this one reads up to" in text for text in newer)


@pytest.mark.parametrize(
    ("stage", "topic"), [("fingerprint", topics.PAGES), ("index", topics.FINGERPRINTS)]
)
def test_nothing_but_garbage_stops_the_worker(cluster: Cluster, stage: str, topic: str) -> None:
    random = Random(SEED)
    send(cluster, [garbage(random, topic) for _ in range(500)])
    worker = cluster.work(stage)
    ended = worker.end()
    assert ended.code == 1
    assert "records are dead letters (the limit is 50%), most lately: malformed" in ended.err
    assert "Traceback" not in ended.err
    # They say why, and nothing was committed: mended, it begins where it was.
    assert list(topic_views.dead_letters(cluster.bus))
    assert cluster.count(topics.DEAD_LETTERS)
    again = cluster.start(
        "work", stage, "--metrics-port", 0, "--state", "state", "--dead-letter-limit", 1
    )
    cluster.await_done()
    assert stop(again).code == 0


def test_blocks_of_another_scheme_stop_the_index_with_both_names(cluster: Cluster) -> None:
    other, ours = HashScheme(42), HashScheme()
    pages = page_messages([Fetch(0, 0, 1, 7), Fetch(1, 1, 2, 7)])
    send(cluster, FingerprintStage(other, zero).process(pages).messages)
    worker = cluster.work("index")
    ended = worker.end()
    assert ended.code == 2
    assert other.name in ended.err
    assert ours.name in ended.err
    assert "Traceback" not in ended.err
    assert cluster.count(topics.DEAD_LETTERS) == 0
    # With the key that made them it goes on.
    cluster.settings["hash_key"] = 42
    again = cluster.work("index")
    cluster.await_done()
    assert stop(again).code == 0
    assert len(cluster.state().alerts) == 1
