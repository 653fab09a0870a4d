"""`alerts show`: the alert's pages read again, and drawn.

Who has not installed what reads pages, or whose pages are gone, sees the alert as it is, and why.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reusewatch.streams import extras
from reusewatch.streams.console import fail, print_line, say
from reusewatch.streams.page_text import ReadOrigin
from reusewatch.streams.records import Alert, EvidenceMissing
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs import evidence_html, evidence_terminal
from reusewatch.streams.verbs.late_evidence import Shown, donor_of, evident
from reusewatch.streams.verbs.sides import sides_of

WHY: dict[EvidenceMissing, str] = {
    "budget": "it was left to who asks",
    "no origin": "it is not known where the pages can be read again",
    "retention": "the bus keeps a page no longer",
    "archive gone": "a page is not where it was: its archive is gone, is below no directory that "
    "the setting archive_roots names, or was standard input (-), which is read once",
    "crawl without keep_pages": "the crawl kept no pages; the setting keep_pages does",
    "changed": "where a page was its archive holds something else by now, or ends",
    "no common run": "they have no run of words in common",
}


def with_pages(
    alert: Alert, settings: Settings, reader: Callable[[Settings], ReadOrigin] | None
) -> Shown:
    """The alert with its pages, as far as they can be had here."""
    nothing = Shown(alert, None, None)
    if reader is None or alert.url is None or donor_of(alert) is None:
        return nothing
    if gone := extras.missing():
        say(f"the pages are not read again: {gone[0]} is not installed: {extras.HOW}")
        return nothing
    if alert.scheme != settings.scheme.name:
        say(f"the pages are not read again: they were hashed by {alert.scheme}, not by this key")
        return nothing
    return evident(alert, reader(settings), settings.scheme)


def print_pages(shown: Shown) -> None:
    """Both pages side by side, a quilt beside each of its sources; or why not."""
    if shown.pair is not None:
        for url, pair in ((shown.other, shown.pair), *shown.more):
            parts = sides_of(pair, evidence_terminal.LENGTHS)
            evidence_terminal.print_sides(shown.alert, *parts, other=url)
    elif shown.why_not is not None:
        print_line()
        print_line(f"The pages are not shown: {_why(shown, shown.why_not)}.")


def _why(shown: Shown, reason: EvidenceMissing) -> str:
    return f"{WHY[reason]} ({shown.lost})" if shown.lost else WHY[reason]


def write_html(shown: Shown, file: Path) -> None:
    """The file for a browser; ends the command where there is nothing to draw or no room."""
    if shown.pair is None:
        why = "it is not about two pages" if shown.why_not is None else _why(shown, shown.why_not)
        fail(f"{file} was not written: {why}", 1)
    parts = sides_of(shown.pair, evidence_html.LENGTHS)
    more = [(url, *sides_of(pair, evidence_html.LENGTHS)) for url, pair in shown.more]
    text = evidence_html.html_of(shown.alert, *parts, other=shown.other, more=more)
    try:
        file.write_text(text, "utf-8", errors="replace")
    except OSError as error:
        fail(f"{file} cannot be written: {error.strerror}", 3)
    say(f"{file} is written; any browser opens it")
