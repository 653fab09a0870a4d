"""`reusewatch config`: the settings in force, what each means, a reusewatch.toml to begin with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from reusewatch.streams.console import print_line
from reusewatch.streams.settings import described
from reusewatch.streams.verbs.listing import Asked, Listing, lists, one_of
from reusewatch.streams.verbs.options import BUS, Resolving, with_settings

_FORMATS = ("table", "markdown")


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "config",
        help="Every setting, its value and where it came from; or what each means.\n\n"
        "Example: reusewatch config --describe",
    )(show)


@with_settings(*BUS)
@lists()
def show(
    resolving: Resolving,
    asked: Asked,
    describe: Annotated[
        bool, typer.Option("--describe", help="What each setting means, and what it may be.")
    ] = False,
    form: Annotated[
        str, typer.Option("--format", metavar="FORM", help="Of --describe: table, markdown.")
    ] = "table",
    template: Annotated[
        bool, typer.Option("--template", help="A reusewatch.toml with every default, to change.")
    ] = False,
) -> None:
    """Show the configuration."""
    one_of("--format", form, _FORMATS)
    # What there is to set can be read whatever is set, and wrong, just now: hence `resolving`.
    if template:
        print_line(described.template().rstrip())
    elif describe and form == "markdown" and not asked.json:
        print_line(described.markdown().rstrip())
    elif describe:
        _DESCRIBED.show(described.as_rows(), asked)
    else:
        _IN_FORCE.show(resolving().shown(), asked)


def _text_of(name: str) -> tuple[str, Callable[[dict[str, Any]], str]]:
    return name, lambda row: "" if row[name] is None else described.as_text(row[name])


_IN_FORCE = Listing(("name", "value", "from"), fold=("value", "from"))
# The words for the type name the choices already.
_DESCRIBED = Listing(
    [_text_of(name) for name in ("name", "type", "default", "meaning")],
    fold=("type", "default", "meaning"),
)
