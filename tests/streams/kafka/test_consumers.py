"""What `doctor` says of a stage that nobody works for, and of one that somebody does."""

from __future__ import annotations

from collections.abc import Sequence

from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.checks import Check
from reusewatch.streams.kafka import KafkaBus, KafkaConfig
from reusewatch.streams.kafka.groups import readings
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs import doctor_consumers
from reusewatch.streams.verbs.doctor_consumers import READS, consumers, label_versions
from tests.streams.reading import ends, numbered, take
from tests.streams.stages.hoods import bad_site, blocks_of


def by_name(config: KafkaConfig) -> dict[str, Check]:
    return {check.check: check for check in consumers(config)}


def send(bus: KafkaBus, messages: Sequence[Outgoing]) -> None:
    outlet = bus.outlet()
    for message in messages:
        outlet.send(message)
    outlet.close()


def test_who_reads_and_what_waits(kafka_config: KafkaConfig) -> None:
    bus = KafkaBus(kafka_config)
    nobody = by_name(kafka_config)
    assert all(check.ok for check in nobody.values())
    assert nobody["stage fingerprint: processes"].found == "none, and nothing waits"
    send(bus, numbered(topics.PAGES, 9))
    missed = by_name(kafka_config)["stage fingerprint: processes"]
    assert (missed.ok, missed.do) == (False, "start `reusewatch work fingerprint`")
    assert missed.found == "none, and 9 messages wait on pages"
    inlet = bus.inlet("fingerprint", [topics.PAGES])
    inlet.commit(ends(take(inlet, 9)))
    send(bus, numbered(topics.PAGES, 4))
    (found,) = [one for one in readings(kafka_config, READS) if one.group == "fingerprint"]
    assert (found.members, found.waiting) == (1, 4)
    assert found.oldest is not None
    checks = {c.check: c for c in (doctor_consumers._waiting(found, found.oldest + late)
                                   for late in (5, 900))}  # fmt: skip
    assert not checks["stage fingerprint: waiting"].ok
    assert doctor_consumers._waiting(found, found.oldest + 5).ok
    assert "the oldest for 900 s" in checks["stage fingerprint: waiting"].found
    inlet.close()


def test_workers_that_match_with_other_labels_are_found(kafka_config: KafkaConfig) -> None:
    def versions() -> Check:
        (check,) = label_versions(kafka_config, Settings())
        return check

    bus = KafkaBus(kafka_config)
    send(bus, blocks_of(bad_site(1, 2), lambda site: 0))
    assert (versions().ok, versions().found) == (True, "1" * 16)
    send(bus, blocks_of(bad_site(2, 2), lambda site: 1, version="2" * 16))
    apart = versions()
    assert (apart.ok, apart.found) == (False, f"{'1' * 16}, {'2' * 16}")
    # What was written before the labels changed says nothing.
    send(bus, [Outgoing(topics.LABELS, "key", None)])
    assert versions().ok
