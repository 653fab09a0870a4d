"""The verbs that replay pages, and those that run stages: `replay`, `demo`, `work`."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from reusewatch.crawler.archives.reading import read_origin
from reusewatch.crawler.errors import OriginLost
from reusewatch.crawler.pages.found import Limits
from reusewatch.crawler.replaying.cursors import Cursor, Cursors
from reusewatch.crawler.replaying.jobs import Job, Reader, job_of
from reusewatch.crawler.replaying.progress import ReplayProgress
from reusewatch.crawler.replaying.replay import Interrupted, Replay, summary
from reusewatch.detector.errors import BadPage
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.bus import Unreachable
from reusewatch.streams.console import fail, print_json, print_line, say
from reusewatch.streams.records import Origin, Page
from reusewatch.streams.running import topology
from reusewatch.streams.running.metrics import Health, Meters
from reusewatch.streams.running.sinks import open_sink
from reusewatch.streams.settings import Settings
from reusewatch.streams.signals import stopping
from reusewatch.streams.stages.fingerprinting import ReadOrigin
from reusewatch.streams.verbs.options import (
    BusOption,
    ConfigOption,
    DeadLetterLimitOption,
    JsonOption,
    MetricsPortOption,
    PrefixOption,
    StateOption,
    WorkersOption,
    settings,
)


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    app.command(
        "replay",
        help="Archives, directories or globs onto the bus; - is stdin.\n\n"
        "Example: reusewatch replay crawl-*.warc.gz --workers 2",
    )(replay)
    app.command(
        "work",
        help="Run a stage on Kafka until stopped.\n\n"
        "Example: reusewatch work index --bus kafka://127.0.0.1:9092 --state /var/lib/reusewatch",
    )(work)
    app.command(
        "demo",
        help="A small web of copies, replayed; shows what is found.\n\nExample: reusewatch demo",
    )(demo)


def replay(
    paths: Annotated[list[str] | None, typer.Argument(metavar="PATH…")] = None,
    tree: Annotated[
        list[str] | None,
        typer.Option("--tree", metavar="DIR=URL", help="A directory of HTML, served as that URL."),
    ] = None,
    follow: Annotated[
        Path | None,
        typer.Option("--follow", metavar="DIR", help="Archives as a running crawl finishes them."),
    ] = None,
    settle_seconds: Annotated[
        float,
        typer.Option("--settle", metavar="SECONDS", help="Finished when not written for so long."),
    ] = 30.0,
    allow_damaged: Annotated[
        bool, typer.Option("--allow-damaged", help="Exit 0 though records were damaged.")
    ] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Begin again where a replay was interrupted.")
    ] = False,
    workers: WorkersOption = None,
    bus: BusOption = None,
    state: StateOption = None,
    topic_prefix: PrefixOption = None,
    metrics_port: MetricsPortOption = None,
    dead_letter_limit: DeadLetterLimitOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Replay archives."""
    found = settings(
        config, bus=bus, state=state, topic_prefix=topic_prefix, workers=workers,
        metrics_port=metrics_port, dead_letter_limit=dead_letter_limit,
    )  # fmt: skip
    cursors = cursors_of(found)
    with stopping() as stop:
        reader = Reader(found.scheme, Limits(max_body_bytes=found.max_body_bytes))
        job = job_of(
            paths or [], tree or [], follow, reader=reader, settle_seconds=settle_seconds, stop=stop
        )
        if restart:
            cursors.clear(job.name)
        elif (before := cursors.load(job.name)) is not None:
            say(f"going on after {before.tally.records} records; --restart begins again")
        try:
            cursor = run_replay(found, job, cursors, stop)
        except Interrupted as interrupted:
            say(f"interrupted in {interrupted}; all before it is safe, run it again to go on")
            raise typer.Exit(130) from None
    _show_summary(cursor, json=json)
    if not allow_damaged and (cursor.tally.damaged or cursor.tally.dead_letters):
        bus_flag = f" --bus {found.bus}" if bus else ""
        fail(
            f"{cursor.tally.dead_letters} in the dead letters: `reusewatch dead-letters{bus_flag}` "
            "lists them; --allow-damaged if that is expected",
            1,
        )


