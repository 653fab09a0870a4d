"""The options that all listing verbs share, and the one way in which they print rows.

A verb names the options it offers with `lists` and gets them as one value, `Asked`. A `Listing`
says which columns its rows have. The rest is here: times, limits, JSON lines, CSV, tables.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Annotated, Any

import typer

from reusewatch.streams.console import (
    Cell,
    at_terminal,
    fail,
    print_csv,
    print_json_lines,
    print_rows,
    print_table,
    say,
)
from reusewatch.streams.verbs.options import JsonOption, Verb, in_place_of

_DAY = len("2026-03-01")

SinceOption = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="Since 2026-03-01 or 2026-03-01T06:00Z."),
]
# By the field of Asked, in the order in which --help lists them.
_OPTIONS: Mapping[str, Any] = {
    "site": Annotated[
        str | None, typer.Option("--site", metavar="SITE", help="The registered domain.")
    ],
    "since": SinceOption,
    "until": Annotated[
        str | None,
        typer.Option("--until", metavar="TIME", help="Up to this time, or on this whole day."),
    ],
    "top": Annotated[int, typer.Option("--top", metavar="N", min=1, help="So many.")],
    "limit": Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="At most so many.")
    ],
    "follow": Annotated[bool, typer.Option("--follow", help="Go on with those that come.")],
    "csv": Annotated[bool, typer.Option("--csv", help="For spreadsheets.")],
    "json": JsonOption,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the shared options say. An option that a verb does not offer has its default."""

    site: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    top: int = 0
    limit: int | None = None
    follow: bool = False
    csv: bool = False
    json: bool = False

    def covers(self, at: datetime) -> bool:
        """Whether a time lies within --since and --until."""
        return (self.since is None or at >= self.since) and (self.until is None or at <= self.until)


# A field of the row, under its own name or another; or what a function makes of the row.
Column = str | tuple[str, str | Callable[[Any], Cell]]


@dataclass(frozen=True, slots=True)
class Listing:
    """How the rows of one kind look, be they records or dictionaries.

    `people` are the columns at a terminal, where they are others; `fold` names those that give way
    there.
    """

    columns: Sequence[Column]
    fold: Collection[str] = ()
    people: Sequence[Column] = ()

    def show(self, rows: Iterable[Any], asked: Asked = Asked(), nothing: str = "") -> None:
        """Print the rows as they are asked for; without any, say `nothing` on stderr."""
        rows = _counted(islice(rows, asked.limit), nothing)
        if asked.json:
            print_json_lines(rows)
            return
        plain = asked.csv or asked.follow or not at_terminal()
        columns = self.columns if plain or not self.people else self.people
        named = [(one, one) if isinstance(one, str) else one for one in columns]
        names = tuple(name for name, _ in named)
        cells = ([_cell(row, what) for _, what in named] for row in rows)
        if plain:
            (print_csv if asked.csv else print_rows)(names, cells)
        else:
            print_table(names, cells, fold=self.fold)


def _cell(row: Any, what: str | Callable[[Any], Cell]) -> Cell:
    if callable(what):
        return what(row)
    value = row[what] if isinstance(row, dict) else getattr(row, what)
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%dT%H:%M:%SZ}"
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def _counted(rows: Iterable[Any], nothing: str) -> Iterator[Any]:
    empty = True
    for row in rows:
        empty = False
        yield row
    if empty and nothing:
        say(nothing)


def lists(*names: str, top: int = 0) -> Callable[[Verb], Verb]:
    """Give a command these shared options, --csv and --json, as its parameter `asked`.

    With `top` it has --top, and this is the default.
    """
    wanted = {*names, "csv", "json", *(["top"] if top else [])}
    defaults = {"csv": False, "json": False, "follow": False, "top": top}
    offered = {
        name: (option, defaults.get(name)) for name, option in _OPTIONS.items() if name in wanted
    }
    return functools.partial(in_place_of, parameter="asked", options=offered, made=_asked)


def _asked(values: dict[str, Any]) -> Asked:
    for name in {"since", "until"} & values.keys():
        values[name] = time_given(f"--{name}", values[name], end=name == "until")
    if site := values.get("site"):
        _check_site(site)
    return Asked(**values)


def _check_site(site: str) -> None:
    """Warn of a host or a URL in place of a registered domain: nothing is under its name."""
    from reusewatch.streams.urls import host_of_url, site_of

    registered = site_of(host_of_url(site) if "//" in site else site.lower())
    if registered != site:
        say(f"--site {site}: a registered domain is expected; here it is {registered}")


def one_of(option: str, value: str | None, choices: Collection[str]) -> str | None:
    """The value of an option; ends the command where it is none of the choices."""
    if value is not None and value not in choices:
        fail(f"{option} {value}: there is {', '.join(choices)}", 2)
    return value


def time_given(option: str, text: str | None, *, end: bool = False) -> datetime | None:
    """The time that an option names; ends the command where it is none."""
    if text is None:
        return None
    try:
        return moment(text, end=end)
    except (ValueError, OverflowError):
        fail(f"{option} {text}: not a time such as 2026-03-01 or 2026-03-01T06:00:00Z", 2)


def moment(text: str, *, end: bool = False) -> datetime:
    """A time as people write it, UTC where it says nothing else. ValueError where it is none.

    A day alone is its beginning, or, where a span ends with it, its end.

    >>> str(moment("2026-03-01")), str(moment("2026-03-01", end=True))
    ('2026-03-01 00:00:00+00:00', '2026-03-01 23:59:59.999999+00:00')
    """
    if end and len(text) == _DAY:
        last = date.fromisoformat(text)
        begin = datetime(last.year, last.month, last.day, tzinfo=UTC)
        return begin + timedelta(days=1) - timedelta(microseconds=1)
    parsed = datetime.fromisoformat(text)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
