"""Coverage-guided fuzzing of the scan and its texts, by hand:

    pip install atheris && python tests/fuzz/scan_fuzz.py -max_total_time=600

Kernels are machine code that atheris cannot see into; what guides it is the Python that makes words
and links of their offsets again, which takes another branch wherever they did.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import atheris  # type: ignore[import-not-found]

from reusewatch.detector.fields import ALONE
from reusewatch.detector.hashing import PUBLIC_KEY
from reusewatch.detector.scanning.mixing import word_hash
from reusewatch.detector.scanning.scan import ScanLimits, scan

# What is imported by now is not instrumented: numba could not compile it.
with atheris.instrument_imports(include=["reusewatch.detector.scanning.readable"]):
    from reusewatch.detector.scanning.readable import Readable, folded

from tests.detector.scanning.make_unicode_tables import kind_of
from tests.detector.scanning.test_hostile_pages import check


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


if __name__ == "__main__":
    atheris.Setup(sys.argv, atheris.instrument_func(once))
    atheris.Fuzz()
