"""What evidence costs: a replay with it over one without, where 6 % of the pages are near-copies.

Pages of about 15 kB: documents, and such as begin like one and end like another. A copy stands on
another site, with a few words changed, more than a thousand pages after its original: this is read
from the archive again, and aligned with it.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from reusewatch.streams import topics
from reusewatch.streams.local import LocalBus
from reusewatch.streams.records import Alert
from reusewatch.streams.wire import read_json
from tests.benchmarks import dataset
from tests.benchmarks.clock import cpu, in_turns, ratio, spread
from tests.benchmarks.corpus import Response, write
from tests.benchmarks.documents import Document
from tests.benchmarks.path import replay
from tests.benchmarks.rows import Bench, Family, Row

NAME = "replay_with_evidence_over_without"
_LEAST, _MOST = 6_000, 30_000
# One page in sixteen is a copy.
_EVERY = 15
_LATER = 1500
# So many pages are made of a document.
_TIMES = 3
_SITES = 24
_CHANGED = 3


def pages_of(found: Sequence[Document]) -> Iterator[Response]:
    """The documents that are neither short nor long, and near-copies of some."""
    of_size = [one for one in found if _LEAST <= len(one.html) <= _MOST] or found
    mixed = [one for shift in range(_TIMES) for one in _mixed(of_size, shift)]
    waiting: list[tuple[int, Response]] = []
    for number, document in enumerate(mixed):
        place = f"{document.package}/{document.path}"
        yield Response(f"https://www.site-{number % _SITES:02d}.example/{place}", document.html)
        if number % _EVERY == 0:
            url = f"https://www.mirror-{number % _SITES:02d}.example/{place}"
            waiting.append((number, Response(url, changed(document.html), True)))
        if waiting and waiting[0][0] + _LATER <= number:
            yield waiting.pop(0)[1]
    yield from (page for _, page in waiting)


def _mixed(found: Sequence[Document], shift: int) -> Iterator[Document]:
    """Each document with the end of the one that is so far behind it."""
    for number, one in enumerate(found):
        other = found[(number + 7 * shift) % len(found)]
        html = one.html[: len(one.html) // 2] + other.html[len(other.html) // 2 :]
        yield Document(one.package, f"{shift}/{one.path}", html)


def changed(html: bytes) -> bytes:
    """The page with a few words changed, from its midst on."""
    middle = len(html) // 2
    return html[:middle] + html[middle:].replace(b" the ", b" another ", _CHANGED)


def _measure(bench: Bench, names: Sequence[str]) -> list[Row]:
    pages = list(pages_of(bench.documents))
    size = sum(len(page.body) for page in pages)
    with tempfile.TemporaryDirectory(dir=bench.directory) as temporary:
        archive, bus = Path(temporary) / "pages.warc.gz", Path(temporary) / "bus"
        write(pages, archive)
        pack = dataset.build(bench, Path(temporary) / "labels.pack")
        replay(archive, bus, pack)
        missing = missing_of(bus)
        times = in_turns(
            {
                "with": lambda: replay(archive, bus, pack),
                "without": lambda: replay(archive, bus, pack, evidence_pairs=0),
            },
            bench.scale.rounds,
        )
    alerts = missing.total()
    more = cpu(times["with"]) - cpu(times["without"])
    return [
        Row(NAME, ratio(times["with"], times["without"]), "×",
            {"measures": "replay in local mode, CPU, with evidence / with evidence_pairs = 0",
             "pages": len(pages), "bytes_per_page": size / len(pages),
             "near_duplicate_alerts": alerts,
             "of_pages": alerts / len(pages),
             "evidence_missing": {str(reason): count for reason, count in missing.items()},
             "us_per_page_without": cpu(times["without"]) / len(pages) * 1e6,
             "us_per_alert": more / max(1, alerts) * 1e6,
             "least_most_with": spread(times["with"]),
             "least_most_without": spread(times["without"])}),
    ]  # fmt: skip


def missing_of(bus: Path) -> Counter[str | None]:
    """The near-duplicate alerts on a bus by why they have no evidence."""
    found = {}
    for message in LocalBus(bus).read(topics.ALERTS):
        if message.value is not None:
            alert = read_json(message, Alert)
            if alert.kind == "near-duplicate":
                found[alert.id] = alert.evidence_missing
    return Counter(found.values())


FAMILY = Family((NAME,), _measure)
