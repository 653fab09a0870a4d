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
        help="A small web of copies, replayed; shows what is found. --live: crawled, with what is "
        "found steering the crawl.\n\nExample: reusewatch demo",
    )(demo)


def demo(
    directory: Annotated[
        Path, typer.Option("--dir", metavar="DIR", help="Made anew each time.")
    ] = Path(".demo"),
    live: Annotated[
        bool, typer.Option("--live", help="Crawl a web on this machine, and steer the crawl.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Run the demo."""
    try:
        if live:
            from reusewatch.crawler.demo.live import run_live

            run_live(directory, json=json)
            return
        from reusewatch.crawler.demo.show import run_demo

        run_demo(directory, json=json)
    except KeyboardInterrupt:
        say(f"interrupted; the next demo makes {directory} anew")
        raise
