"""Raw chunks: the bytes between paragraph tags (Ardi, Heidemann 2014, §3.1 step 2).

A chunk's hash is that of these bytes as they were fetched, so that everybody who has the page can
check it. Markup, case and charset matter, as in the paper; whether a tag stands in a comment or a
script does not. Linear in the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged, page_offsets
from reusewatch.detector.scanning.decoding import Decoded, decode
from reusewatch.detector.sketching.chunks import Chunks

MOST = 200_000
_PARAGRAPH_TAG = re.compile(rb"<(/?)p(?=[\s/>])", re.IGNORECASE)
_Span = tuple[int, int]


def raw_chunks(data: bytes, scheme: HashScheme, charset: str = "utf-8") -> Chunks:
    """The chunks of one page."""
    return raw_chunks_of([decode(data, charset)], scheme)[0]


def raw_chunks_of(
    pages: Sequence[Decoded], scheme: HashScheme, *, most: int = MOST
) -> tuple[Chunks, list[bool]]:
    """The chunks of bodies, and of each page whether there were more than `most`.

    The last chunk takes all that follows. An empty paragraph is a chunk, the most common one of the
    web (§6.2). White space that belongs to no paragraph, as between `</p>` and the next `<p>`, is
    none.
    """
    found = [_spans(page, most) for page in pages]
    hashes, lengths, spans = [], [], []
    for page, (own, _) in zip(pages, found, strict=True):
        body = memoryview(page.body)
        hashes += [scheme.of_bytes(body[start:end]) for start, end in own]
        lengths += [_characters(page, start, end) for start, end in own]
        spans += own
    bounds = np.array(spans, np.uint32).reshape(-1, 2)
    offsets = page_offsets(len(own) for own, _ in found)
    column = Ragged(np.array(hashes, np.uint64), offsets)
    starts, ends = bounds[:, 0].copy(), bounds[:, 1].copy()
    chunks = Chunks(column, np.array(lengths, np.uint32), starts, ends, "raw")
    return chunks, [cut for _, cut in found]


def _spans(page: Decoded, most: int) -> tuple[list[_Span], bool]:
    """Spans of the page's body, and whether there were more."""
    data = page.body if page.contains_ascii else page.utf8
    spans = list(islice(_paragraphs(data), most + 1))
    cut = len(spans) > most
    if cut:
        spans[most - 1 :] = [(spans[most - 1][0], len(data))]
    if data is page.body or not spans:
        return spans, cut
    at = page.body_offsets(np.array(spans, np.int64).reshape(-1)).tolist()
    return list(zip(at[::2], at[1::2], strict=True)), cut


def _paragraphs(data: bytes) -> Iterator[_Span]:
    for start, end, opened in _between_tags(data):
        if opened or data[start:end].strip():
            yield start, end


def _between_tags(data: bytes) -> Iterator[tuple[int, int, bool]]:
    """Start and end of each part, and whether a `<p>` opened it."""
    start, opened = 0, False
    for tag in _PARAGRAPH_TAG.finditer(data):
        if tag.start() < start:  # inside the tag before it: <p title="<p >">
            continue
        close = data.find(b">", tag.end())
        if close < 0:  # not a tag, nor is any later one; going on would be quadratic
            break
        yield start, tag.start(), opened
        start, opened = close + 1, not tag[1]
    yield start, len(data), opened


def _characters(page: Decoded, start: int, end: int) -> int:
    """Code points; of what is no text in the page's charset as many as a browser shows."""
    return len(page.body[start:end].decode(page.charset, "replace"))
