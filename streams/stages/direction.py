"""Who has it from whom: a finding with its reason, never an assumption.

Who was seen first is not who wrote: in a crawl a small mirror is often fetched before the site that
it mirrors. So being seen first says something only from a gap of a day or so on. A page that is
owned is the original, whenever it was seen. Never decides which page is the subject: that is the
one fetched later, or the one that is not owned, whatever is known of the direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reusewatch.streams.records import Direction

if TYPE_CHECKING:
    from reusewatch.detector.window.sightings import Seen

DAY_US = 86_400_000_000
_SECOND_US = 1_000_000
# Of labeled content whose home is known: it is from there, wherever it was seen first.
AT_HOME = Direction(original="there", by="owned")


def direction_of(donor: Seen, since_us: int | None, precedence_us: int) -> Direction:
    """Which of two pages is the original: the donor (`there`), or unknown.

    `since_us` is since when the subject counts as seen; None where it has no date.
    """
    gap = None if since_us is None else since_us - donor.since
    seconds = None if gap is None else gap // _SECOND_US
    if donor.owned:
        return Direction(original="there", by="owned", gap_seconds=seconds)
    if gap is not None and gap >= precedence_us:
        return Direction(original="there", by="first-seen", gap_seconds=seconds)
    return Direction(original="unknown", gap_seconds=seconds)


def accuses(direction: Direction) -> bool:
    """Whether the subject is the copy by something else than what pages say of themselves."""
    return direction.original == "there" and direction.by in ("owned", "first-seen")
