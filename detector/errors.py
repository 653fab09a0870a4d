"""What can be wrong with what the detector is given.

DetectorError
├── BadPage          this page cannot be judged; it ends in the dead letters
└── SchemeMismatch   hashes of two schemes met; nothing they say is comparable
"""

from __future__ import annotations


class DetectorError(Exception):
    """Root of the detector's exceptions."""


class BadPage(DetectorError):
    """A page that cannot be judged: `reason` is from a closed set, `detail` is for people."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class SchemeMismatch(DetectorError):
    """State or labels hashed under another scheme."""

    def __init__(self, what: str, found: str, wanted: str) -> None:
        super().__init__(
            f"{what} was made with hash scheme {found}, this process uses {wanted}: "
            "use the same hash_key, or build it anew"
        )
        self.found = found
        self.wanted = wanted
