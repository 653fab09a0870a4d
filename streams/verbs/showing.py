"""How findings look: short and folded at a terminal, complete and one a line for scripts."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from reusewatch.streams.alert_kinds import KINDS
from reusewatch.streams.console import (
    Cell,
    at_terminal,
    harmless,
    print_line,
    width,
)
from reusewatch.streams.records import (
    HIDES,
    Alert,
    Direction,
    Donor,
    Evidence,
    Verdict,
    Withdrawn,
    Within,
)
from reusewatch.streams.verbs.listing import Listing

# As many digits tell the alerts of a screen apart; `alerts show` takes any unique beginning.
ID_SHOWN = 8
_LABEL = 11
_ARROWS = {"there": "←", "here": "→", "unknown": "also at"}


def _subject_and_source(alert: Alert) -> Cell:
    pages = [short_url(alert.url or alert.prefix or "")]
    pages += [f"{arrow(alert.direction)} {short_url(donor.url)}" for donor in alert.donors[:1]]
    if alert.b is not None and alert.c is not None:
        pages.append(agreeing(alert.b, alert.c))
    return tuple(pages)


def _unless_withdrawn(cell: Callable[[Alert], Cell]) -> Callable[[Alert | Withdrawn], Cell]:
    """A cell of an alert; empty in the row that says that the alert was withdrawn."""
    return lambda one: None if isinstance(one, Withdrawn) else cell(one)


def _told_at(one: Alert | Withdrawn) -> str:
    at = one.withdrawn_at if isinstance(one, Withdrawn) else one.detected_at
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


_OTHER = "page, and below it its original (←), or where else it is"
ALERTS = Listing(
    (
        "id", "kind", ("severity", _unless_withdrawn(lambda x: x.severity)),
        ("subject", _unless_withdrawn(lambda x: x.url or x.prefix)),
        ("donor", _unless_withdrawn(lambda x: x.donors[0].url if x.donors else None)),
        ("figure", _unless_withdrawn(lambda x: f"{x.figure:g}")), ("detected_at", _told_at),
        "state", ("site", _unless_withdrawn(lambda x: x.site)),
        ("direction", _unless_withdrawn(lambda x: in_short(x.direction))),
    ),
    fold=(_OTHER,),
    people=(
        ("alert", lambda x: x.id[:ID_SHOWN]),
        ("found, UTC", lambda x: tuple(_time(x.detected_at).split())),
        ("kind", lambda x: (x.kind, "closed" if x.state == "closed" else x.severity)),
        (_OTHER, _subject_and_source),
    ),
)  # fmt: skip


def _finding(verdict: Verdict) -> str:
    found = {
        "same file": verdict.exact.file,
        "same words": verdict.exact.text,
        "near": verdict.near_duplicate,
        "quilt": verdict.quilt,
        "part": verdict.within,
        "labeled": verdict.labels,
    }
    return next((name for name, what in found.items() if what), "-")


def _of(verdict: Verdict) -> str | None:
    """The page that has its words too, or that it is near to, or has a part in common with."""
    near = verdict.near_duplicate or verdict.within
    return verdict.exact.file or verdict.exact.text or (near.url if near else None)


def _page_and_other(verdict: Verdict) -> Cell:
    of, near = _of(verdict), verdict.near_duplicate
    pages = [short_url(verdict.url), *([f"also at {short_url(of)}"] if of else [])]
    if near is not None and of == near.url:
        pages.append(agreeing(near.b, near.c))
    return tuple(pages)


def _labeled(verdict: Verdict) -> Cell:
    """The labels, and the larger share of the page that is labeled."""
    share = max(verdict.contains or 0.0, verdict.labeled_grams or 0.0)
    return (*verdict.labels, *([_percent(share)] if share else []))


_SEEN = "page, and below it one that was seen before"
VERDICTS = Listing(
    (
        "url", "fetched_at", ("finding", _finding), ("of", _of),
        ("labels", lambda x: ", ".join(x.labels)), "contains",
    ),
    fold=("labels", _SEEN),
    people=(
        ("fetched, UTC", lambda x: _time(x.fetched_at)),
        ("finding", _finding), ("labels", _labeled), (_SEEN, _page_and_other),
    ),
)  # fmt: skip
_LETTER = ("reason", "source", "offset", "url", "detail")
# A screen has no room for the time.
LETTERS = Listing((*_LETTER, "at"), fold=("source", "url", "detail"), people=_LETTER)


def print_alert(alert: Alert) -> None:
    """One alert with all that is known, as sentences."""
    about = KINDS[alert.kind]
    print_line(f"{alert.kind} {harmless(alert.id)} ({alert.severity}, {alert.state})")
    print_line(about.meaning)
    print_line()
    _print("page" if alert.url else "prefix", _subject(alert))
    for donor in alert.donors:
        _print(name_of_donors(alert.direction), _donor(donor, alert))
    if alert.direction is not None:
        _print("original", [told_direction(alert.direction, len(alert.donors))])
    if alert.sites:
        _print("sites", [", ".join(alert.sites)])
    for span in alert.evidence:
        _print("evidence", _span(span))
    _print_in_common(alert)
    if alert.b is not None and alert.c is not None:
        _print("agree", [agreeing(alert.b, alert.c)])
    if alert.differs is not None:
        _print("only here", [", ".join(alert.differs.only_here) or "-"])
        _print("only there", [", ".join(alert.differs.only_there) or "-"])
    if alert.labels:
        _print("labels", [", ".join(alert.labels)])
    counts = _counted(alert, about.counts)
    _print("figure", [f"{alert.figure:g} {counts}".rstrip() + f"; alert from {alert.threshold:g}"])
    by = f"by {alert.detector}, hash scheme {alert.scheme}"
    if alert.truncated:
        _print("truncated", ["the page has more than is read of one, or came cut"])
    if alert.obfuscated >= HIDES:
        share = f"{alert.obfuscated:.0%} of the words are disguised, or hidden in lines of text"
        _print("dodges", [share])
    _print("found", [f"{_time(alert.detected_at)} UTC {by}"])


def _counted(alert: Alert, counts: str) -> str:
    """What the figure counts, where the kind alone does not say it."""
    if alert.reused_by == "reuse":
        return f"of its pages are copies of others' ({alert.reused} of {alert.files})"
    if alert.figure_of == "grams":
        return "of its grams, runs of five words, stand on labeled pages"
    return counts


def _print_in_common(alert: Alert) -> None:
    if alert.mapping is not None:
        mapped = alert.mapping
        _print("paths", [f"{harmless(mapped.here)}… is {harmless(mapped.there)}…"])
    if alert.within is not None:
        _print("in common", list(_in_common(alert, alert.within)))


def in_short(direction: Direction | None) -> str:
    """Where the original is, and how that is known, in one cell.

    >>> in_short(Direction(original="there", by="first-seen")), in_short(None)
    ('there by first-seen', '')
    """
    if direction is None:
        return ""
    return direction.original if direction.by is None else f"{direction.original} by {direction.by}"


def arrow(direction: Direction | None) -> str:
    """What stands before the other page: that it is the original, the copy, or neither is known."""
    return "←" if direction is None else _ARROWS[direction.original]


def name_of_donors(direction: Direction | None) -> str:
    """What the other pages are called: sources only where something says that they are.

    >>> name_of_donors(Direction(original="there", by="owned"))
    'donor'
    >>> name_of_donors(Direction(original="unknown"))
    'also at'
    """
    return "donor" if direction is None or direction.original == "there" else "also at"


def told_direction(direction: Direction, others: int = 1) -> str:
    """Who has it from whom, as a sentence; of several other pages the first is meant.

    >>> told_direction(Direction(original="unknown", gap_seconds=245))
    'not known: the two were first seen 4 minutes apart'
    >>> told_direction(Direction(original="there", by="first-seen", gap_seconds=172_800))
    'the other page: it was first seen 2 days before'
    >>> told_direction(Direction(original="there", by="first-seen"))
    'the other page: it was first seen before'
    >>> told_direction(Direction(original="there", by="owned"), others=6)
    'the first of the other pages: its site is owned, or said to be at home there by a label'
    """
    gap = direction.gap_seconds
    if direction.original == "unknown":
        return "not known: " + (
            "when the page was fetched is not known" if gap is None
            else f"the two were first seen {_span_of_time(gap)} apart"
        )  # fmt: skip
    other = "the first of the other pages" if others > 1 else "the other page"
    page = other if direction.original == "there" else "this page"
    if direction.by == "owned":
        return f"{page}: its site is owned, or said to be at home there by a label"
    if direction.by == "declared":
        return f"{page}: the other of the two names it as its source"
    before = "before" if gap is None else f"{_span_of_time(gap)} before"
    return f"{page}: it was first seen {before}"


def _span_of_time(seconds: int) -> str:
    """
    >>> _span_of_time(59), _span_of_time(60), _span_of_time(-7200), _span_of_time(100_000)
    ('59 seconds', '1 minute', '2 hours', '1 day')
    """
    names = {86_400: "day", 3600: "hour", 60: "minute", 1: "second"}
    unit = next((size for size in names if abs(seconds) >= size), 1)
    count = abs(seconds) // unit
    return f"{count} {names[unit]}" + ("" if count == 1 else "s")


def in_common(alert: Alert, within: Within) -> str:
    """How much of each page the other has; which one that is, where there are several."""
    here, there = _percent(within.here), _percent(within.there)
    other = harmless(within.url) if len(alert.donors) > 1 else "the other page"
    return f"{here} of this page's words stand in {other}, {there} of that one's here"


def _in_common(alert: Alert, within: Within) -> Iterator[str]:
    """The same, and how that goes with the other shares of the alert."""
    yield in_common(alert, within)
    if KINDS[alert.kind].runs == "part":
        yield (
            "these are counted word by word in both pages; the other shares are estimates, of runs "
            "of five words without a template's, and one changed word takes five runs"
        )


def _subject(alert: Alert) -> Iterator[str]:
    yield alert.url or alert.prefix or ""
    address = f", from {alert.ip}" if alert.ip else ""
    yield f"site {alert.site}, fetched {_time(alert.fetched_at)} UTC{address}"


def _donor(donor: Donor, alert: Alert) -> Iterator[str]:
    yield donor.url
    # How near two pages are, their sketches say below: that is no share of their words.
    shared = "" if alert.b is not None else f"{_percent(donor.share)} shared, "
    if KINDS[alert.kind].runs == "part":
        shared = f"about {_percent(donor.share)} of this page's runs of five words, "
    yield f"{shared}first fetched {_time(donor.fetched_at)} UTC"


def agreeing(b: int, c: int) -> str:
    """How alike two pages are by algorithms B and C.

    >>> agreeing(4, 381)
    'b: 4 of 6 supershingles, c: 381 of 384 bits'
    """
    return f"b: {b} of 6 supershingles, c: {c} of 384 bits"


def _percent(share: float) -> str:
    """A share; what is not all is not called 100 %.

    >>> _percent(1.0), _percent(0.996), _percent(0.25)
    ('100%', '99%', '25%')
    """
    return f"{share:.0%}" if share == 1 else f"{min(share, 0.99):.0%}"


def _span(span: Evidence) -> Iterator[str]:
    if span.start is not None:
        bytes_there = f"bytes {span.donor_start}–{span.donor_end}"
        about = "about " if span.approximate else ""
        there = f"{about}{'all' if span.donor_start is None else bytes_there} of {span.donor}"
        here = f"bytes {span.start}–{span.end}"
        yield f"{here} of the page are {there}" if span.donor else here
    if span.url is not None:
        yield span.url
        if span.contains is not None:
            yield f"{_percent(span.contains)} of its chunks are labeled"
    if span.label:
        yield f"labeled {span.label}"
    if span.text is not None:
        yield f"“{span.text}”"


def _print(name: str, lines: Iterable[str]) -> None:
    """Facts beside their name; folded at a terminal, one line each elsewhere."""
    columns = width() - _LABEL if at_terminal() else 0
    for line in lines:
        safe = harmless(line)
        for part in _wrapped(safe, max(columns, 20)) if columns else (safe,):
            print_line(f"{name:{_LABEL}}{part}")
            name = ""


def _wrapped(text: str, columns: int) -> list[str]:
    return textwrap.wrap(text, columns, break_on_hyphens=False)


def short_url(url: str) -> str:
    """A URL for people: https goes without saying, anything else is said.

    >>> short_url("https://example.org/a"), short_url("http://example.org/a")
    ('example.org/a', 'http://example.org/a')
    """
    return url.removeprefix("https://")


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"
