"""Who has it from whom: a finding with its reason, never an assumption.

Who was seen first is not who wrote: in a crawl a small mirror is often fetched before the site that
it mirrors. So being seen first says something only from a gap of a day or so on. A page that is
owned is the original, whenever it was seen.

A page may also say itself, by `rel=canonical` or by a link beside what it copies, that the other
one is its source. What a page claims of itself frees, and never accuses another: a copy that names
its source hides nothing, and a donor that names the subject is no original. That it names itself is
no reason for anything, and where each of the two names the other neither is believed. A link is
asked for of the subject only: on a page that allows comments anybody may link to his copy of it,
and would then pass for the original.

A host is more to lose than a page: a mirror that is crawled days before its original would remove
the original from a crawl. So of a host, being seen later is information only. It is known to be a
copy where its pages are copies of owned ones, or where they name their sources by `rel=canonical`.

Never decides which page is the subject: that is the one fetched later, or the one that is not
owned, whatever is known of the direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reusewatch.streams.records import Direction

if TYPE_CHECKING:
    from reusewatch.detector.neighborhoods.mirrors import Known
    from reusewatch.detector.window.sightings import Seen

DAY_US = 86_400_000_000
SECOND_US = 1_000_000
# Of labeled content whose home is known: it is from there, wherever it was seen first.
AT_HOME = Direction(original="there", by="owned")


def names(page: int, named: int | None, donor: Seen) -> bool:
    """Whether a page names this donor as its source, and is not named by it."""
    return named == donor.page != page and donor.canonical != page


def direction_of(
    page: int,
    named: int | None,
    donor: Seen,
    since_us: int | None,
    precedence_us: int,
    *,
    linked: bool = False,
) -> Direction:
    """Which of two pages is the original: the donor (`there`), the page (`here`), or unknown.

    `named` is the page that the subject names as its source; `since_us` is since when the subject
    counts as seen, None where it has no date; `linked`, whether it links to the donor beside what
    it has from there.
    """
    gap = None if since_us is None else since_us - donor.since
    seconds = None if gap is None else gap // SECOND_US
    if donor.owned:
        return Direction(original="there", by="owned", gap_seconds=seconds)
    if names(page, named, donor):
        return Direction(original="there", by="declared", gap_seconds=seconds)
    if donor.canonical == page != donor.page and named != donor.page:
        return Direction(original="here", by="declared", gap_seconds=seconds)
    if linked:
        return Direction(original="there", by="declared", gap_seconds=seconds)
    if gap is not None and gap >= precedence_us:
        return Direction(original="there", by="first-seen", gap_seconds=seconds)
    return Direction(original="unknown", gap_seconds=seconds)


def accuses(direction: Direction) -> bool:
    """Whether the subject is the copy by something else than what pages say of themselves."""
    return direction.original == "there" and direction.by in ("owned", "first-seen")


def is_proven(by: Known | None) -> bool:
    """Whether this says enough of a host to keep a crawl out of it.

    >>> is_proven("owned"), is_proven("declared"), is_proven("first-seen")
    (True, True, False)
    """
    return by in ("owned", "declared")
