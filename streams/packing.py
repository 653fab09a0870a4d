"""Bodies of pages on their way to a broker: LZ4 frames, each of one body.

Compressed by the client alone, in batches, a body would be copied five times before, and each time
with Python's lock held: the crawl beside it waits. Compressed first, and without that lock, only a
third of its bytes goes that way. The client is told not to try it again (`open_bus`), which spares
the broker's looking into it too. Nothing unpacks to more than a message may have as it is.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from reusewatch.streams import topics

if TYPE_CHECKING:
    from lz4.frame import LZ4FrameDecompressor

# Below, a frame saves nothing.
LEAST_PACKED = 512
MOST_PACKED = topics.TOPICS[topics.PAGES].message_bytes
_mine = threading.local()


def packed(body: bytes) -> bytes:
    """A body as an LZ4 frame."""
    import lz4.frame

    frame: bytes = lz4.frame.compress(body)
    return frame


def _reader() -> LZ4FrameDecompressor:
    """This thread's: a new one takes a quarter of a megabyte, and gives it back, for each body."""
    kept: LZ4FrameDecompressor | None = getattr(_mine, "reader", None)
    if kept is None:
        from lz4.frame import LZ4FrameDecompressor

        kept = _mine.reader = LZ4FrameDecompressor()
    kept.reset()
    return kept


def unpacked(frame: bytes) -> bytes:
    """The body in an LZ4 frame. Raises ValueError for what is none, or too large."""
    import lz4.frame

    try:
        said = lz4.frame.get_frame_info(frame)["content_size"]
        # What a frame says of itself holds for what it is given: it cannot unpack to more.
        most = said if 0 < said <= MOST_PACKED else MOST_PACKED
        reader = _reader()
        body: bytes = reader.decompress(frame, max_length=most)
    except RuntimeError as error:
        raise ValueError(f"its body is no LZ4 frame: {error}") from error
    if not reader.eof or reader.unused_data:
        raise ValueError(f"its body is no whole LZ4 frame of at most {MOST_PACKED} bytes")
    return body
