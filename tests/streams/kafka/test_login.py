"""Logging in to a cluster, and hearing exactly why that did not work."""

from __future__ import annotations

import base64
import json
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Timer

import pytest

from reusewatch.streams import topics
from reusewatch.streams.bus import BusBroken, Outgoing, Unreachable
from reusewatch.streams.kafka import KafkaBus, KafkaConfig, create_topics, from_url
from reusewatch.streams.kafka.connect import DIAL_SECONDS, _dial
from tests import certificates
from tests.broker import FEW_PARTITIONS, quick_config
from tests.certificates import Certificates
from tests.deployed import Broker, Listener

SECURITY = "org.apache.kafka.common.security"
SCRAM = f"{SECURITY}.scram.ScramLoginModule required;"
LOGINS = {
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
    "plain.sasl.jaas.config": f'{SECURITY}.plain.PlainLoginModule required user_alice="secret";',
    "scram-sha-256.sasl.jaas.config": SCRAM,
    "scram-sha-512.sasl.jaas.config": SCRAM,
    "oauthbearer.sasl.jaas.config": f"{SECURITY}.oauthbearer.OAuthBearerLoginModule required "
    'unsecuredLoginStringClaim_sub="broker";',
}


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return certificates.make(tmp_path_factory.mktemp("pem"))


@pytest.fixture(scope="module")
def guarded(pem: Certificates) -> Iterator[Broker]:
    """A broker with a listener of each kind."""
    tls = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(pem.server),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(pem.ca),
    }
    listeners = {
        "SASL": Listener("SASL_PLAINTEXT", LOGINS),
        "BOTH": Listener("SASL_SSL", LOGINS | tls),
        "TLS": Listener("SSL", tls | {"ssl.client.auth": "required"}),
    }
    with Broker(listeners=listeners, users={"alice": "secret"}) as started:
        yield started


