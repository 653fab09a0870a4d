"""What can be wrong with a stage's snapshot.

SnapshotError
├── Damaged        the one before it is taken, or the log
└── Incompatible   another scheme, or a newer version: stops the process, nothing is thrown away
"""

from __future__ import annotations


class SnapshotError(Exception):
    """Root of what can be wrong with a snapshot."""


class Damaged(SnapshotError):
    """A snapshot that does not hold together."""


class Incompatible(SnapshotError):
    """A sound snapshot that this process cannot read on from."""
