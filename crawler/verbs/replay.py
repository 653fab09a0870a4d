"""The verb `replay`: archives and trees onto the bus, with progress, and a summary at the end."""

from __future__ import annotations

import gc
import os
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from threading import Event
from typing import Annotated, Any

import msgspec
import typer
import xxhash

from reusewatch.crawler.pages.archive_events import Limits
from reusewatch.crawler.replaying.cursors import Cursor, Cursors
from reusewatch.crawler.replaying.done import Done, forget
from reusewatch.crawler.replaying.jobs import Job, Reader, job_of
from reusewatch.crawler.replaying.origins import origin_reader
from reusewatch.crawler.replaying.readable import Readable
from reusewatch.crawler.replaying.replay import Interrupted, run_replay, summary
from reusewatch.crawler.verbs.replay_progress import ReplayProgress
from reusewatch.streams.console import fail, print_json, print_line, say
from reusewatch.streams.extras import needed_for
from reusewatch.streams.local import LocalBus
from reusewatch.streams.local.judged import read_judged
from reusewatch.streams.local.spools import is_locked, unjudged
from reusewatch.streams.opening import open_bus, state_directory
from reusewatch.streams.running.label_settings import label_store
from reusewatch.streams.running.sinks import open_sink
from reusewatch.streams.settings import Settings
from reusewatch.streams.signals import stopping
from reusewatch.streams.verbs.options import BUS_AND_STATE, JsonOption, Resolving, with_settings

# How a replay runs, which makes no difference to what it finds.
_HOW = ("bus", "workers", "metrics_port", "metrics_host", "commit_seconds", "snapshot_seconds")


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "replay",
        help="Archives, directories or globs onto the bus; - is stdin.\n\n"
        "Example: reusewatch replay crawl-*.warc.gz --workers 2",
    )(replay)


@with_settings(*BUS_AND_STATE, "workers", "metrics_port", "dead_letter_limit")
def replay(
    ctx: typer.Context,
    resolving: Resolving,
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
        bool,
        typer.Option(
            "--restart",
            help="Begin again where a replay was interrupted; and with an empty bus, where a local "
            "one is damaged or lacks a part.",
        ),
    ] = False,
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="Also archives that were replayed onto this local bus before, and have not "
            "changed, nor have settings and labels.",
        ),
    ] = False,
    follow_links: Annotated[
        bool, typer.Option("--follow-links", help="Also files that links in a tree lead out to.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Replay archives."""
    found = resolving()
    settings = found.settings
    found.require_used(found.flags(), "replay")
    cursors = _cursors(settings)
    with stopping() as stop:
        reader = Reader(
            settings.scheme, Limits(max_body_bytes=settings.max_body_bytes),
            dead_letter_limit=settings.dead_letter_limit, follow_links=follow_links,
            stop=stop.is_set, trust_dates=settings.trust_dates,
        )  # fmt: skip
        job = job_of(
            paths or [], tree or [], follow, reader=reader, settle_seconds=settle_seconds, stop=stop
        )
        if restart:
            _begin_anew(settings)
            cursors.clear(job.name)
            forget(state_directory(settings))
        elif (before := cursors.load(job.name)) is not None:
            say(f"going on after {before.tally.records} records; --restart begins again")
        try:
            cursor = _run(settings, job, cursors, stop, again=again)
        except Interrupted as interrupted:
            say(f"interrupted in {interrupted}; all before it is safe, run it again to go on")
            raise typer.Exit(130) from None
    _show_summary(cursor, json=json)
    if cursor.known:
        known = "1 archive was" if cursor.known == 1 else f"{cursor.known} archives were"
        say(f"{known} replayed before, unchanged since; --again also reads what was")
    if waiting := _waiting(settings):
        say(waiting)
    if not allow_damaged and (cursor.tally.damaged or cursor.tally.dead_letters):
        bus_flag = f" --bus {settings.bus}" if ctx.params["bus"] else ""
        fail(
            f"{cursor.tally.dead_letters} in the dead letters: `reusewatch dead-letters{bus_flag}` "
            "lists them; --allow-damaged if that is expected",
            1,
        )


def _waiting(settings: Settings) -> str | None:
    """What crawls have brought onto a local bus, and nobody judges."""
    directory = state_directory(settings)
    if not settings.bus.startswith("local:") or is_locked(directory):
        return None
    waiting = [spool.name for spool in unjudged(directory, read_judged(directory).spools)]
    by_hand = f"`reusewatch work local --bus {settings.bus}`"
    return f"pages of {len(waiting)} crawls are not judged yet: {by_hand}" if waiting else None


def _begin_anew(settings: Settings) -> None:
    if settings.bus.startswith("local:"):
        with needed_for(f"a local bus ({settings.bus})"):
            from reusewatch.streams.running.set_aside import begin_anew

        begin_anew(settings, say)


def _run(settings: Settings, job: Job, cursors: Cursors, stop: Event, *, again: bool) -> Cursor:
    readable = Readable(settings.archive_roots, state_directory(settings))
    readable.note(job.name, job.files)
    read_origin = origin_reader(settings.scheme, settings.max_body_bytes, readable)
    sink = open_sink(settings, read_origin=read_origin, stop=stop, say=say)
    # What is loaded by now stays: no collection has to look through it again.
    gc.freeze()
    with closing(ReplayProgress()) as progress:
        return run_replay(
            sink, job, cursors, stop=stop, checkpoint_seconds=settings.commit_seconds,
            progress=progress, done=None if again else _done(settings),
        )  # fmt: skip


def _done(settings: Settings) -> Done | None:
    """What was replayed before: known of a local bus, which is all that its pages come to."""
    bus = open_bus(settings)
    if not isinstance(bus, LocalBus):
        return None
    return Done(state_directory(settings), bus, lambda: _under(settings))


def _under(settings: Settings) -> str:
    """What pages are judged under: this version, the settings, and the labels in force."""
    said = {name: value for name, value in msgspec.structs.asdict(settings).items()
            if name not in _HOW}  # fmt: skip
    labels = label_store(settings).stamp()
    stops = os.stat(settings.stop_chunks).st_mtime_ns if settings.stop_chunks else 0
    text = f"{version('reusewatch')} {sorted(said.items())} {labels} {stops}"
    return xxhash.xxh3_128_hexdigest(text.encode("utf-8", "backslashreplace"))


def _cursors(settings: Settings) -> Cursors:
    """How far replays onto this bus came. What is safe on one cluster is not on another."""
    local = settings.bus.startswith("local:")
    name = "" if local else f"{settings.bus} {settings.topic_prefix}"
    bus = open_bus(settings) if local else None
    return Cursors(state_directory(settings), name, bus if isinstance(bus, LocalBus) else None)


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
