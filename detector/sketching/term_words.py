"""Words for the hashes of terms: a page is scanned once more, by itself, when somebody asks.

A term's hash is that of its word under the scheme; it does not lead back, but a page that has the
term does.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.scanning.decoding import decode
from reusewatch.detector.scanning.readable import Readable
from reusewatch.detector.scanning.scan import Scan, scan
from reusewatch.detector.sketching.fingerprint import Document


def scan_of(document: Document, scheme: HashScheme) -> Scan:
    """One page scanned by itself; its words are in the scan's offsets."""
    return scan(
        decode(document.body, document.charset).utf8,
        key=scheme.key,
        host=document.host,
        site=document.site,
        url=document.url,
        html=document.html,
    )


def words_of(document: Document, scheme: HashScheme, wanted: Collection[int]) -> dict[int, str]:
    """The words of those wanted terms that a page has."""
    scanned = scan_of(document, scheme)
    return words_in(scanned, Readable(scanned), wanted)


def words_in(scanned: Scan, readable: Readable, wanted: Collection[int]) -> dict[int, str]:
    """The words of those wanted terms that a scanned page has. Makes no other strings."""
    found, first = np.unique(scanned.hashes, return_index=True)
    chosen = np.isin(found, np.array(list(wanted), np.uint64))
    pairs = zip(found[chosen].tolist(), first[chosen].tolist(), strict=True)
    return {term: readable.word(index) for term, index in pairs}
