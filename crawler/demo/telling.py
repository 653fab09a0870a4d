"""The demo in words, for readers who know crawls and not the papers: what each kind of alert means,
a few of them, and what was planted beside what was found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from reusewatch.crawler.demo.brand import BRAND
from reusewatch.crawler.demo.truth import Planted, innocent, unplanted
from reusewatch.crawler.demo.web import DemoPage
from reusewatch.streams.console import print_aligned, print_line
from reusewatch.streams.questions import Rows
from reusewatch.streams.records import Alert, Kind
from reusewatch.streams.verbs.neighborhoods import tree
from reusewatch.streams.verbs.showing import ID_SHOWN, short_url, told_direction

_FEW = 3
_TEXT = 88
_WORDS = 40
Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """All that is told of."""

    pages: Sequence[DemoPage]
    known: int
    archive: Path
    pack: Path
    alerts: Sequence[Alert]
    truth: Sequence[Planted]
    clusters: Rows
    tree: Rows


def tell(told: Told) -> None:
    """Everything."""
    hosts = {urlsplit(page.url).netloc for page in told.pages}
    print_line(f"{len(told.pages)} pages of {len(hosts)} hosts were replayed from {told.archive}.")
    print_line(
        f"Known beforehand: the {told.known} pages of a bank, {BRAND}, which is not crawled;"
    )
    print_line(f"its paragraphs and files were labeled with {told.pack}.")
    print_line(f"{len(told.alerts)} alerts were raised, of {len(_SECTIONS)} kinds. Some of each:")
    for section in _SECTIONS:
        found = [alert for alert in told.alerts if alert.kind == section.kind]
        print_line()
        print_line(f"{section.kind}: {section.meaning}")
        for line in section.more:
            print_line(f"  {line}")
        section.show(found)
        if section.kind == "near-duplicate":
            _tell_of_clusters(told.clusters)
        if section.kind == "bad-neighborhood":
            _tell_of_tree(told.tree)
    print_line()
    _compare(told)
    print_line()


def _compare(told: Told) -> None:
    """What was planted beside what was found."""
    wrong = unplanted(told.alerts, told.truth)
    rows: list[Row] = [("kind", "planted", "found", "not planted")]
    for section in _SECTIONS:
        wanted = [one for one in told.truth if one.kind == section.kind]
        right = sum(any(map(one.is_found_by, told.alerts)) for one in wanted)
        odd = sum(alert.kind == section.kind for alert in wrong)
        rows.append((section.kind, f"{len(wanted):7}", f"{right:5}", f"{odd:11}"))
    print_line("What was planted, and what of it was found, each with its original or its label:")
    print_aligned(rows)
    print_line(
        f"Alerts on what was not planted: {len(wrong)}. {innocent(told.pages)} pages are innocent: "
        "originals, a shop's"
    )
    print_line("template, the error page that all servers have, the gardener's pages.")


def _copies(found: Sequence[Alert]) -> None:
    for alert in (group := _one_a_site(found)):
        print_line(f"  {alert.id[:ID_SHOWN]}  {_short(alert)}")
        _tell_other(alert, "has the same text as")
    _count_others(found, group)


def _tell_other(alert: Alert, same: str) -> None:
    """The other page, and which of the two is the original, if that is known."""
    print_line(f"            {same} {short_url(alert.donors[0].url)}")
    if alert.direction is not None:
        print_line(f"            original: {told_direction(alert.direction)}")


def _near(found: Sequence[Alert]) -> None:
    for alert in (group := _one_a_site([alert for alert in found if alert.differs])):
        print_line(f"  {alert.id[:ID_SHOWN]}  {_short(alert)}")
        _tell_other(alert, "has nearly the text of")
        if differs := alert.differs:
            here, there = _words(differs.only_here), _words(differs.only_there)
            print_line(f"            words only here: {here}; only there: {there}")
    _count_others(found, group)


def _one_a_site(found: Sequence[Alert]) -> list[Alert]:
    """Each site copies in a way of its own, and of each what is original is known otherwise."""
    ways = {(alert.site, alert.direction and alert.direction.by): alert for alert in found[::-1]}
    return list(ways.values())[::-1]


def _count_others(found: Sequence[Alert], shown: Sequence[Alert]) -> None:
    if rest := len(found) - len(shown):
        print_line(f"  … and {rest} more")


def _tell_of_clusters(clusters: Rows) -> None:
    # Of those of a size the one that has more than copies of one page.
    largest = max(clusters, key=lambda one: (one["size"], one["diameter"]), default=None)
    if largest is not None:
        print_line(
            f"  The largest family of copies and near-copies: {largest['size']} pages of "
            f"{largest['sites']} sites."
        )
        for url in largest["urls"]:
            print_line(f"    {short_url(url)}")


def _tell_of_tree(rows: Rows) -> None:
    print_line("  The whole host in the end, by share and files:")
    for line in tree(rows):
        print_line(f"    {line}")


def _partial(found: Sequence[Alert]) -> None:
    for alert in (group := found[:_FEW]):
        print_line(f"  {alert.id[:ID_SHOWN]}  {_short(alert)}")
        _tell_other(alert, f"has {alert.donors[0].share:.0%} of its words in common with")
    _count_others(found, group)


def _quilts(found: Sequence[Alert]) -> None:
    for alert in (group := found[:_FEW]):
        print_line(f"  {alert.id[:ID_SHOWN]}  {_short(alert)}")
        print_line(f"            {alert.figure:.0%} of it stand on {len(alert.donors)} pages:")
        for donor in alert.donors[:_FEW]:
            print_line(f"            {donor.share:5.0%} {short_url(donor.url)}")
    _count_others(found, group)


def _phrases(found: Sequence[Alert]) -> None:
    for alert in (group := found[:_FEW]):
        print_line(f"  {alert.id[:ID_SHOWN]}  {short_url(alert.prefix or '')}")
        print_line(
            f"            its {alert.files} pages have {alert.figure:.0f} popular phrases of 84 in "
            f"the mean, give or take {alert.deviation or 0:.0f}"
        )
    _count_others(found, group)


def _labeled(found: Sequence[Alert]) -> None:
    _table(
        ("alert", "page", "known", "paragraphs", "label"), found,
        lambda alert: (_short(alert), f"{alert.figure:5.0%}", f"{len(alert.evidence):10}",
                       ", ".join(alert.labels)),
    )  # fmt: skip
    _quote(found[:1], "One of the paragraphs that")


def _stolen(found: Sequence[Alert]) -> None:
    _table(
        ("alert", "page", "label"), found,
        lambda alert: (_short(alert), ", ".join(alert.labels)),
    )  # fmt: skip


def _neighborhood(found: Sequence[Alert]) -> None:
    _table(
        ("alert", "directory", "files", "known of a file", "state"), found,
        lambda alert: (short_url(alert.prefix or ""), f"{alert.files or 0:5}",
                       f"{alert.figure:.0%}, alert from {alert.threshold:.0%}", alert.state),
    )  # fmt: skip


def _trap(found: Sequence[Alert]) -> None:
    _table(
        ("alert", "URLs go on for ever below", "for instance"), found,
        lambda alert: (short_url(alert.prefix or ""), _example(alert)),
    )  # fmt: skip


def _example(alert: Alert) -> str:
    url = next((span.url for span in alert.evidence if span.url), "") or ""
    return _cut(url.removeprefix(alert.prefix or ""), 40)


def _discovered(found: Sequence[Alert]) -> None:
    _table(
        ("alert", "one of its pages", "pages", "sites"), found,
        lambda alert: (_short(alert), f"{alert.figure:5.0f}", f"{len(alert.sites):5}"),
    )  # fmt: skip
    _quote(found[:1], "The paragraph that")


def _quote(found: Sequence[Alert], what: str) -> None:
    for alert in found:
        span = alert.evidence[0]
        print_line(f"  {what} {short_url(alert.url or '')} has at bytes {span.start}–{span.end}:")
        print_line(f"    “{_cut(span.text or '', _TEXT)}”")


def _table(
    head: Row,
    found: Sequence[Alert],
    row: Callable[[Alert], Row],
) -> None:
    """A few alerts, each in a row that begins with its id."""
    shown = found[:_FEW]
    rows: list[Row] = [head]
    rows += [(alert.id[:ID_SHOWN], *row(alert)) for alert in shown]
    print_aligned(rows)
    _count_others(found, shown)


def _short(alert: Alert) -> str:
    return short_url(alert.url or "")


def _words(words: Sequence[str]) -> str:
    return _cut(" ".join(words), _WORDS) or "-"


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


@dataclass(frozen=True, slots=True)
class _Section:
    kind: Kind
    meaning: str
    more: Row
    show: Callable[[Sequence[Alert]], None]


_SECTIONS = (
    _Section(
        "duplicate", "a page has all words of a page of another site,",
        ("byte for byte, or in other markup.",), _copies,
    ),
    _Section(
        "near-duplicate", "a page has nearly the words of a page of another site,",
        ("between other navigation, or with a timestamp of its own.",), _near,
    ),
    _Section(
        "partial-copy", "a part of a page stands on a page of another site.", (), _partial,
    ),
    _Section(
        "quilt", "a page is stitched from parts of pages of other sites.", (), _quilts,
    ),
    _Section(
        "phrase-host", "all pages of a host are stitched from a stock of sentences.", (), _phrases,
    ),
    _Section(
        "labeled-content", "paragraphs of a page are known content, here the bank's.",
        ("The share is of the blocks of its text that are long enough to be known.",), _labeled,
    ),
    _Section("labeled-page", "the whole file is known content.", (), _stolen),
    _Section(
        "bad-neighborhood", "a directory whose files are on average copied to a large part.",
        ("Another directory of the same host is innocent, and so is the host as a whole.",),
        _neighborhood,
    ),
    _Section(
        "crawl-trap", "links that lead deeper and deeper; no figure counts these pages.",
        (), _trap,
    ),
    _Section(
        "discovered-content", "a paragraph that nobody had labeled came to be on many sites.",
        (), _discovered,
    ),
)  # fmt: skip
