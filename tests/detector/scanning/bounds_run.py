"""Run by test_hostile_pages under NUMBA_BOUNDSCHECK=1: an index out of bounds raises."""

from __future__ import annotations

import random
import sys

import numpy as np
from numba.core import config
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import kernel
from reusewatch.detector.scanning.readable import Readable
from reusewatch.detector.scanning.scan import ScanLimits, scan
from tests.detector.scanning.hostile_rows import ROWS, row
from tests.detector.scanning.test_hostile_pages import _FOREIGN, _PIECES, check

_PAGE = (
    "<!doctype html><title>T &amp; t</title><meta name=keywords content='a&eacute;'>"
    "<base href=//b/x/>"
    "<h1>H <a href='http://x.y/?a&amp;b'>l\u00e9</a></h1><p>a<b>b</b>c<!-- x --><br><br>\u6f22"
    "<script><!--<script>x</script>--></script><svg><![CDATA[d]]><style>x</svg>"
    "<svg><title>x<b>x</b></title><foreignObject><template><svg><script></template></svg>"
    "<img src='i&nGt;.png'><textarea>e"
    "&#128;</textarea><template>f</template><td>g&CounterClockwiseContourIntegral;<title>z</title>"
)


@kernel(allocates=False)
def _probe(values: NDArray[np.float64], at: int) -> float:
    return float(values[at])


def main() -> None:
    """Scan much, under limits of all sizes."""
    # Machine code on disk knows nothing of this setting: it takes a cache directory of its own.
    assert config.BOUNDSCHECK, "run with NUMBA_BOUNDSCHECK=1"
    try:
        _probe(np.zeros(1), 1)
    except IndexError:
        pass
    else:
        raise AssertionError("indexes are not checked")
    chance = random.Random(7)
    pages = [row(name, 3000) for name in ROWS]
    data = _PAGE.encode()
    pages += [data[:end] for end in range(len(data))]
    pages += [data[start:] for start in range(len(data))]
    pages += [
        "".join(chance.choices(_PIECES + _FOREIGN, k=chance.randint(1, 30))).encode()
        for _ in range(3000)
    ]
    pages += [chance.randbytes(chance.randint(0, 200)) for _ in range(500)]
    small = ScanLimits(tokens=3, blocks=2, links=1, bytes=100)
    for page in pages:
        check(page, scan(page, key=1, host="x", site="x", url="http://x/y"[: len(page)]))
        scan(page, key=1, limits=small)
        Readable(scan(page, key=1, host="b")).words()
    sys.stdout.write("in bounds\n")


if __name__ == "__main__":
    main()
