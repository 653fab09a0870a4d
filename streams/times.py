"""Times as whole microseconds since the epoch, as columns and snapshots hold them, and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime.fromtimestamp(0, UTC)


def at_us(moment: datetime) -> int:
    """Microseconds since the epoch, exactly."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment(us: int) -> datetime:
    """The other way."""
    return _EPOCH + timedelta(microseconds=us)
