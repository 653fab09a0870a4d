"""The verdicts of pages of which nothing was found, as the bytes of their records. Most pages of a
crawl are such, and to make and encode the records costs several times as much.

What does not change from page to page stands in a template, which is made from the record itself:
its fields, their order, their defaults. Of which something was found is told by `reports.verdict`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme, hexes_of
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.records import DETECTOR, Exact, Origin, Verdict
from reusewatch.streams.stages.labeled import Labeled
from reusewatch.streams.times import moment
from reusewatch.streams.wire import verdict_bytes

# Of a page's own, in the order of the record, in which `PlainVerdicts.of` gives them.
_OWN = (
    "id", "url", "site", "fetched_at", "contains", "labeled_grams", "labels", "popular_shingles",
    "truncated", "salvaged", "obfuscated", "origin", "labels_version",
)  # fmt: skip
_TIMES = 4096
_NAMES = 65_536
_encoded = msgspec.json.Encoder().encode


class PlainPages(NamedTuple):
    """Pages without any finding, a column for each thing that their verdicts say."""

    page: NDArray[np.uint64]
    url: Sequence[str]
    site: Sequence[str]
    fetched_us: Sequence[int]
    labeled: Sequence[Labeled]
    popular: Sequence[int | None]
    truncated: Sequence[bool]
    salvaged: Sequence[bool]
    obfuscated: Sequence[float]
    came_from: Sequence[Origin | None]


class PlainVerdicts:
    """Makes verdicts of pages without any finding."""

    def __init__(self, scheme: HashScheme) -> None:
        self._template = _template(scheme)

    def of(self, pages: PlainPages) -> list[Outgoing]:
        """Those of these pages, in their order."""
        keys, template = hexes_of(pages.page), self._template
        contains, grams, labels, versions = _labeled(pages.labeled)
        rows = zip(
            map(str.encode, keys), map(_encoded, pages.url), map(_name, pages.site),
            map(_time, pages.fetched_us), contains, grams, labels, map(_encoded, pages.popular),
            map(_TRUTH.__getitem__, pages.truncated), map(_TRUTH.__getitem__, pages.salvaged),
            [_encoded(round(hides, 4)) if hides else b"0.0" for hides in pages.obfuscated],
            map(_encoded, pages.came_from), versions, strict=True,
        )  # fmt: skip
        return list(map(verdict_bytes, keys, [template % row for row in rows]))


_TRUTH = {False: b"false", True: b"true"}


def _labeled(pages: Sequence[Labeled]) -> Iterable[Sequence[bytes]]:
    """What is said of labels, as columns. Of most pages it is one value, encoded once."""
    said = {which: _of_labels(one) for which, one in {id(one): one for one in pages}.items()}
    return zip(*[said[id(one)] for one in pages], strict=True) if pages else ((), (), (), ())


def _of_labels(one: Labeled) -> tuple[bytes, bytes, bytes, bytes]:
    grams = None if one.grams is None else round(one.grams, 4)
    said = one.contains, grams, one.labels, one.labels_version
    return tuple(map(_encoded, said))  # type: ignore[return-value]


@lru_cache(_NAMES)
def _name(name: str) -> bytes:
    return _encoded(name)


@lru_cache(_TIMES)
def _time(us: int) -> bytes:
    """A crawl fetches many pages in a second, and archives know no more than that of a time."""
    return _encoded(moment(us))


def _template(scheme: HashScheme) -> bytes:
    """The bytes of the record, with a place for each value of a page's own."""
    sample = Verdict(
        id="", url="", site="", fetched_at=moment(0), exact=Exact(), detector=DETECTOR,
        scheme=scheme.name,
    )  # fmt: skip
    rows = []
    for name in Verdict.__struct_fields__:
        said = _encoded(getattr(sample, name)).replace(b"%", b"%%")
        value = said if name not in _OWN else b'"%b"' if name == "id" else b"%b"
        rows.append(b'"%b":' % name.encode() + value)
    return b"{" + b",".join(rows) + b"}"
