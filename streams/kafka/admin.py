"""Topics on a cluster: made as `streams.topics` declares them.

What exists is left as it is; `streams.kafka.checking` says how it differs. Never deletes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from kafka.admin import KafkaAdminClient
from kafka.errors import (
    AuthorizationError,
    KafkaConnectionError,
    KafkaError,
    RetriableError,
    TopicAlreadyExistsError,
    for_code,
)

from reusewatch.streams import topics
from reusewatch.streams.bus import BusBroken, BusMisnamed, Unreachable
from reusewatch.streams.kafka.config import KafkaConfig, client_settings
from reusewatch.streams.kafka.connect import connect, probe_advertised

# A topic of one replica is gone with its broker; from three brokers on there is no excuse.
WANTED_REPLICAS = 3
NO_SUCH_TOPIC = 3
_PAUSE = 0.25
# Its type stubs know neither the dicts that it returns nor half of its methods.
AdminClient = Any
_error_of: Any = for_code


@contextmanager
def admin_client(config: KafkaConfig) -> Iterator[AdminClient]:
    """An admin client, closed again; what it raises is said in the bus's words."""
    settings = client_settings(config)
    settings["request_timeout_ms"] = max(5000, settings["bootstrap_timeout_ms"])
    client: AdminClient = connect(KafkaAdminClient, config, settings)
    try:
        # Before the first request: to a wrong address it would hang until it times out.
        probe_advertised(config, _brokers(client))
        _meet(client, config.connect_timeout)
        yield client
    except AuthorizationError as error:
        raise BusBroken(f"the broker does not allow it: {error}") from error
    except (KafkaConnectionError, RetriableError) as error:
        raise Unreachable(f"the broker does not answer: {error}") from error
    except KafkaError as error:
        raise BusBroken(f"the broker answers {type(error).__name__}: {error}") from error
    finally:
        client.close()


def _meet(client: AdminClient, seconds: float) -> None:
    """Have a connection to a broker that answers. The client never retries, and for a while after a
    broker has died it is still named by the others; a connection that works is used again."""
    until = time.monotonic() + seconds
    while True:
        try:
            client.describe_cluster()
        except (KafkaConnectionError, RetriableError):
            if time.monotonic() > until:
                raise
            time.sleep(_PAUSE)
        else:
            return


def create_topics(
    config: KafkaConfig,
    *,
    partitions: Mapping[str, int] | None = None,
    replication_factor: int | None = None,
) -> list[str]:
    """Make the topics that are missing; their names. `partitions` overrides by topic. Without a
    replication factor each has three replicas, or as many as there are brokers."""
    for name in partitions or {}:
        config.topic(name)
    with admin_client(config) as client:
        there = counts(client, config, topics.TOPICS)
        missing = [topic for topic in topics.TOPICS.values() if topic.name not in there]
        made = []
        for topic in missing:
            number = (partitions or {}).get(topic.name, topic.partitions)
            if _create(client, config, topic, number, replication_factor):
                made.append(topic.name)
        if made:
            client.wait_for_topics([config.topic(name) for name in made])
        return made


def require_topics(config: KafkaConfig, names: Iterable[str]) -> dict[str, int]:
    """The topics' partition counts; raises BusMisnamed with what to do if one is missing."""
    wanted = list(names)
    with admin_client(config) as client:
        there = counts(client, config, wanted)
    if missing := [config.topic(name) for name in wanted if name not in there]:
        raise BusMisnamed(
            f"no such topic on {','.join(config.bootstrap_servers)}: {', '.join(missing)}; is "
            f"--topic-prefix {config.topic_prefix!r} right? `reusewatch topics create` makes them"
        )
    return there


def counts(client: AdminClient, config: KafkaConfig, names: Iterable[str]) -> dict[str, int]:
    """Partitions of those of our topics that exist."""
    return {name: len(found["partitions"]) for name, found in described(client, config, names)}


def described(
    client: AdminClient, config: KafkaConfig, names: Iterable[str]
) -> list[tuple[str, dict[str, Any]]]:
    """What the broker says of those of our topics that exist, by our names."""
    answers = client.describe_topics([config.topic(name) for name in names])
    for answer in answers:
        if answer["error_code"] not in (0, NO_SUCH_TOPIC):
            raise _error_of(answer["error_code"])(f"topic {answer['name']}")
    return [(config.name(a["name"]), a) for a in answers if a["error_code"] == 0]


def least_in_sync(replicas: int) -> int:
    """How many replicas must have a message before it is acknowledged: with three, two of them, so
    that no broker alone has it and any one may be away."""
    return 2 if replicas >= WANTED_REPLICAS else 1


def _create(
    client: AdminClient,
    config: KafkaConfig,
    topic: topics.Topic,
    partitions: int,
    replication_factor: int | None,
) -> bool:
    # Counts those that are away, too: a topic must not have fewer replicas for that.
    brokers = len(client.describe_cluster()["brokers"])
    replicas = replication_factor or min(WANTED_REPLICAS, brokers)
    wanted = {
        "num_partitions": partitions,
        "replication_factor": replicas,
        "configs": topic.broker_configs | {"min.insync.replicas": str(least_in_sync(replicas))},
    }
    name = config.topic(topic.name)
    try:
        if replicas > brokers:
            raise BusBroken(
                f"topic {name} cannot be made: replication factor {replicas} takes as many "
                f"brokers, and there are {brokers}; start more, or give a smaller "
                "--replication-factor"
            )
        client.create_topics({name: wanted})
    except TopicAlreadyExistsError:
        # Made by another process in this moment; `topics check` says whether it is as wanted.
        return False
    except KafkaError as error:
        raise BusBroken(f"topic {name} cannot be made: {error}") from error
    return True


def _brokers(client: AdminClient) -> list[tuple[str, int]]:
    # The only way to what the bootstrap was told: every public call already asks those brokers.
    return [(broker.host, broker.port) for broker in client._manager.cluster.brokers()]
