"""Containers: the ways in which a list of records is packed into an archive."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable, Iterable
from functools import cache

import zstandard

from tests.crawler.archives.records import response, url


def plain(records: Iterable[bytes]) -> bytes:
    return b"".join(records)


def member_each(records: Iterable[bytes]) -> bytes:
    return b"".join(gzip.compress(data, mtime=0) for data in records)


def one_member(records: Iterable[bytes]) -> bytes:
    return gzip.compress(b"".join(records), mtime=0)


def members_anywhere(records: Iterable[bytes]) -> bytes:
    """Members that end in the middle of records."""
    data = b"".join(records)
    return b"".join(gzip.compress(data[at : at + 777], mtime=0) for at in range(0, len(data), 777))


def two_to_a_member(records: Iterable[bytes]) -> bytes:
    """The first record alone, then two records to a member."""
    first, *rest = records
    pairs = [b"".join(rest[at : at + 2]) for at in range(0, len(rest), 2)]
    return member_each([first, *pairs])


def frame_each(records: Iterable[bytes]) -> bytes:
    return b"".join(zstandard.compress(data) for data in records)


def one_frame(records: Iterable[bytes]) -> bytes:
    return zstandard.compress(b"".join(records))


@cache
def dictionary() -> zstandard.ZstdCompressionDict:
    samples = [response(url(number)) * 3 for number in range(64)]
    return zstandard.train_dictionary(2048, samples)


def with_dictionary(records: Iterable[bytes], packed: bool = False) -> bytes:
    words = dictionary()
    content = zstandard.compress(words.as_bytes()) if packed else words.as_bytes()
    frame = b"\x5d\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content
    packer = zstandard.ZstdCompressor(dict_data=words, write_checksum=True)
    return frame + b"".join(packer.compress(data) for data in records)


def with_packed_dictionary(records: Iterable[bytes]) -> bytes:
    return with_dictionary(records, packed=True)


def wacz(data: bytes, stored: bool = True, name: str = "archive/data.warc.gz") -> bytes:
    out = io.BytesIO()
    how = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(out, "w", how) as package:
        package.writestr("datapackage.json", "{}")
        package.writestr(name, data)
        package.writestr("pages/pages.jsonl", "{}\n")
    return out.getvalue()


CONTAINERS: dict[str, Callable[[Iterable[bytes]], bytes]] = {
    "warc": plain,
    "warc.gz": member_each,
    "warc.gz of one member": one_member,
    "warc.gz of members anywhere": members_anywhere,
    "warc.gz of two to a member": two_to_a_member,
    "warc.zst": frame_each,
    "warc.zst of one frame": one_frame,
    "warc.zst with dictionary": with_dictionary,
    "warc.zst with packed dictionary": with_packed_dictionary,
}
