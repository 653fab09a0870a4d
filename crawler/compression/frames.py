"""Zstandard frames, walked block by block (RFC 8878, §3.1).

The decompressor neither bounds what a few bytes decompress to nor says where a frame ends or that
it was cut short. Handing it one block at a time gives all three.
"""

from __future__ import annotations

from collections.abc import Iterator

import zstandard

from reusewatch.crawler.compression.views import View

MAGIC = b"\x28\xb5\x2f\xfd"
# The frame that holds the dictionary of a .warc.zst (IIPC, WARC compression with Zstandard).
DICTIONARY_MAGIC = b"\x5d\x2a\x4d\x18"
MAX_WINDOW = 1 << 27
_DICTIONARY_ID = (0, 1, 2, 4)
_MAX_BLOCK = 128 << 10
_RAW, _RLE, _COMPRESSED = 0, 1, 2


class NotAFrame(ValueError):
    """Bytes that no frame has where they stand."""


class CutShort(EOFError):
    """The view ends inside a frame."""

    def __init__(self) -> None:
        super().__init__("it ends inside a zstd frame")


def is_skippable(magic: bytes) -> bool:
    """Whether a frame with this magic holds no data of the archive."""
    return len(magic) == 4 and magic[1:] == b"\x2a\x4d\x18" and magic[0] & 0xF0 == 0x50


def decoder_with(words: bytes | None = None) -> zstandard.ZstdDecompressor:
    """What undoes frames, with a dictionary unless it is broken. One serves many frames."""
    try:
        dictionary = zstandard.ZstdCompressionDict(words) if words else None
        # Without a bound on the window a few bytes make the decoder ask for gigabytes.
        return zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=MAX_WINDOW)
    except zstandard.ZstdError:
        # Frames that need the dictionary are found to be corrupt, each by itself.
        return zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW)


def frame_pieces(
    view: View, offset: int, decoder: zstandard.ZstdDecompressor
) -> Iterator[tuple[bytes, int]]:
    """What the frame at an offset decompresses to, each piece with where its block ends.

    A block decompresses to at most 128 KiB, so no piece is larger. Raises NotAFrame, CutShort.
    """
    magic = view.at(offset, 4)
    if is_skippable(magic):
        yield b"", _skipped(view, offset)
        return
    if magic != MAGIC:
        raise CutShort if MAGIC.startswith(magic) else NotAFrame(f"no frame at byte {offset}")
    try:
        undo = decoder.decompressobj()
        for start, end in _extents(view, offset):
            yield undo.decompress(view.at(start, end - start)), end
    except zstandard.ZstdError as error:
        # Not in the library's words: they hang on what the decoder undid before, and so would the
        # dead letter of the same damage, read from the start or from an offset.
        raise NotAFrame(f"the frame at byte {offset} cannot be decompressed") from error


def _skipped(view: View, offset: int) -> int:
    end = offset + 8 + int.from_bytes(view.at(offset + 4, 4), "little")
    if not view.at(end - 1, 1):
        raise CutShort
    return end


def _extents(view: View, offset: int) -> Iterator[tuple[int, int]]:
    """Start and end of the frame's head, of each block, of the checksum."""
    descriptor = view.at(offset + 4, 1)
    if not descriptor:
        raise CutShort
    at = offset + 5 + _header_size(descriptor[0])
    yield _whole(view, offset, at)
    last = False
    while not last:
        word = int.from_bytes(view.at(*_span(view, at, at + 3)), "little")
        last, kind, size = bool(word & 1), word >> 1 & 3, word >> 3
        if kind not in (_RAW, _RLE, _COMPRESSED) or size > _MAX_BLOCK:
            raise NotAFrame(f"no block at byte {at}")
        end = at + 3 + (1 if kind == _RLE else size)
        yield _whole(view, at, end)
        at = end
    if descriptor[0] & 4:
        yield _whole(view, at, at + 4)


def _header_size(descriptor: int) -> int:
    """Bytes of the head after its descriptor."""
    single = descriptor >> 5 & 1
    content_size = (1 if single else 0, 2, 4, 8)[descriptor >> 6]
    return (1 - single) + _DICTIONARY_ID[descriptor & 3] + content_size


def _whole(view: View, start: int, end: int) -> tuple[int, int]:
    if not view.at(end - 1, 1):
        raise CutShort
    return start, end


def _span(view: View, start: int, end: int) -> tuple[int, int]:
    _whole(view, start, end)
    return start, end - start
