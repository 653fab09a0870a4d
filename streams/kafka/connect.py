"""Clients that say why they could not connect, and leave nothing behind when they could not.

kafka-python answers a wrong password, a wrong certificate and a wrong address alike: with a
timeout, the cause in its log, and a thread and sockets left open. Here the cause is caught and
named, and what was opened is closed. Never retries: that is for those who hold a client.
"""

from __future__ import annotations

import gc
import importlib
import logging
import re
import socket
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from kafka.errors import KafkaError, NodeNotReadyError, UnknownBrokerIdError
from kafka.net.compat import KafkaNetClient
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.protocol.consumer import ListOffsetsRequest

from reusewatch.streams.bus import BusBroken, Unreachable
from reusewatch.streams.kafka.bounds import refusals_fail
from reusewatch.streams.kafka.config import KafkaConfig
from reusewatch.streams.kafka.header_names import forgive
from reusewatch.streams.kafka.quick_read import read_quickly
from reusewatch.streams.kafka.receiving import receive_at_once

C = TypeVar("C")

# So long a broker that takes no connection is dialed again, before it is said to be away.
DIAL_SECONDS = 4.0
_DIAL_PAUSE = 0.25
ANSWERS = "it takes connections and does not answer: wrong security protocol, or a stuck broker"

# Without crc32c messages of 20 kB go out 75 times slower, with nothing said.
CODECS = {"crc32c": "crc32c", "lz4.frame": "lz4", "zstandard": "zstandard"}


def check_codecs() -> None:
    """Refuse to start without the C extensions that kafka-python silently does without."""
    for module, package in CODECS.items():
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise BusBroken(
                f"{module} cannot be loaded ({error}): pip install {package}"
            ) from error


def connect(make: Callable[..., C], config: KafkaConfig, settings: dict[str, Any]) -> C:
    """A client of this kind, or the reason why there is none."""
    _check_files(config)
    _dial(config)
    forgive()
    read_quickly()
    receive_at_once()
    opened: list[_NetClient] = []

    def net_client(**configs: Any) -> _NetClient:
        opened.append(_NetClient(**configs))
        return opened[-1]

    with _overheard() as causes:
        try:
            return make(**settings, kafka_client=net_client)
        except (KafkaError, OSError, ValueError) as error:
            for client in opened:
                with suppress(KafkaError, OSError, RuntimeError):
                    client.close()
            opened.clear()
            _sweep()
            raise _named(config, causes, error) from error


def disconnect(consumer: Any, timeout_ms: int) -> None:
    """Close a consumer. Whatever goes wrong while it leaves its group, its connections are closed:
    kafka-python would leave them, and the thread that serves them, to nobody."""
    try:
        consumer.close(timeout_ms=timeout_ms)
    finally:
        consumer._client.close()


class _Manager(KafkaConnectionManager):
    """Waits for a broker that it has yet to hear of, as for one that it cannot reach."""

    def get_connection(self, node_id: Any, *args: Any, **named: Any) -> Any:
        """A broker that came back may lead a partition before the client knows it again. The error
        that says so would end a worker, or a partition would never be fetched again: whoever sends
        expects only a broker that is not ready, which is tried again."""
        try:
            return super().get_connection(node_id, *args, **named)
        except UnknownBrokerIdError as error:
            self.cluster.request_update()
            raise NodeNotReadyError(node_id) from error

    def send(self, request: Any, *args: Any, **named: Any) -> Any:
        """A request on its way; see `bounds` for the one whose answer is judged here."""
        client: Any = super()  # without types
        answer = client.send(request, *args, **named)
        return refusals_fail(answer) if isinstance(request, ListOffsetsRequest) else answer


class _NetClient(KafkaNetClient):
    """Closes every socket that it opened."""

    def __init__(self, **configs: Any) -> None:
        net = NetworkSelector(**configs)
        super().__init__(net, _Manager(net, **configs), **configs)

    def close(self, node_id: Any = None) -> None:
        """A request that is on its way out holds its socket open until it is written, and the loop
        that would write it ends before: nobody would close that one."""
        manager: Any = vars(self)["_manager"]
        connections = [] if node_id is not None else list(manager._conns.values())
        transports = [one.transport for one in connections if one.transport is not None]
        super().close(node_id)
        for transport in transports:
            if transport._sock is not None:
                transport._sock.close()


def _check_files(config: KafkaConfig) -> None:
    named = (config.ssl_cafile, config.ssl_certfile, config.ssl_keyfile, config.sasl_token_file)
    for path in named:
        if path is None:
            continue
        try:
            Path(path).open("rb").close()
        except OSError as error:
            raise BusBroken(f"{path} cannot be read: {_reason(error)}") from error


