"""Two aligned pages as they are drawn side by side: copied passages numbered, the rest shortened.

Passages have their numbers by what they say, 1 the most telling; parts stand in the order of each
page. Only what is drawn is made into strings, and of a page of very many runs the first parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reusewatch.detector.fields import Field

if TYPE_CHECKING:
    from reusewatch.detector.evidence.pages import PageWords
    from reusewatch.detector.evidence.pairs import Pair

MOST_PARTS = 400
"""Parts of a page that are drawn; of the rest it is said how many words it has."""
_TITLE = int(Field.TITLE)


@dataclass(frozen=True, slots=True)
class Lengths:
    """Words of a part that are shown at its begin and at its end; what is between is counted."""

    copied: int
    own: int


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a page. `number` is that of its passage; `own` are words the other has not there.

    `left_out` words are not shown, between `text` and `end`.
    """

    number: int | None
    own: bool
    text: str
    end: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class _Run:
    """Words of one page, up to `stop`, that are in the passage of this number."""

    start: int
    stop: int
    number: int
    passage: int


def sides_of(pair: Pair, lengths: Lengths) -> tuple[list[Part], list[Part]]:
    """The parts of both pages."""
    ours = _runs_of(pair, here=True)
    theirs = sorted(_runs_of(pair, here=False), key=lambda run: (run.start, -run.stop))
    return (
        list(_parts(pair.here, ours, lengths)),
        list(_parts(pair.there, theirs, lengths)),
    )


def _runs_of(pair: Pair, *, here: bool) -> list[_Run]:
    numbers = {int(passage): number for number, passage in enumerate(pair.passages.ranked, 1)}
    starts = (pair.runs.here if here else pair.runs.there)[:MOST_PARTS].tolist()
    lengths, first = pair.runs.length.tolist(), pair.passages.first.tolist()
    found, passage = [], 0
    for run, start in enumerate(starts):
        passage += run >= first[passage + 1]
        found.append(_Run(start, start + lengths[run], numbers[passage], passage))
    return found


def _parts(page: PageWords, runs: list[_Run], lengths: Lengths) -> Iterator[Part]:
    words = _Words(page)
    at, before = 0, None
    for run in runs:
        # The donor's words may stand in two passages of the subject: they are drawn once.
        start = max(at, run.start)
        if start >= run.stop:
            continue
        if start > at:
            within = before is not None and before.passage == run.passage
            yield words.part(at, start, run.number if within else None, lengths.own, own=True)
        yield words.part(start, run.stop, run.number, lengths.copied, own=False)
        at, before = run.stop, run
    if at < len(page):
        yield words.part(at, len(page), None, lengths.own, own=True)


class _Words:
    """The text of runs of a page's words."""

    def __init__(self, page: PageWords) -> None:
        from reusewatch.detector.scanning.readable import Readable

        self._scan = page.scanned
        self._readable = Readable(page.scanned)
        self._titled = int((page.scanned.fields[: len(page)] == _TITLE).sum())

    def part(self, start: int, stop: int, number: int | None, most: int, *, own: bool) -> Part:
        if stop - start <= 2 * most:
            return Part(number, own, self._text(start, stop))
        text, end = self._text(start, start + most), self._text(stop - most, stop)
        return Part(number, own, text, end, stop - start - 2 * most)

    def _text(self, start: int, stop: int) -> str:
        """The title is a text of its own, wherever it stands in the page."""
        spans = [(start, min(stop, self._titled)), (max(start, self._titled), stop)]
        return "\n".join(
            self._readable.text_of(int(self._scan.starts[one]), int(self._scan.ends[end - 1]))
            for one, end in spans
            if one < end
        )
