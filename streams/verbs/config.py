"""`reusewatch config`: the settings in force, what each means, a reusewatch.toml to begin with."""

from __future__ import annotations

from typing import Annotated

import typer

from reusewatch.streams.console import fail, print_json_lines, print_line, print_table
from reusewatch.streams.settings import described
from reusewatch.streams.verbs.options import BUS, JsonOption, Resolving, with_settings

_FORMATS = ("table", "markdown")
# The words for the type name the choices already.
_COLUMNS = ("name", "type", "default", "meaning")


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "config",
        help="Every setting, its value and where it came from; or what each means.\n\n"
        "Example: reusewatch config --describe",
    )(show)


@with_settings(*BUS)
def show(
    resolving: Resolving,
    describe: Annotated[
        bool, typer.Option("--describe", help="What each setting means, and what it may be.")
    ] = False,
    form: Annotated[
        str, typer.Option("--format", metavar="FORM", help="Of --describe: table, markdown.")
    ] = "table",
    template: Annotated[
        bool, typer.Option("--template", help="A reusewatch.toml with every default, to change.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Show the configuration."""
    if form not in _FORMATS:
        fail(f"--format {form}: there is {', '.join(_FORMATS)}", 2)
    # What there is to set can be read whatever is set, and wrong, just now: hence `resolving`.
    if template:
        print_line(described.template().rstrip())
    elif describe:
        _describe(form, json=json)
    else:
        rows = resolving().shown()
        _print(rows, ("value", "from"), json=json)


def _describe(form: str, *, json: bool) -> None:
    if form == "markdown" and not json:
        print_line(described.markdown().rstrip())
        return
    rows = list(described.as_rows())
    if not json:
        rows = [{name: _told(row[name]) for name in _COLUMNS} for row in rows]
    _print(rows, ("type", "default", "meaning"), json=json)


def _told(value: object) -> str:
    return "" if value is None else described.as_text(value)


def _print(rows: list[dict[str, object]], fold: tuple[str, ...], *, json: bool) -> None:
    if json:
        print_json_lines(rows)
        return
    print_table(tuple(rows[0]), [tuple(row.values()) for row in rows], fold=fold)
