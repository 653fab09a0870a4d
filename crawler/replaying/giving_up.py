"""When an archive is left: past a share of damaged records the rest is not worth its dead letters.

Nine megabytes can be damaged in 300 000 places. Counted per archive and as stages count poison
(`dead_letter_limit`): the share of damage among the last thousand records, and a hundred at least.
What was left is a dead letter of its own; the archives that follow are read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from reusewatch.crawler.pages.archive_events import Found
from reusewatch.streams.records import DeadLetter

RECENT = 1000
LEAST = 100


def until_given_up(events: Iterable[Found], limit: float) -> Iterator[Found]:
    """The events of one archive, the last one `given-up` where too many are damage."""
    # The numbers of the damaged ones among the last records: of a sound archive there are none.
    damaged: deque[int] = deque()
    for number, found in enumerate(events, 1):
        yield found
        if found.damage is None:
            continue
        damaged.append(number)
        while damaged[0] <= number - RECENT:
            damaged.popleft()
        recent = min(number, RECENT)
        if len(damaged) >= LEAST and len(damaged) > limit * recent:
            yield _given_up(found, len(damaged), recent, limit)
            return


def _given_up(found: Found, damaged: int, records: int, limit: float) -> Found:
    detail = (
        f"{damaged} of the last {records} records are damaged (the limit is {limit:.0%}): the rest "
        "of the archive was left; mend it, or raise --dead-letter-limit, and replay it again"
    )
    assert found.damage is not None  # noqa: S101 - it is the damage after which nothing is read
    at = found.next_offset
    letter = DeadLetter(
        reason="given-up", source=found.source, offset=at, url=None, detail=detail,
        at=found.damage.at,
    )  # fmt: skip
    return Found(None, None, letter, found.source, at, at, found.position, doubt=found.doubt)
