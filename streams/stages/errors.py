"""What can be wrong with a stage's snapshot.

SnapshotError
├── Damaged        the one before it is taken, or the log
└── Incompatible   another scheme, or a newer version: stops the process, nothing is thrown away
"""

from __future__ import annotations

import errno


class SnapshotError(Exception):
    """Root of what can be wrong with a snapshot."""


class Damaged(SnapshotError):
    """A snapshot that does not hold together."""


class Incompatible(SnapshotError):
    """A sound snapshot that this process cannot read on from."""


def what_to_do(error: OSError) -> str:
    """What the operator does about a file that could not be written.

    >>> what_to_do(OSError(errno.EMFILE, "Too many open files"))
    'raise the limit of open files (ulimit -n)'
    """
    if error.errno in {errno.EMFILE, errno.ENFILE}:
        return "raise the limit of open files (ulimit -n)"
    return "free some space" if error.errno in {errno.ENOSPC, errno.EDQUOT} else "mend that"
