"""The demo itself: write the web as an archive, replay it, show what was found."""

from __future__ import annotations

import shutil
import sys
import threading
from collections import defaultdict
from pathlib import Path
from urllib.parse import urlsplit

from crawler.commands import run_replay
from crawler.cursors import Cursors
from crawler.demo.archive import write_warc
from crawler.demo.web import DemoPage, duplicates, web
from crawler.errors import SourceError
from crawler.found import Limits
from crawler.jobs import Reader, job_of
from streams import reading
from streams.console import print_aligned, print_json, print_line
from streams.records import Alert
from streams.settings import Settings
from streams.showing import ID_SHOWN, short_url
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
    command, bus = _command(), f"--bus {settings.bus}"
    found = list(reading.alerts(open_bus(settings)))
    if json:
        for alert in found:
            print_json(alert)
        return
    _show(found, pages, archive)
    planted = duplicates(pages)
    right = sum(a.url in planted and a.donors[0].url == planted[a.url] for a in found if a.url)
    print_line(
        f"{len(planted)} such copies were planted: {right} are found, each with its original."
    )
    changed = sum(page.role in ("renavigated", "restamped") for page in pages)
    print_line(
        f"{changed} more are changed a little (navigation, a timestamp): words that differ are"
    )
    print_line("no exact duplicate. The error pages and the shop's template are innocent.")
    print_line()
    print_line("What to do next:")
    print_aligned(
        [
            ("one alert, with evidence", f"{command} alerts show {found[0].id[:ID_SHOWN]} {bus}"),
            ("all of them, as JSON", f"{command} alerts --json {bus}"),
            ("every page", f"{command} verdicts {bus}"),
            ("archives of yours", f"{command} replay PATH…"),
        ]
    )


def _command() -> str:
    """How to run the command in this shell: its name, if that is on the path."""
    started = Path(sys.argv[0])
    known = shutil.which(started.name) or started.name != "reusewatch"
    return "reusewatch" if known else str(started)


def _begin(directory: Path) -> None:
    if directory.exists():
        if not (directory / _MARK).exists():
            raise SourceError(f"{directory} is there and not a demo's: name another with --dir")
        shutil.rmtree(directory)
    directory.mkdir(parents=True)
    (directory / _MARK).touch()


def _show(found: list[Alert], pages: list[DemoPage], archive: Path) -> None:
    hosts = {urlsplit(page.url).netloc for page in pages}
    copies = {page.url: page.role for page in pages if page.is_duplicate}
    print_line(f"{len(pages)} pages of {len(hosts)} hosts were replayed from {archive}.")
    print_line(f"{len(found)} alerts, all of the kind duplicate:")
    by_host: dict[str, list[Alert]] = defaultdict(list)
    for alert in found:
        by_host[urlsplit(alert.url or "").netloc].append(alert)
    for host, alerts in by_host.items():
        role = copies.get(alerts[0].url or "", "mirror")
        print_line()
        print_line(f"{host}: {_MEANINGS[role].format(len(alerts))}")
        head = ("alert", "its page", "was first seen at")
        print_aligned([head, *map(_row, alerts)])
    print_line()


_MEANINGS = {
    "mirror": "{} pages are files that other sites served before, byte for byte.",
    "reformatted": "{} pages have all words of other sites' pages, in other markup.",
}


def _row(alert: Alert) -> tuple[str, str, str]:
    path = urlsplit(alert.url or "").path
    return alert.id[:ID_SHOWN], path, short_url(alert.donors[0].url)
