"""What can be wrong with what the detector is given.

DetectorError
├── BadPage          this page cannot be judged; it ends in the dead letters
├── BadPack          this file cannot serve as a label pack
│   ├── DamagedPack  it does not hold together
│   ├── NewerPack    a newer version of the project wrote it
│   └── OlderPack    an older one did, in a format that is read no more
├── BadState         saved arrays do not hold together, whoever wrote them
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


class BadPack(DetectorError):
    """A file that cannot serve as a label pack."""


class DamagedPack(BadPack):
    """A label pack that does not hold together."""

    def __init__(self, where: str, detail: str) -> None:
        super().__init__(f"{where} is damaged: {detail}: fetch or build it anew")
        self.where = where
        self.detail = detail


class NewerPack(BadPack):
    """A label pack with something in it that this version does not know and cannot skip."""

    def __init__(self, where: str, found: str) -> None:
        super().__init__(
            f"{where} is a label pack with {found}, which this version does not know: "
            "update reusewatch, or build the pack with this version"
        )
        self.found = found


class OlderPack(BadPack):
    """A label pack in a format that is read no more."""

    def __init__(self, where: str, found: int, known: int) -> None:
        super().__init__(
            f"{where} is a label pack of format {found}, and this version reads format {known}: "
            "build it anew from its sources with `reusewatch labels build`, and push that"
        )
        self.found = found
        self.known = known


class BadState(DetectorError, ValueError):
    """Saved arrays that do not hold together."""


class SchemeMismatch(DetectorError):
    """State or labels hashed under another scheme."""

    def __init__(self, what: str, found: str, wanted: str) -> None:
        super().__init__(
            f"{what} was made with hash scheme {found}, this process uses {wanted}: "
            "use the same hash_key, or begin anew beside it (another --bus or --state directory, "
            "another --topic-prefix); after an upgrade that changed the scheme, `reusewatch labels "
            "migrate` builds label packs again from their sources"
        )
        self.found = found
        self.wanted = wanted
