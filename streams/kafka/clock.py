"""What time the cluster thinks it is: the leader of the controllers' quorum says its own clock.

It is asked, and nothing is written.
"""

from __future__ import annotations

from kafka.errors import AuthorizationError, KafkaError, UnsupportedVersionError

from reusewatch.streams.bus import BusBroken
from reusewatch.streams.kafka.admin import admin_client
from reusewatch.streams.kafka.config import KafkaConfig


def broker_clock(config: KafkaConfig) -> float | None:
    """Seconds since the epoch, by the leader's clock; None where this login may not ask it, or the
    cluster is too old to say it."""
    try:
        with admin_client(config) as client:
            (partition,) = client.describe_metadata_quorum()["topics"][0]["partitions"]
    except (AuthorizationError, UnsupportedVersionError):
        return None
    except KafkaError as error:
        raise BusBroken(
            f"the controllers cannot be asked: {type(error).__name__}: {error}"
        ) from error
    leader = partition["leader_id"]
    found = (x for x in partition["current_voters"] if x["replica_id"] == leader)
    at = next((x["last_caught_up_timestamp"] for x in found), -1)
    return None if at < 0 else at / 1000
