"""The scan and its texts: offsets are in order, and words and links can be made of them again.

Kernels are machine code that the engine cannot see into; what guides it is the Python that makes
words and links of their offsets, which takes another branch wherever they did.
"""

from __future__ import annotations

from collections.abc import Iterator

from reusewatch.detector.fields import ALONE
from reusewatch.detector.hashing import PUBLIC_KEY
from reusewatch.detector.scanning.mixing import word_hash
from reusewatch.detector.scanning.readable import Readable, folded
from reusewatch.detector.scanning.scan import ScanLimits, scan
from tests.crawler.archives import zoo
from tests.detector.scanning.make_unicode_tables import kind_of
from tests.detector.scanning.test_hostile_pages import check


def seeds() -> Iterator[bytes]:
    """A page, read as each kind of text and with each limit."""
    page = zoo.html('words <a href="/a?b#c">of <b>a</b></a> <img src=x.png> &amp;c. \u4e00\u4e01')
    for how in range(4):
        yield bytes([how]) + page


def once(data: bytes) -> None:
    """A page and, by its first byte, how it is read."""
    how, page = data[:1] or b"\0", data[1:]
    result = scan(page, key=PUBLIC_KEY, host="a.b", site="b", html=bool(how[0] & 1))
    check(page, result)
    if how[0] & 2:
        scan(page, key=1, limits=ScanLimits(tokens=2, blocks=1, links=1, bytes=1 + how[0]))
    readable = Readable(result)
    words = readable.words()
    images = set(result.images.tolist())
    said = zip(words, result.hashes.tolist(), result.lengths.tolist(), strict=True)
    for index, (word, value, length) in enumerate(said):
        if index not in images:
            assert word_hash(folded(word).encode(), PUBLIC_KEY) == value, word
            assert (length & ALONE) == ALONE * (kind_of(word[0]) == "single"), word
    readable.links()