def token() -> str:
    """A token without a signature, as the broker takes them by default."""

    def encoded(part: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")

    now = int(time.time())
    claims = {"sub": "alice", "iat": now - 10, "exp": now + 600}
    return f"{encoded({'alg': 'none'})}.{encoded(claims)}."


def login(guarded: Broker, pem: Certificates, listener: str, mechanism: str | None) -> KafkaConfig:
    protocol = {"SASL": "SASL_PLAINTEXT", "BOTH": "SASL_SSL", "TLS": "SSL"}[listener]
    settings: dict[str, object] = {"security_protocol": protocol, "connect_timeout": 2.0}
    if protocol != "SASL_PLAINTEXT":
        settings["ssl_cafile"] = str(pem.ca)
    if listener == "TLS":
        settings |= {"ssl_certfile": str(pem.client), "ssl_keyfile": str(pem.client)}
    if mechanism == "OAUTHBEARER":
        settings |= {"sasl_mechanism": mechanism, "sasl_token": token()}
    elif mechanism is not None:
        settings |= {
            "sasl_mechanism": mechanism, "sasl_username": "alice", "sasl_password": "secret",
        }  # fmt: skip
    return quick_config(guarded.address_of(listener), **settings)


@pytest.mark.parametrize(
    ("listener", "mechanism"),
    [
        ("SASL", "PLAIN"),
        ("SASL", "SCRAM-SHA-256"),
        ("BOTH", "SCRAM-SHA-512"),
        ("BOTH", "PLAIN"),
        ("BOTH", "OAUTHBEARER"),
        ("TLS", None),
    ],
)
def test_a_login_works_for_every_client(
    guarded: Broker, pem: Certificates, listener: str, mechanism: str | None
) -> None:
    config = login(guarded, pem, listener, mechanism)
    create_topics(config, partitions=FEW_PARTITIONS)
    bus = KafkaBus(config)
    bus.check()
    outlet = bus.outlet()
    outlet.send(Outgoing(topics.ALERTS, "k", b"1"))
    outlet.close()
    assert [message.value for message in bus.read(topics.ALERTS)] == [b"1"]
    inlet = bus.inlet("watch", [topics.ALERTS])
    while not inlet.poll(1.0):
        pass
    inlet.close()


def test_a_token_is_read_from_its_file_at_each_login(
    guarded: Broker, pem: Certificates, tmp_path: Path
) -> None:
    path = tmp_path / "token"
    path.write_text(token() + "\n")
    config = login(guarded, pem, "BOTH", "OAUTHBEARER")
    config = replace(config, sasl_token=None, sasl_token_file=path)
    assert len(create_topics(config, partitions=FEW_PARTITIONS)) == len(topics.TOPICS)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_a_wrong_password_is_named(guarded: Broker, pem: Certificates, mechanism: str) -> None:
    config = replace(login(guarded, pem, "SASL", mechanism), sasl_password="wrong")
    with pytest.raises(BusBroken, match=rf"refuses the login \({mechanism} as alice\)"):
        KafkaBus(config).check()


def test_a_wrong_authority_is_named(guarded: Broker, pem: Certificates, tmp_path: Path) -> None:
    other = certificates.make(tmp_path)
    config = replace(login(guarded, pem, "BOTH", "PLAIN"), ssl_cafile=str(other.ca))
    with pytest.raises(BusBroken, match=r"not trusted.*check the CA file"):
        KafkaBus(config).check()


def test_a_wrong_host_name_is_named_and_can_be_allowed(guarded: Broker, pem: Certificates) -> None:
    config = login(guarded, pem, "BOTH", "PLAIN")
    port = config.bootstrap_servers[0].rpartition(":")[2]
    config = replace(config, bootstrap_servers=(f"localhost:{port}",))
    with pytest.raises(BusBroken, match="host name"):
        KafkaBus(config).check()
    create_topics(replace(config, ssl_check_hostname=False))


def test_a_missing_authority_file_is_named(guarded: Broker, pem: Certificates) -> None:
    config = replace(login(guarded, pem, "BOTH", "PLAIN"), ssl_cafile="/nowhere/ca.pem")
    with pytest.raises(BusBroken, match=r"/nowhere/ca\.pem"):
        KafkaBus(config).check()


def test_tls_to_a_plain_port_is_named(guarded: Broker, pem: Certificates) -> None:
    config = replace(login(guarded, pem, "TLS", None), bootstrap_servers=(guarded.address,))
    with pytest.raises(BusBroken, match="no TLS with"):
        KafkaBus(config).check()


def test_no_tls_to_a_tls_port_is_named(guarded: Broker) -> None:
    config = quick_config(guarded.address_of("TLS"), connect_timeout=2.0)
    with pytest.raises(Unreachable, match="does not answer: wrong security protocol"):
        KafkaBus(config).check()


def test_a_mechanism_that_is_not_offered_is_named(broker: str) -> None:
    config = quick_config(
        broker, connect_timeout=2.0, security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN", sasl_username="alice", sasl_password="secret",
    )  # fmt: skip
    with pytest.raises((BusBroken, Unreachable)):
        KafkaBus(config).check()


def test_nobody_there_is_named() -> None:
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:1 \(Connection refused"):
        KafkaBus(quick_config("127.0.0.1:1", connect_timeout=0.5)).check()


def test_nobody_there_is_said_within_seconds() -> None:
    """With the patience that users have, not that of the tests."""
    began = time.monotonic()
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:1: Connection refused; .*127\.0\.0\.1:2"):
        create_topics(KafkaConfig(("127.0.0.1:1", "127.0.0.1:2")))
    assert DIAL_SECONDS / 2 < time.monotonic() - began < KafkaConfig(("a",)).connect_timeout / 2


def test_a_broker_that_is_just_starting_is_waited_for() -> None:
    with socket.socket() as later:
        later.bind(("127.0.0.1", 0))  # nobody listens here yet
        config = quick_config(f"127.0.0.1:{later.getsockname()[1]}")
        Timer(1.0, later.listen).start()
        _dial(config)


def test_an_unknown_host_is_named() -> None:
    with pytest.raises(Unreachable, match=r"nowhere\.invalid"):
        KafkaBus(quick_config("nowhere.invalid:9092", connect_timeout=0.5)).check()


def test_an_address_that_leads_nowhere_is_named() -> None:
    wrong = {"advertised.listeners": "PLAINTEXT://127.0.0.1:9"}
    with Broker(settings=wrong) as broker:
        config = quick_config(broker.address, connect_timeout=2.0)
        with pytest.raises(Unreachable, match=r"sends clients to 127\.0\.0\.1:9.*advertised"):
            KafkaBus(config).check()


def test_missing_topics_are_named(broker: str) -> None:
    config = quick_config(broker)
    with pytest.raises(BusBroken, match=rf"{config.topic_prefix}pages.*topics create"):
        KafkaBus(config).check()
    outlet = KafkaBus(config).outlet()
    with pytest.raises(BusBroken, match="topics create"):
        outlet.send(Outgoing(topics.PAGES, "k", b""))
    outlet.close()
    with pytest.raises(BusBroken, match="topics create"):
        KafkaBus(config).inlet("watch", [topics.ALERTS])


def test_a_bus_address_is_checked() -> None:
    assert from_url("kafka://a,b:1/").bootstrap_servers == ("a:9092", "b:1")
    for wrong in ("local:x", "kafka://", "kafka://a/b", "kafka://user:secret@a"):
        with pytest.raises(BusBroken):
            from_url(wrong)


def test_secrets_are_not_shown() -> None:
    config = KafkaConfig(
        ("a:1",), security_protocol="SASL_SSL", sasl_mechanism="PLAIN",
        sasl_username="alice", sasl_password="hidden", ssl_password="hidden",
    )  # fmt: skip
    assert "hidden" not in repr(config)


def test_a_login_without_its_parts_is_refused() -> None:
    for incomplete in (
        {},
        {"sasl_mechanism": "PLAIN", "sasl_username": "alice"},
        {"sasl_mechanism": "OAUTHBEARER"},
    ):
        with pytest.raises(BusBroken):
            KafkaConfig(("a:1",), security_protocol="SASL_SSL", **incomplete)  # type: ignore[arg-type]
