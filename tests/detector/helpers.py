"""A page in, what the scan says about it out, as plain values."""

from __future__ import annotations

from reusewatch.detector.fields import ALONE, Field
from reusewatch.detector.hashing import PUBLIC_KEY
from reusewatch.detector.scanning.mixing import word_hash
from reusewatch.detector.scanning.readable import Readable
from reusewatch.detector.scanning.scan import Scan, scan
from tests.detector.scanning.make_unicode_tables import kind_of


def scanned(page: str | bytes, *, html: bool = True, url: str = "") -> Scan:
    """The scan of a page of host www.alpha.test, site alpha.test."""
    utf8 = page.encode("utf-8", "surrogatepass") if isinstance(page, str) else page
    return scan(utf8, key=PUBLIC_KEY, host="www.alpha.test", site="alpha.test", url=url, html=html)


def words(page: str | bytes, *, html: bool = True) -> list[str]:
    """The words of title and text, which are checked to be what was hashed."""
    result = scanned(page, html=html)
    found = Readable(result).words()
    hashed = [word_hash(word.encode("utf-8", "surrogatepass"), PUBLIC_KEY) for word in found]
    assert hashed == result.hashes.tolist(), found
    images = set(result.images.tolist())
    lengths = [
        len(word) + ALONE * (at not in images and kind_of(word[0]) == "single")
        for at, word in enumerate(found)
    ]
    assert lengths == result.lengths.tolist(), found
    return found[: result.text_tokens]


def fields(page: str, url: str = "") -> list[tuple[str, str]]:
    """(word, field) of every token."""
    result = scanned(page, url=url)
    return [
        (word, Field(field).name)
        for word, field in zip(Readable(result).words(), result.fields.tolist(), strict=True)
    ]


def blocks(page: str, *, html: bool = True) -> list[list[str]]:
    """The words of each block."""
    result = scanned(page, html=html)
    found: list[list[str]] = [[] for _ in result.block_starts]
    for word, block in zip(Readable(result).words(), result.blocks.tolist(), strict=True):
        if block >= 0:
            found[block].append(word)
    return found
