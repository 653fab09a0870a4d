"""The verb `demo`: a small web of copies, replayed, and what was found in it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reusewatch.streams.console import say
from reusewatch.streams.verbs.options import JsonOption


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "demo",
        help="A small web of copies, replayed; shows what is found.\n\nExample: reusewatch demo",
    )(demo)


def demo(
    directory: Annotated[
        Path, typer.Option("--dir", metavar="DIR", help="Made anew each time.")
    ] = Path(".demo"),
    json: JsonOption = False,
) -> None:
    """Run the demo."""
    from reusewatch.crawler.demo.show import run_demo

    try:
        run_demo(directory, json=json)
    except KeyboardInterrupt:
        say(f"interrupted; the next demo makes {directory} anew")
        raise
