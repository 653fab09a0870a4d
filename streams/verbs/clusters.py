"""The verbs that ask live state: `clusters`. A worker answers, or the last snapshot."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from reusewatch.streams.console import print_json_lines, print_table, say
from reusewatch.streams.running.asking import Ask
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs.options import BUS_AND_STATE, JsonOption, with_settings

AtOption = Annotated[
    str | None,
    typer.Option("--at", metavar="HOST:PORT", help="The worker that is asked: its metrics port."),
]


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    app.command(
        "clusters",
        help="Classes of near-duplicates in the window, the largest first.\n\n"
        "Example: reusewatch clusters --top 5",
    )(clusters)


@with_settings(*BUS_AND_STATE)
def clusters(
    settings: Settings,
    top: Annotated[
        int,
        typer.Option(
            "--top", metavar="N", help="So many; a worker answers with up to 1000.", min=1
        ),
    ] = 10,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="The one of this page.")
    ] = None,
    at: AtOption = None,
    json: JsonOption = False,
) -> None:
    """Show clusters."""
    asked = {"url": url} if url else {"top": str(top)}
    answered = Ask(settings, "index", at, say)("clusters", asked)
    if not answered.answers:
        say("no two pages of the window are near-duplicates")
    if json:
        print_json_lines(answered.answers)
        return
    columns = ("cluster", "pages", "sites", "steps", "page seen first")
    print_table(columns, map(_row, answered.answers), fold=columns[-1:])


def _row(row: dict[str, Any]) -> tuple[object, ...]:
    return row["cluster"], row["size"], row["sites"], row["diameter"], row["representative"]
