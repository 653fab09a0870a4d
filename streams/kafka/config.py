"""What a user says about a Kafka cluster, and what the clients are told because of it.

Every default of kafka-python that loses messages, stalls after an outage or costs speed is
overridden here and nowhere else, with the reason beside it. This module never connects.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from kafka.net.sasl.oauth import AbstractTokenProvider

from reusewatch.streams import topics
from reusewatch.streams.bus import BusBroken, BusMisnamed

Protocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]

MIB = topics.MIB
LARGEST = max(topic.message_bytes for topic in topics.TOPICS.values())
# A batch above a topic's limit is split and delivered, and yet its flush fails: stay below all.
BATCH_BYTES = min(topic.message_bytes for topic in topics.TOPICS.values()) // 2


@dataclass(frozen=True, slots=True)
class KafkaConfig:
    """A cluster, how to log in there, and how patient to be. Times are in seconds."""

    bootstrap_servers: tuple[str, ...]
    topic_prefix: str = "reusewatch."
    client_id: str = "reusewatch"
    # One name per worker process makes it a static member: a restart within the session moves
    # no partition. Two processes of one name fence each other (NotOwner).
    group_instance_id: str | None = None

    security_protocol: Protocol = "PLAINTEXT"
    ssl_cafile: str | None = None
    ssl_certfile: str | None = None
    ssl_keyfile: str | None = None
    ssl_password: str | None = field(default=None, repr=False)
    ssl_check_hostname: bool = True
    sasl_mechanism: Mechanism | None = None
    sasl_username: str | None = None
    sasl_password: str | None = field(default=None, repr=False)
    sasl_token: str | None = field(default=None, repr=False)
    # Read anew at each login, so that a token can be renewed beside a running worker.
    sasl_token_file: Path | None = None

    compression: Literal["lz4", "zstd"] | None = "lz4"
    in_flight_bytes: int = 64 * MIB
    in_flight_messages: int = 20_000
    linger: float = 0.01
    # A delivery timeout is fatal to a producer and may double what it had in flight: long.
    delivery_timeout: float = 3600.0
    # Without any acknowledgement for so long, a producer is suspected; when the broker then answers
    # others for as long again, a new one takes its place.
    stall: float = 60.0
    # How long an outage is waited out; None: until `close` or the stop callback.
    patience: float | None = None
    connect_timeout: float = 15.0
    # A worker that is silent for so long has lost its partitions: above the longest batch.
    max_poll_interval: float = 600.0
    session_timeout: float = 45.0
    heartbeat: float = 3.0
    # A step of judging, in the topics of blocks several.
    max_poll_records: int = 512
    # So long the broker waits for so much before it answers a member. What a batch costs whatever
    # is in it is more than what fifty pages cost: a worker that keeps up would spend its time on
    # that. No wait where it is behind.
    gather: float = 0.2
    gather_bytes: int = 2 * MIB

    def __post_init__(self) -> None:
        if not self.bootstrap_servers:
            raise BusMisnamed("no Kafka broker is named: kafka://HOST:PORT is expected")
        if not re.fullmatch(r"[A-Za-z0-9._-]*", self.topic_prefix):
            raise BusMisnamed(f"topic prefix {self.topic_prefix!r}: letters, digits and . _ - only")
        if self.security_protocol.startswith("SASL"):
            self._check_login()

    def _check_login(self) -> None:
        if self.sasl_mechanism is None:
            raise BusBroken(f"{self.security_protocol} needs a SASL mechanism")
        if self.sasl_mechanism == "OAUTHBEARER":
            if self.sasl_token is None and self.sasl_token_file is None:
                raise BusBroken("OAUTHBEARER needs a token or a token file")
        elif self.sasl_username is None or self.sasl_password is None:
            raise BusBroken(f"{self.sasl_mechanism} needs a user name and a password")

    def topic(self, name: str) -> str:
        """The name that a topic has on the broker."""
        if name not in topics.TOPICS:
            raise BusBroken(f"there is no topic {name!r}; topics: {', '.join(topics.TOPICS)}")
        return self.topic_prefix + name

    def name(self, topic: str) -> str:
        """Our name of a topic on the broker."""
        return topic.removeprefix(self.topic_prefix)


def from_url(url: str, **settings: Any) -> KafkaConfig:
    """The cluster that `kafka://HOST:PORT[,HOST:PORT…]` names.

    >>> from_url("kafka://a:9092,b").bootstrap_servers
    ('a:9092', 'b:9092')
    """
    scheme, _, rest = url.partition("://")
    if scheme != "kafka" or "/" in rest.rstrip("/") or "@" in rest:
        raise BusMisnamed(f"{url!r} is no bus: kafka://HOST:PORT[,HOST:PORT…] is expected")
    hosts = [host for host in rest.rstrip("/").split(",") if host]
    servers = tuple(host if re.search(r":\d+$", host) else f"{host}:9092" for host in hosts)
    return KafkaConfig(servers, **settings)


class _Token(AbstractTokenProvider):
    """The token of the configuration, read anew from its file at each login."""

    def __init__(self, config: KafkaConfig) -> None:
        super().__init__()
        self._config = config

    def token(self) -> str:
        if self._config.sasl_token_file is not None:
            return self._config.sasl_token_file.read_text().strip()
        return self._config.sasl_token or ""


def client_settings(config: KafkaConfig) -> dict[str, Any]:
    """What every client is told: where the brokers are, who we are, how fast to come back."""
    return {
        "bootstrap_servers": list(config.bootstrap_servers),
        "client_id": config.client_id,
        "bootstrap_timeout_ms": int(config.connect_timeout * 1000),
        # 30 s by default: after a few outages both ends would stall for up to a minute.
        "reconnect_backoff_max_ms": 1000,
        "request_timeout_ms": 30_000,
        "security_protocol": config.security_protocol,
        **_tls_settings(config),
        **_sasl_settings(config),
    }


def _tls_settings(config: KafkaConfig) -> Mapping[str, Any]:
    if "SSL" not in config.security_protocol:
        return {}
    return {
        "ssl_cafile": config.ssl_cafile,
        "ssl_certfile": config.ssl_certfile,
        "ssl_keyfile": config.ssl_keyfile,
        "ssl_password": config.ssl_password,
        "ssl_check_hostname": config.ssl_check_hostname,
    }


def _sasl_settings(config: KafkaConfig) -> Mapping[str, Any]:
    if not config.security_protocol.startswith("SASL"):
        return {}
    if config.sasl_mechanism == "OAUTHBEARER":
        login: dict[str, Any] = {"sasl_oauth_token_provider": _Token(config)}
    else:
        login = {
            "sasl_plain_username": config.sasl_username,
            "sasl_plain_password": config.sasl_password,
        }
    return {"sasl_mechanism": config.sasl_mechanism, **login}


def producer_settings(config: KafkaConfig) -> dict[str, Any]:
    """A producer that loses, doubles and reorders nothing while it lives."""
    return {
        **client_settings(config),
        "acks": "all",
        "enable_idempotence": True,
        "delivery_timeout_ms": int(config.delivery_timeout * 1000),
        "request_timeout_ms": min(30_000, int(config.delivery_timeout * 1000) // 2),
        "compression_type": config.compression,
        # 16 kB and no linger, the defaults, cost four times as much CPU a page.
        "batch_size": BATCH_BYTES,
        "linger_ms": int(config.linger * 1000),
        # Counted before compression; the topics' own limits are checked before this one.
        "max_request_size": LARGEST + MIB,
        "max_block_ms": 5000,
        "allow_auto_create_topics": False,
        "metrics_enabled": False,
    }


def reader_settings(config: KafkaConfig) -> dict[str, Any]:
    """A consumer without a group."""
    return {
        **client_settings(config),
        "enable_auto_commit": False,
        # A position that is gone is an error, never a silent jump.
        "auto_offset_reset": "none",
        "max_partition_fetch_bytes": LARGEST + MIB,
        "max_poll_records": config.max_poll_records,
        "allow_auto_create_topics": False,
        "metrics_enabled": False,
    }


def member_settings(config: KafkaConfig, group: str) -> dict[str, Any]:
    """A consumer that shares its topics with the other members of its group."""
    return {
        **reader_settings(config),
        "group_id": config.topic_prefix + group,
        "group_instance_id": config.group_instance_id,
        "max_poll_interval_ms": int(config.max_poll_interval * 1000),
        "session_timeout_ms": int(config.session_timeout * 1000),
        "heartbeat_interval_ms": int(config.heartbeat * 1000),
        **_gathering(config),
    }


def _gathering(config: KafkaConfig) -> Mapping[str, int]:
    """The broker does the waiting: nothing is in our hands that a rebalance would take away."""
    if not config.gather:
        return {}
    return {
        "fetch_min_bytes": config.gather_bytes,
        "fetch_max_wait_ms": max(1, int(config.gather * 1000)),
    }
