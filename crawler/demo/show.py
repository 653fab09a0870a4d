"""The demo itself: write the web as an archive, label a brand, replay, show what was found."""

from __future__ import annotations

import shutil
import sys
import threading
from pathlib import Path

from reusewatch.crawler.demo.archive import write_warc
from reusewatch.crawler.demo.brand import BRAND, HOST, brand, whole_web
from reusewatch.crawler.demo.telling import Told, tell
from reusewatch.crawler.demo.truth import DISCOVER_PAGES, DISCOVER_SITES, LABEL, planted
from reusewatch.crawler.demo.web import OWN_SITE
from reusewatch.crawler.errors import SourceError
from reusewatch.crawler.labeling.packing import build_pack
from reusewatch.crawler.pages.archive_events import Limits
from reusewatch.crawler.replaying.cursors import Cursors
from reusewatch.crawler.replaying.jobs import Reader, job_of
from reusewatch.crawler.replaying.origins import origin_reader
from reusewatch.crawler.replaying.readable import Readable
from reusewatch.crawler.replaying.replay import run_replay
from reusewatch.detector.labels.format import PackLabel
from reusewatch.streams import kernels
from reusewatch.streams.console import print_aligned, print_json_lines, print_line, say
from reusewatch.streams.labels.pushing import Desk
from reusewatch.streams.opening import open_bus
from reusewatch.streams.records import Alert
from reusewatch.streams.running.asking import Ask
from reusewatch.streams.running.label_settings import label_store
from reusewatch.streams.running.sinks import open_sink
from reusewatch.streams.settings import Settings, resolve
from reusewatch.streams.verbs import topic_views
from reusewatch.streams.verbs.showing import ID_SHOWN

_MARK = ".reusewatch-demo"
_CONFIG = f"""\
# The demo's settings: what comes to be common does so sooner in a small web.
discover_pages = {DISCOVER_PAGES}
discover_sites = {DISCOVER_SITES}
# Our own site: what it has in common with others is from it, whoever was crawled first.
owned = ["{OWN_SITE}"]
"""


def prepared(directory: Path) -> Settings:
    """An empty bus in a directory of its own, with the brand's pages labeled."""
    _begin(directory)
    settings = _settings(directory)
    _label(directory, settings)
    return settings


def run_demo(directory: Path, *, json: bool) -> None:
    """Everything from nothing, in a directory of its own."""
    _begin(directory)
    settings = _settings(directory)
    known, pages = brand(), whole_web()
    pack = _label(directory, settings)
    archive = directory / "web.warc.gz"
    write_warc(pages, archive)
    _replay(archive, settings, directory)
    found = list(topic_views.alerts(open_bus(settings)))
    if json:
        print_json_lines(found)
        return
    clusters = Ask(settings, "index", say=say)("clusters", {"top": "10"}).answers
    under = {"under": HOST, "top": "10", "files": "1"}
    directories = Ask(settings, "neighborhoods", say=say)("neighborhoods", under).answers
    truth = planted(pages)
    tell(Told(pages, len(known), archive, pack, found, truth, clusters, directories))
    _say_what_next(found, settings)


def _begin(directory: Path) -> None:
    if directory.exists():
        if not (directory / _MARK).exists():
            raise SourceError(f"{directory} is there and not a demo's: name another with --dir")
        shutil.rmtree(directory)
    directory.mkdir(parents=True)
    (directory / _MARK).touch()


def _settings(directory: Path) -> Settings:
    """The defaults, but for what stands in the demo's own file."""
    file = directory / "reusewatch.toml"
    file.write_text(_CONFIG)
    return resolve({"bus": f"local:{directory / 'state'}"}, environ={}, file=file).settings


def _label(directory: Path, settings: Settings) -> Path:
    """The brand's site as a label pack in force: `labels build` and `labels push`."""
    archive, pack = directory / "brand.warc.gz", directory / f"{LABEL}.pack"
    write_warc(brand(), archive)
    # `alerts show` reads the labeled pages again.
    Readable(settings.archive_roots, directory / "state").note(LABEL, [str(archive)])
    label = PackLabel(
        name=LABEL, source=f"https://www.{BRAND}/", note="the bank's own pages",
        severity="critical", homes=(BRAND,),
    )  # fmt: skip
    kernels.prepare(say)
    from reusewatch.detector.labels.pack import open_pack
    from reusewatch.streams.labels.matching import all_stop_chunks

    stops = all_stop_chunks(settings.scheme, None)
    build_pack(label, [str(archive)], pack, scheme=settings.scheme, stops=stops, say=say)
    desk = Desk(open_bus(settings), label_store(settings), settings.scheme, say)
    desk.push(pack, open_pack(pack, settings.scheme))
    return pack


def _replay(archive: Path, settings: Settings, directory: Path) -> None:
    reader = Reader(settings.scheme, Limits())
    stop = threading.Event()
    job = job_of([str(archive)], [], None, reader=reader, settle_seconds=0, stop=stop)
    # `alerts show` reads the demo's pages again.
    Readable(settings.archive_roots, directory / "state").note(job.name, job.files)
    read_origin = origin_reader(settings.scheme, settings.max_body_bytes)
    sink = open_sink(settings, read_origin=read_origin, stop=stop, say=say)
    cursors = Cursors(directory / "state")
    run_replay(sink, job, cursors, stop=stop, checkpoint_seconds=settings.commit_seconds)


def _say_what_next(found: list[Alert], settings: Settings) -> None:
    command, bus = _command(), f"--bus {settings.bus}"
    print_line("What to do next:")
    print_aligned(
        [
            ("one alert, with evidence", f"{command} alerts show {found[0].id[:ID_SHOWN]} {bus}"),
            ("all of them, as JSON", f"{command} alerts --json {bus}"),
            ("every page", f"{command} verdicts {bus}"),
            ("families of copies", f"{command} clusters {bus}"),
            ("pages like one page", f"{command} similar URL {bus}"),
            ("the worst directories", f"{command} neighborhoods {bus}"),
            ("what is labeled", f"{command} labels show {bus}"),
            ("archives of yours", f"{command} replay PATH…"),
        ]
    )


def _command() -> str:
    """How to run the command in this shell: its name, if that is on the path."""
    started = Path(sys.argv[0])
    known = shutil.which(started.name) or started.name != "reusewatch"
    return "reusewatch" if known else str(started)
