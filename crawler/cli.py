"""The command `reusewatch`: the verbs that bring pages, beside those of `streams.cli`.

Exit codes: 0 done, 1 something was damaged or did not hold, 2 wrong usage or configuration,
3 a part is unreachable, 130 interrupted.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated

import click
import typer

from crawler import commands, crawling
from crawler.errors import CrawlerError, SourceError
from detector.errors import DetectorError
from streams.bus import BusError, Unreachable
from streams.cli import app
from streams.console import say
from streams.settings import SettingsError
from streams.snapshot import SnapshotError
from streams.wire import WireError
from streams.worker import WorkerStopped

_CODES: dict[type[Exception], int] = {
    SettingsError: 2,
    SourceError: 2,
    Unreachable: 3,
    BusError: 1,
    CrawlerError: 1,
    DetectorError: 1,
    SnapshotError: 1,
    WireError: 1,
    WorkerStopped: 1,
}


@app.callback(invoke_without_command=True)
def root(
    ctx: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Say which version.")] = False,
) -> None:
    """Finds reused web content while a crawl runs."""
    if show_version:
        print(f"reusewatch {version('reusewatch')}")  # noqa: T201 - the result of the option
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        raise click.UsageError(ctx.get_help())


commands.register(app)
crawling.register(app)


def main() -> None:
    """Run the command line, and end with its code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; returns its exit code."""
    try:
        code = app(arguments, prog_name="reusewatch", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return 2
    except (KeyboardInterrupt, click.Abort):
        say("interrupted; run it again to go on")
        return 130
    except BrokenPipeError:
        return _pipe_closed()
    except tuple(_CODES) as error:
        say(f"reusewatch: {error}")
        return next(code for kind, code in _CODES.items() if isinstance(error, kind))
    return code or 0


def _pipe_closed() -> int:
    """Whoever read the results has seen enough (`| head`)."""
    with open("/dev/null", "w") as nowhere:
        sys.stdout = nowhere  # or closing it at exit would fail once more
    return 0