def run_replay(
    found: Settings, job: Job, cursors: Cursors, stop: threading.Event, *, quiet: bool = False
) -> Cursor:
    """Replay a job into the sink that the settings name."""
    sink = open_sink(found, read_origin=origin_reader(found), stop=stop, say=say)
    try:
        with ReplayProgress(quiet=quiet) as progress:
            run = Replay(
                sink, cursors, stop=stop, progress=progress,
                checkpoint_seconds=found.commit_seconds,
            )  # fmt: skip
            cursor = run.run(job)
    except Interrupted:
        sink.close()
        raise
    except BaseException as error:
        sink.abandon()
        if isinstance(error, Unreachable) and stop.is_set():
            raise Interrupted(f"waiting: {error}") from error
        raise
    sink.close()
    return cursor


def cursors_of(found: Settings) -> Cursors:
    """How far replays onto this bus came. What is safe on one cluster is not on another."""
    local = found.bus.startswith("local:")
    return Cursors(
        topology.state_directory(found), "" if local else f"{found.bus} {found.topic_prefix}"
    )


def origin_reader(found: Settings) -> ReadOrigin:
    """How a page is read again from its archive; travels to worker processes."""
    limits = Limits(max_body_bytes=found.max_body_bytes)
    return partial(_read_again, scheme=found.scheme, limits=limits)


def _read_again(origin: Origin, *, scheme: HashScheme, limits: Limits) -> Page:
    try:
        return read_origin(origin, scheme=scheme, limits=limits)
    except OriginLost as error:
        raise BadPage("too-large", f"too large for the bus, and not to be read: {error}") from error


def _show_summary(cursor: Cursor, *, json: bool) -> None:
    shown: dict[str, Any] = summary(cursor)
    if json:
        print_json(shown)
        return
    speed = shown["bytes"] / 1e6 / max(shown["seconds"], 0.001)
    for name, value in shown.items():
        if isinstance(value, dict):
            text = ", ".join(f"{count} {kind}" for kind, count in value.items()) or "-"
        else:
            text = "-" if value is None else f"{value:,}"
        print_line(f"{name.replace('_', ' '):19} {text}")
    print_line(f"{'speed':19} {speed:.1f} MB/s")


def work(
    stage: Annotated[str, typer.Argument(metavar="STAGE", help=", ".join(topology.STAGES))],
    bus: BusOption = None,
    state: StateOption = None,
    topic_prefix: PrefixOption = None,
    metrics_port: MetricsPortOption = None,
    dead_letter_limit: DeadLetterLimitOption = None,
    config: ConfigOption = None,
) -> None:
    """Run a stage."""
    found = settings(
        config, bus=bus, state=state, topic_prefix=topic_prefix, metrics_port=metrics_port,
        dead_letter_limit=dead_letter_limit,
    )  # fmt: skip
    if stage not in topology.STAGES:
        fail(f"work {stage}: the stages are {', '.join(topology.STAGES)}", 2)
    if found.bus.startswith("local:"):
        fail(
            "work: a local bus needs no workers, `reusewatch replay` runs the stages itself; for "
            "Kafka give --bus kafka://HOST:PORT",
            2,
        )
    with stopping() as stop:
        meters = Meters(stage, found.scheme.name)

        def trouble(text: str) -> None:
            meters.troubles.labels(stage).inc()
            say(text)

        opened = topology.open_bus(found, stop=stop, say=trouble)
        worker = topology.worker(
            stage, found, opened, meters, say, read_origin=origin_reader(found)
        )
        port = topology.PORTS[stage] if found.metrics_port is None else found.metrics_port
        health = Health(meters, found.metrics_host, port, worker)
        say(f"{stage}: at work on {found.bus}; http://{found.metrics_host}:{health.port}/metrics")
        try:
            worker.run(stop)
        finally:
            health.close()
    if stop.interrupted:
        raise typer.Exit(130)


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
