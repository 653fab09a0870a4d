"""The verb `neighborhoods`: the worst URL prefixes, and the directories of a host as a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from reusewatch.streams.console import Share, harmless, print_line, say
from reusewatch.streams.questions import Rows
from reusewatch.streams.running.asking import Ask
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs.copied_prefixes import Counting, named, with_reused
from reusewatch.streams.verbs.listing import Asked, Listing, lists
from reusewatch.streams.verbs.options import BUS_AND_STATE, with_settings

_STAGE = "neighborhoods"


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "neighborhoods",
        help="URL prefixes by the share of copied content under them, worst first.\n\n"
        "By that of labeled content (badness), then by that of pages that are copies of others', "
        "which nobody has to have labeled (reused), as the window of the stage index has them; "
        "null where that stage did not say.\n\n"
        "Several workers hold a share of the sites each: without --at the changelog is read, "
        "which has all of them as of the last commit; with --at those workers are asked. The "
        "worker of the stage index is asked at this machine, or at --index-at.\n\n"
        "Example: reusewatch neighborhoods --under https://example.org/",
    )(neighborhoods)


@with_settings(*BUS_AND_STATE)
@lists(top=20)
def neighborhoods(
    settings: Settings,
    asked: Asked,
    under: Annotated[
        str | None,
        typer.Option("--under", metavar="PREFIX", help="Of this URL and below, as a tree."),
    ] = None,
    files: Annotated[
        int, typer.Option("--files", metavar="N", help="Of at least so many files.", min=1)
    ] = 1,
    at: Annotated[
        list[str] | None,
        typer.Option(
            "--at",
            metavar="HOST:PORT",
            help="A worker to ask; may be repeated; each answers with at most 1000 rows.",
        ),
    ] = None,
    index_at: Annotated[
        str | None,
        typer.Option("--index-at", metavar="HOST:PORT", help="The index worker, for copies."),
    ] = None,
) -> None:
    """Show neighborhoods."""
    top = asked.top
    parameters = {"top": str(top), "files": str(files)} | ({"under": under} if under else {})
    counting = Counting(Ask(settings, "index", index_at, say, "--index-at"), say, under, top=top)
    if counting.counts:
        parameters["also"] = named([*counting.counts][:top])
    addresses: list[str | None] = [*at] if at else [None]
    answers = [Ask(settings, _STAGE, one, say)(_STAGE, parameters) for one in addresses]
    known = [row for one in answers for row in one.answers]
    rows = worst(with_reused(known, counting.of([row["prefix"] for row in known])), top)
    if not asked.json:
        say(f"as of {min(answer.as_of for answer in answers):%Y-%m-%d %H:%M:%S} UTC")
    if under and rows and not (asked.json or asked.csv):
        for line in tree(rows):
            print_line(line)
        return
    nothing = f"nothing is known under {under}" if under else "nothing is known yet"
    _NEIGHBORHOODS.show(rows, asked, nothing)


def worst(rows: Rows, top: int) -> Rows:
    """The answers of several workers as one: by badness, and where that is the same by copies."""
    ranked = sorted(rows, key=lambda row: (-row["badness"], -_share(row), row["prefix"]))
    return ranked[:top]


def _share(row: dict[str, Any]) -> float:
    return float(row["reused"] / row["reused_of"]) if row.get("reused") else 0.0


def tree(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Directories below those that they are in, each with its figures: badness, files, copies.

    >>> row = {"files": 2, "badness": 0.5, "open": True, "reused": 1, "reused_of": 2}
    >>> for line in tree([row | {"prefix": "http://h/a/"}, row | {"prefix": "http://h/"}]):
    ...     print(line)
     50%       2  1 of 2  open  http://h/
     50%       2  1 of 2  open    a/
    """
    lines, above = [], list[str]()
    size = max((len(_copies(row)) for row in rows), default=0)
    for row in sorted(rows, key=lambda row: str(row["prefix"])):
        prefix = row["prefix"]
        while above and not prefix.startswith(above[-1]):
            above.pop()
        name = prefix.removeprefix(above[-1]) if above else prefix
        copies = f"{_copies(row):>{size}}  " if size else ""
        figures = f"{row['badness']:4.0%} {row['files']:7}  {copies}{_mark(row):4}"
        lines.append(f"{figures}  {'  ' * len(above)}{harmless(name)}")
        above.append(prefix)
    return lines


def _copies(row: dict[str, Any]) -> str:
    return f"{row['reused']} of {row['reused_of']}" if row.get("reused") else ""


def _mark(row: dict[str, Any]) -> str:
    return "open" if row["open"] else ""


_NEIGHBORHOODS = Listing(
    (
        ("badness", lambda row: Share(row["badness"])),
        ("of all chunks", lambda row: Share(row["chunk_ratio"])),
        "files", ("copies", _copies), ("state", _mark), "prefix",
    ),
    fold=("prefix",),
)  # fmt: skip
