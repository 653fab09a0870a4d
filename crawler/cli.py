"""The command `reusewatch`: the verbs that bring pages, beside those of `streams.verbs.findings`.

How every command ends:

====  =====================================================================================
code  meaning
====  =====================================================================================
0     Done. A filter that nothing fits (`alerts --site S`, `verdicts --url U`) prints nothing.
1     Done, but something was damaged or did not hold; the last line on stderr names it.
2     Wrong usage or configuration. What was named is not there: a file, an archive, a pack, an
      alert's id, a label's name, a topic (`--topic-prefix`), a page of an archive (`fingerprint
      --url`) or of the window (`clusters --url`, `similar URL`). Nothing is printed on stdout.
3     A part is unreachable: a broker, a worker, a directory that cannot be read or written.
130   Interrupted; it can be run again.
====  =====================================================================================
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import version
from typing import Annotated

import typer

from reusewatch.crawler.errors import CrawlerError, SourceError
from reusewatch.crawler.verbs import crawl
from reusewatch.detector.errors import DetectorError, SchemeMismatch
from reusewatch.streams.bus import BusError, BusMisnamed, Unreachable
from reusewatch.streams.console import print_line, say
from reusewatch.streams.dead_letter_limit import WorkerStopped
from reusewatch.streams.extras import NotInstalled, missing, needed_for
from reusewatch.streams.questions import BadQuestion, Unanswered
from reusewatch.streams.settings import SettingsError
from reusewatch.streams.stages.errors import Incompatible, SnapshotError
from reusewatch.streams.verbs import installed
from reusewatch.streams.verbs.findings import app
from reusewatch.streams.wire import WireError

_CODES: dict[type[Exception], int] = {
    SettingsError: 2,
    NotInstalled: 2,
    SourceError: 2,
    BadQuestion: 2,
    Incompatible: 2,
    SchemeMismatch: 2,
    Unanswered: 3,
    Unreachable: 3,
    BusMisnamed: 2,
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


_VERBS = "reusewatch.crawler.verbs"
installed.register(app, f"{_VERBS}.replay", "replay")
installed.register(app, f"{_VERBS}.work", "work")
installed.register(app, f"{_VERBS}.demo", "demo")
crawl.register(app)
installed.register(app, f"{_VERBS}.fingerprint", "fingerprint")
installed.register(app, f"{_VERBS}.similar", "similar")
if not missing():  # otherwise a stand-in speaks for all verbs below `labels`
    for name in ("labels_build", "labels_discover", "labels_propose_stops"):
        import_module(f"{_VERBS}.{name}").register()


def main() -> None:
    """Run the command line, and end with its code."""
    try:
        # Some verbs import what they need when they are called.
        with needed_for(" ".join(("`reusewatch", *sys.argv[1:2])) + "`"):
            app(prog_name="reusewatch")
    except tuple(_CODES) as error:
        say(f"reusewatch: {error}")
        sys.exit(next(code for kind, code in _CODES.items() if isinstance(error, kind)))
