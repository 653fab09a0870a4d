"""The demo itself: write the web as an archive, replay it, show what was found."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

from crawler.commands import run_replay
from crawler.cursors import Cursors
from crawler.demo.archive import write_warc
from crawler.demo.web import duplicates, web
from crawler.errors import SourceError
from crawler.found import Limits
from crawler.jobs import Reader, job_of
from streams import reading
from streams.console import print_json, print_line, print_table
from streams.records import Alert
from streams.settings import Settings
from streams.topology import open_bus

_MARK = ".reusewatch-demo"


def run_demo(directory: Path, *, json: bool) -> None:
    """Everything from nothing, in a directory of its own."""
    _begin(directory)
    pages = web()
    archive = directory / "web.warc.gz"
    write_warc(pages, archive)
    settings = Settings(bus=f"local:{directory / 'state'}")
    reader = Reader(settings.scheme, Limits())
    stop = threading.Event()
    job = job_of([str(archive)], [], None, reader=reader, settle_seconds=0, stop=stop)
    run_replay(settings, job, Cursors(directory / "state"), stop, quiet=True)
    found = list(reading.alerts(open_bus(settings)))
    if json:
        for alert in found:
            print_json(alert)
        return
    _show(found, len(pages), len({page.url.split("/")[2] for page in pages}), directory)
    planted = duplicates(pages)
    right = sum(a.url in planted and a.donors[0].url == planted[a.url] for a in found if a.url)
    print_line(f"{len(planted)} copies were planted, {right} are found with their original.")
    print_line(f"One of them:      reusewatch alerts show {found[0].id[:8]} --bus {settings.bus}")
    print_line(f"Every page:       reusewatch verdicts --bus {settings.bus}")
    print_line("Archives of yours: reusewatch replay PATH… --bus local:DIR")


def _begin(directory: Path) -> None:
    if directory.exists():
        if not (directory / _MARK).exists():
            raise SourceError(f"{directory} is there and not a demo's: name another with --dir")
        shutil.rmtree(directory)
    directory.mkdir(parents=True)
    (directory / _MARK).touch()


def _show(found: list[Alert], pages: int, sites: int, directory: Path) -> None:
    print_line(f"{pages} pages of {sites} hosts, replayed from {directory / 'web.warc.gz'}.")
    print_line(f"{len(found)} alerts: pages with the words of a page that another site had before.")
    print_line()
    rows = [
        (alert.id[:8], alert.kind, alert.url, alert.donors[0].url, f"{alert.figure:.0f} pages")
        for alert in found
    ]
    print_table(("alert", "kind", "page", "first seen at", "with these words"), rows)
    print_line()
