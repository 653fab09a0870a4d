"""Who of a group reads what: shared evenly, or one member everything (`sole`).

Both are cooperative: a partition is taken from a member before it is given to another, and what
stays is not interrupted. Never more than one owner, but where a member was cut off and does not
know it yet; its commits are refused then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment


class SharedAssignor(CooperativeStickyAssignor):
    """Every member a fair share; what it has it keeps."""

    def forget(self) -> None:
        """Claim nothing at the next joining: the partitions were lost."""
        # kafka-python would claim them again, and take them from who has them now.
        self.member_assignment = None


class SoleAssignor(SharedAssignor):
    """One member everything, the others nothing, until it leaves or dies."""

    name = "reusewatch-sole"

    def assign(self, cluster: Any, members: Sequence[Any]) -> dict[str, Any]:
        claims = {
            m.member_id: set(self.parse_member_metadata(m.metadata).partitions) for m in members
        }
        owner = choose_owner({member: len(claimed) for member, claimed in claims.items()})
        taken = {tp for member, claimed in claims.items() if member != owner for tp in claimed}
        topics = sorted({topic for member in members for topic in member.metadata.topics})
        share = []
        for topic in topics:
            numbers = cluster.partitions_for_topic(topic) or ()
            # What another still claims comes in the next round, when that one has let go.
            free = [n for n in sorted(numbers) if (topic, n) not in taken]
            if free:
                share.append((topic, free))
        return {
            member: ConsumerProtocolAssignment(self.version, share if member == owner else [], b"")
            for member in claims
        }


def choose_owner(claimed: dict[str, int]) -> str:
    """The member with the most partitions; among equals the first by name.

    >>> choose_owner({"b": 0, "a": 0}), choose_owner({"b": 3, "a": 0})
    ('a', 'b')
    """
    return min(claimed, key=lambda member: (-claimed[member], member))
