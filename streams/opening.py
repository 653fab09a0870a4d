"""The bus that the settings name, and where a process on it keeps its state.

Imports no stage: a crawl host opens a bus, and has none of what the stages need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from reusewatch.streams.bus import Bus, Unreachable
from reusewatch.streams.local import LocalBus, require_bus
from reusewatch.streams.settings import Settings

if TYPE_CHECKING:
    from reusewatch.streams.kafka.config import KafkaConfig, Protocol


def open_bus(
    settings: Settings,
    *,
    stop: Event | None = None,
    say: Callable[[str], None] = lambda text: None,
    patience: float | None = None,
    away: Callable[[str], None] | None = None,
    back: Callable[[], None] = lambda: None,
    packed: bool = False,
    in_flight_bytes: int | None = None,
    linger: float | None = None,
) -> Bus:
    """The bus named by `bus`. `stop` ends the waiting for a broker that is away, and so does the
    end of `patience`, in seconds, where there is one.

    What is sent may be `packed` already, page by page: its batches are not compressed once more.
    At most `in_flight_bytes` wait to be acknowledged, where that is said, and for company each so
    long as `linger` says, in seconds.

    `away` is told, instead of `say`, that the broker does not answer, and `back` that it does.
    """
    if settings.bus.startswith("local:"):
        return LocalBus(Path(settings.bus.removeprefix("local:")))
    from reusewatch.streams.kafka import KafkaBus  # a local bus need not pay for the client

    config = replace(kafka_config(settings), patience=patience)
    if packed and config.compression == "lz4":
        config = replace(config, compression=None)
    if in_flight_bytes is not None:
        config = replace(config, in_flight_bytes=in_flight_bytes)
    if linger is not None:
        config = replace(config, linger=linger)
    return KafkaBus(
        config, stopping=(stop or Event()).is_set, report=say, away=away, back=back
    )  # fmt: skip


def bus_to_read(
    settings: Settings,
    *,
    stop: Event | None = None,
    say: Callable[[str], None] = lambda text: None,
    waits: bool = False,
) -> Bus:
    """The bus for a command that only reads.

    Raises Unreachable where a directory holds no bus; a command that `waits` is told of it."""
    bus = open_bus(settings, stop=stop, say=say)
    try:
        if isinstance(bus, LocalBus):
            require_bus(bus.directory)
    except Unreachable as error:
        if not waits:
            raise
        say(f"{error}; waiting for it")
    return bus


def kafka_config(settings: Settings) -> KafkaConfig:
    """What the settings say about the cluster."""
    from reusewatch.streams.kafka import from_url

    sasl = settings.kafka_security.startswith("sasl")
    return from_url(
        settings.bus,
        topic_prefix=settings.topic_prefix,
        group_instance_id=settings.kafka_instance,
        security_protocol=_PROTOCOLS[settings.kafka_security],
        ssl_cafile=settings.kafka_tls_ca,
        ssl_certfile=settings.kafka_tls_certificate,
        ssl_keyfile=settings.kafka_tls_key,
        ssl_password=settings.kafka_tls_key_password,
        ssl_check_hostname=settings.kafka_tls_check_hostname,
        sasl_mechanism=settings.kafka_sasl if sasl else None,
        sasl_username=settings.kafka_username,
        sasl_password=settings.kafka_password,
        sasl_token=settings.kafka_token,
        session_timeout=settings.kafka_session_seconds,
        # Three heartbeats may be lost, as brokers expect.
        heartbeat=min(3.0, settings.kafka_session_seconds / 4),
        gather=settings.kafka_gather_seconds,
        compression=None if settings.kafka_compression == "none" else settings.kafka_compression,
    )


def state_directory(settings: Settings) -> Path:
    """Where this process keeps what it must find again."""
    local = settings.bus.startswith("local:")
    return Path(settings.bus.removeprefix("local:") if local else settings.state)


_PROTOCOLS: Mapping[str, Protocol] = {
    "plaintext": "PLAINTEXT",
    "tls": "SSL",
    "sasl": "SASL_PLAINTEXT",
    "sasl+tls": "SASL_SSL",
}
