"""A page in, what the scan says about it out, as plain values."""

from __future__ import annotations

from reusewatch.detector.fields import ALONE, Field
from reusewatch.detector.hashing import PUBLIC_KEY
from reusewatch.detector.scanning.mixing import word_hash
from reusewatch.detector.scanning.readable import Readable, folded
from reusewatch.detector.scanning.scan import Scan, scan
from tests.detector.scanning.make_unicode_tables import kind_of


def scanned(page: str | bytes, *, html: bool = True, url: str = "") -> Scan:
    """The scan of a page of host www.alpha.test, site alpha.test."""
    utf8 = page.encode("utf-8", "surrogatepass") if isinstance(page, str) else page
    return scan(utf8, key=PUBLIC_KEY, host="www.alpha.test", site="alpha.test", url=url, html=html)


def words(page: str | bytes, *, html: bool = True) -> list[str]:
    """The words of title and text as they are shown; of all it is checked that they were hashed."""
    return _words(page, html=html)[0]


def hashed(page: str | bytes, *, html: bool = True) -> list[str]:
    """The words of title and text as they are hashed."""
    return _words(page, html=html)[1]


def _words(page: str | bytes, *, html: bool) -> tuple[list[str], list[str]]:
    result = scanned(page, html=html)
    found, images = Readable(result).words(), set(result.images.tolist())
    as_hashed = [word if at in images else folded(word) for at, word in enumerate(found)]
    hashes = [word_hash(word.encode("utf-8", "surrogatepass"), PUBLIC_KEY) for word in as_hashed]
    assert hashes == result.hashes.tolist(), found
    for at, (word, length) in enumerate(zip(as_hashed, result.lengths.tolist(), strict=True)):
        # A syllable of Hangul is one character, and hashed as its letters.
        if not any("\u1100" <= character < "\u1200" for character in word):
            alone = ALONE * (at not in images and kind_of(word[0]) == "single")
            assert length == len(word) + alone, word
    return found[: result.text_tokens], as_hashed[: result.text_tokens]


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