def _dial(config: KafkaConfig) -> None:
    """Return once one of the brokers takes a connection; Unreachable after some seconds.

    The client itself would try for the whole of `connect_timeout`, and only then say so. A broker
    that is just starting is waited for.
    """
    began = time.monotonic()
    until = began + min(DIAL_SECONDS, config.connect_timeout)
    while True:
        heard: dict[str, str] = {}
        for server in config.bootstrap_servers:
            left = max(until - time.monotonic(), 0.1) / len(config.bootstrap_servers)
            heard[server] = _dialed(server, left)
            if heard[server] == ANSWERS:
                return
        if time.monotonic() + _DIAL_PAUSE >= until:
            break
        time.sleep(_DIAL_PAUSE)
    said = "; ".join(f"{server}: {reason}" for server, reason in heard.items())
    if len(heard) == 1:
        said = next(iter(heard.values()))
    raise Unreachable(
        f"no Kafka broker at {_servers(config)} ({said}; tried for "
        f"{time.monotonic() - began:.0f} s): is it running, and is that what --bus should name?"
    )


def probe_advertised(config: KafkaConfig, brokers: list[tuple[str, int]]) -> None:
    """Refuse a cluster none of whose brokers can be reached where it sends clients. Some may not: a
    broker that has just died is named until its session expires."""
    reasons: dict[str, str] = {}
    for host, port in brokers:
        try:
            socket.create_connection((host, port), timeout=min(5.0, config.connect_timeout)).close()
        except OSError as error:
            reasons[f"{host}:{port}"] = _reason(error)
        else:
            return
    if reasons:
        raise Unreachable(
            f"{_servers(config)} answers, and sends clients to {', '.join(reasons)}, where no "
            f"broker answers ({'; '.join(sorted(set(reasons.values())))}): set "
            "`advertised.listeners` of each to an address that this machine reaches"
        )


def _sweep() -> None:
    """Close the sockets of failed attempts, which kafka-python leaves to the garbage collector."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


class _Overheard(logging.Handler):
    """Keeps what kafka-python says about its connections."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


@contextmanager
def _overheard() -> Iterator[list[str]]:
    log = logging.getLogger("kafka.net")
    handler = _Overheard()
    log.addHandler(handler)
    try:
        yield handler.said
    finally:
        log.removeHandler(handler)


def _named(config: KafkaConfig, causes: list[str], error: Exception) -> Exception:
    said = " | ".join(causes)
    where = _servers(config)
    login = f"{config.sasl_mechanism} as {config.sasl_username or 'the bearer of the token'}"
    if "SaslAuthenticationFailed" in said or _hung_up_on(config, causes):
        return BusBroken(
            f"{where} refuses the login ({login}): check user name and password, and whether "
            "clients log in at that port at all (kafka_security)"
        )
    if "UnsupportedSaslMechanism" in said:
        return BusBroken(f"{where} does not offer SASL {config.sasl_mechanism}: {causes[-1]}")
    if "CERTIFICATE_VERIFY_FAILED" in said or "certificate verify failed" in said:
        return BusBroken(
            f"the certificate of {where} is not trusted ({_ssl_reason(said)}): check the CA file "
            f"({config.ssl_cafile or 'the system’s own'}) and the host name"
        )
    if "Handshake failed" in said:
        return BusBroken(f"no TLS with {where} ({_ssl_reason(said)}): check protocol and port")
    if isinstance(error, OSError | ValueError) and not isinstance(error, KafkaError):
        return BusBroken(f"settings of the Kafka client: {error}")
    heard = re.findall(r"Connection failed: ([^|]*)", said)
    last = f"; the client says: {heard[-1].strip()}" if heard else ""
    dialed = _dialed(config.bootstrap_servers[0], 3.0)
    return Unreachable(f"no Kafka broker at {where} ({dialed}{last}): is it running?")


def _hung_up_on(config: KafkaConfig, causes: list[str]) -> bool:
    """Whether the broker spoke with us and then hung up, again and again, while we logged in.

    It says why before it does, and kafka-python may notice the one before the other.
    """
    ended = [text for text in causes if "Connection lost" in text and "broker_version=(" in text]
    alive = not any("ECONNREFUSED" in text for text in causes)
    return config.sasl_mechanism is not None and alive and len(ended) > 1


def _ssl_reason(said: str) -> str:
    found = re.findall(r"Handshake failed: (.*?)(?= \(backoff| \| |$)", said)
    return found[-1] if found else said


def _dialed(server: str, timeout: float) -> str:
    """What a plain connection to a broker says."""
    host, _, port = server.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=timeout).close()
    except (OSError, OverflowError, ValueError) as error:
        return _reason(error) if isinstance(error, OSError) else str(error)
    return ANSWERS


def _reason(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__


def _servers(config: KafkaConfig) -> str:
    return ",".join(config.bootstrap_servers)
