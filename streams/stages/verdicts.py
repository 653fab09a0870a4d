"""The verdict of a page of which nothing was found, as the bytes that its record would be encoded
to. Most pages of a crawl are such, and to make the record costs two to three times as much.

What does not change from page to page stands in a template, which is made from the record itself:
its fields, their order, their defaults. Of which something was found is told by `reports.verdict`.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from reusewatch.detector.hashing import HashScheme, hex_of
from reusewatch.streams.blocks.subject import Subject
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.records import DETECTOR, Exact, Verdict
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


class PlainVerdicts:
    """Makes verdicts of pages without any finding."""

    def __init__(self, scheme: HashScheme) -> None:
        self._template = _template(scheme)

    def of(self, subject: Subject, labeled: Labeled, popular: int | None) -> Outgoing:
        """That of one page."""
        key, grams, hides = hex_of(subject.page), labeled.grams, subject.obfuscated
        value = self._template % (
            key.encode(), _encoded(subject.url), _name(subject.site), _time(subject.fetched_us),
            _encoded(labeled.contains), b"null" if grams is None else _encoded(round(grams, 4)),
            _encoded(labeled.labels), b"null" if popular is None else b"%d" % popular,
            _TRUTH[subject.truncated], _TRUTH[subject.salvaged],
            _encoded(round(hides, 4)) if hides else b"0.0", _encoded(subject.came_from),
            _name(labeled.labels_version),
        )  # fmt: skip
        return verdict_bytes(key, value)


_TRUTH = {False: b"false", True: b"true"}


@lru_cache(_NAMES)
def _name(name: str | None) -> bytes:
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
