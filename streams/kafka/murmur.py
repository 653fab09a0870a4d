"""MurmurHash2 of a key, four bytes at a time: the partition where every Kafka client puts it.

kafka-python's own goes byte by byte, and takes a seventh of what it costs to send a verdict.
"""

from __future__ import annotations

from struct import unpack_from

_SEED, _M, _R = 0x9747B28C, 0x5BD1E995, 24
_BITS = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """The hash, of 32 bits.

    >>> murmur2(b"example.org") & 0x7FFFFFFF
    1761976737
    """
    size = len(data)
    whole = size >> 2
    found = _SEED ^ size
    for word in unpack_from(f"<{whole}I", data):
        mixed = word * _M & _BITS
        found = (found * _M & _BITS) ^ ((mixed ^ mixed >> _R) * _M & _BITS)
    if size & 3:
        found = (found ^ int.from_bytes(data[whole << 2 :], "little")) * _M & _BITS
    found = (found ^ found >> 13) * _M & _BITS
    return found ^ found >> 15
