"""What is said of a damaged zstd frame hangs on that frame alone."""

from __future__ import annotations

import zstandard

from reusewatch.crawler.compression import frames
from reusewatch.crawler.compression.views import InMemory

WORDS = b"".join(b"some words %d of many " % (number * number) for number in range(300))
SOUND = zstandard.ZstdCompressor(level=3, write_checksum=True).compress(WORDS)


def damaged(*changed: tuple[int, int]) -> bytes:
    frame = bytearray(SOUND)
    for at, value in changed:
        frame[at] = value
    return bytes(frame)


def told(decoder: zstandard.ZstdDecompressor, frame: bytes) -> str:
    try:
        found = b"".join(data for data, _ in frames.frame_pieces(InMemory(frame), 0, decoder))
    except frames.NotAFrame as error:
        return str(error)
    return f"{len(found)} bytes"


def test_a_decoder_that_met_damage_says_of_the_next_frame_what_a_new_one_says() -> None:
    first, second = damaged((272, 35), (347, 190)), damaged((5, 44), (224, 155), (336, 68))
    used = frames.decoder_with()
    assert told(used, first) == told(used, second) == told(frames.decoder_with(), second)
    assert told(used, second) == "the frame at byte 0 cannot be decompressed"
    assert told(used, SOUND) == f"{len(WORDS)} bytes"
