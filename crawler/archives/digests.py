"""Whether what is stored fits the digests that its record names.

The block digest covers the record's block, the payload digest the body of the HTTP message in
it. Writers disagree on which body: as it came, without its chunks, or without its content
encoding. So a record is sound if any digest fits any of these, and damaged if it names digests
that are known and none fits. In particular a wrong payload digest beside a right block digest
is accepted: the bytes are those that were written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import partial
from typing import Literal, NamedTuple

_ALGORITHMS = {
    "sha1": ("sha1", 20),
    "sha-1": ("sha1", 20),
    "sha256": ("sha256", 32),
    "sha-256": ("sha256", 32),
    "sha512": ("sha512", 64),
    "md5": ("md5", 16),
}
# By its name each would be looked up for each record.
_HASH = {
    name: partial(getattr(hashlib, name), usedforsecurity=False)
    for name in {name for name, _ in _ALGORITHMS.values()}
}
# RFC 4648's alphabet, in either case, to int()'s; what is in neither becomes no digit.
_LETTERS, _NUMBERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", b"0123456789ABCDEFGHIJKLMNOPQRSTUV"
_KNOWN = bytes.maketrans(_LETTERS + _LETTERS.lower(), _NUMBERS * 2)
_BASE32 = bytes(_KNOWN[at] if at in _LETTERS + _LETTERS.lower() else 0x21 for at in range(256))
_SHA1 = _HASH["sha1"]
_PLAIN, _PLAIN_SIZE = b"sha1:", 37
Answer = Literal["right", "wrong", "unknown"]


class Digest(NamedTuple):
    """A digest as a record names it, of an algorithm that is known."""

    algorithm: str
    value: bytes

    def fits(self, data: bytes | memoryview) -> bool:
        """Whether this is the digest of these bytes."""
        return bool(_HASH[self.algorithm](data).digest() == self.value)


def is_right(label: bytes, data: bytes | memoryview) -> bool:
    """Whether a field of ASCII names a digest that is known, and that is the one of these bytes.

    >>> is_right(b"sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", b""), is_right(b"md5:", b"")
    (True, False)
    """
    if len(label) == _PLAIN_SIZE and label.startswith(_PLAIN):
        # Nearly all are written so: 32 letters of five bits are the 160 of the digest.
        try:
            said = int(label[len(_PLAIN) :].translate(_BASE32), 32)
        except ValueError:
            return False
        return int.from_bytes(_SHA1(data).digest(), "big") == said
    digest = digest_of(label.decode("ascii"))
    return digest is not None and digest.fits(data)


def digest_of(label: str) -> Digest | None:
    """The digest that a field names; None for an algorithm or a notation that is not known.

    >>> digest_of("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ").value == hashlib.sha1(b"").digest()
    True
    >>> digest_of("blake3:00") is None
    True
    """
    name, _, text = label.partition(":")
    # Nearly all write it so.
    known = _ALGORITHMS.get(name) or _ALGORITHMS.get(name.strip().lower())
    if known is None:
        return None
    algorithm, size = known
    value = _value_of(text.strip(), size)
    return Digest(algorithm, value) if value is not None else None


def _value_of(text: str, size: int) -> bytes | None:
    """Hexadecimal or Base32 with or without padding, told apart by the length."""
    text = text.rstrip("=")
    try:
        if len(text) == 2 * size:
            return bytes.fromhex(text)
        # base64.b32decode takes as long as the digest itself; int() reads 32 digits in C.
        spare = 5 * len(text) - 8 * size
        value = int(text.encode().translate(_BASE32), 32) if 0 <= spare < 5 else -1
        return (value >> spare).to_bytes(size, "big")
    except (ValueError, OverflowError):
        return None


def check(
    block_label: str | None,
    payload_label: str | None,
    block: bytes,
    payloads: Iterable[Callable[[], bytes | None]],
) -> Answer:
    """Whether a record's digests fit. Payloads are made only if the block does not decide."""
    known = False
    if block_label and (digest := digest_of(block_label)):
        known = True
        if digest.fits(block):
            return "right"
    if payload_label and (digest := digest_of(payload_label)):
        known = True
        for make in payloads:
            payload = make()
            if payload is not None and digest.fits(payload):
                return "right"
    return "wrong" if known else "unknown"
