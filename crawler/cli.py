"""The command `reusewatch`: the verbs that bring pages, beside those of `streams.cli`.

Exit codes: 0 done, 1 something was damaged or did not hold, 2 wrong usage or configuration,
3 a part is unreachable, 130 interrupted.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from crawler import commands, crawling, discovering, labeling, likeness, looking, proposing
from crawler.errors import CrawlerError, SourceError
from detector.errors import DetectorError, SchemeMismatch
from streams.bus import BusError, Unreachable
from streams.cli import app
from streams.console import print_line, say
from streams.poison import WorkerStopped
from streams.questions import BadQuestion, Unanswered
from streams.settings import SettingsError
from streams.snapshot import Incompatible, SnapshotError
from streams.wire import WireError

_CODES: dict[type[Exception], int] = {
    SettingsError: 2,
    SourceError: 2,
    BadQuestion: 2,
    Incompatible: 2,
    SchemeMismatch: 2,
    Unanswered: 3,
    Unreachable: 3,
    BusError: 1,
    CrawlerError: 1,
    DetectorError: 1,
    SnapshotError: 1,
    WireError: 1,
    WorkerStopped: 1,
}


def _show_version(asked: bool) -> None:
    if asked:
        print_line(f"reusewatch {version('reusewatch')}")
        raise typer.Exit


@app.callback()
def root(
    show_version: Annotated[
        bool,
        typer.Option("--version", help="Say which version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Finds reused web content while a crawl runs."""


commands.register(app)
crawling.register(app)
looking.register(app)
likeness.register(app)
labeling.register()
labeling.register()
discovering.register()
proposing.register()


def main() -> None:
    """Run the command line, and end with its code."""
    try:
        app(prog_name="reusewatch")
    except tuple(_CODES) as error:
        say(f"reusewatch: {error}")
        sys.exit(next(code for kind, code in _CODES.items() if isinstance(error, kind)))
