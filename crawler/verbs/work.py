"""The verb `work`: one stage on Kafka, until it is stopped; or the judge of a local bus."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, cast

import typer

from reusewatch.streams.console import fail, say
from reusewatch.streams.opening import kafka_config, open_bus, state_directory
from reusewatch.streams.running.stage_names import JUDGES, LOCAL, PORTS, STAGES
from reusewatch.streams.settings import Part, Settings
from reusewatch.streams.signals import Stop, stopping
from reusewatch.streams.verbs.options import BUS_AND_STATE, Resolving, with_settings

if TYPE_CHECKING:
    from reusewatch.streams.running.news import WorkerLog


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "work",
        help="Run a stage on Kafka until stopped. `work local` judges what crawls brought onto a "
        "local bus, until nothing is left; a crawl starts it by itself.\n\n"
        "Example: reusewatch work index --bus kafka://127.0.0.1:9092 --state /var/lib/reusewatch",
    )(work)


@with_settings(*BUS_AND_STATE, "metrics_port", "log_format", "dead_letter_limit", "workers")
def work(
    resolving: Resolving,
    stage: Annotated[
        str,
        typer.Argument(
            metavar="STAGE", help=", ".join((*STAGES, LOCAL)),
            autocompletion=lambda: [*STAGES, LOCAL],
        ),
    ],
) -> None:  # fmt: skip
    """Run a stage."""
    found = resolving()
    settings = found.settings
    if stage not in (*STAGES, LOCAL):
        fail(f"work {stage}: the stages are {', '.join(STAGES)}; {LOCAL} is for a local bus", 2)
    local = settings.bus.startswith("local:")
    if local and stage != LOCAL:
        fail(
            "work: a local bus needs no workers: `reusewatch replay` runs the stages itself, and "
            "crawls start `reusewatch work local`; for Kafka give --bus kafka://HOST:PORT",
            2,
        )
    if stage == LOCAL and not local:
        fail(f"work {LOCAL}: {settings.bus} is no local bus; --bus local:DIR names one", 2)
    if not local:
        found.require_used(found.flags(), cast("Part", stage))
    with stopping() as stop:
        _work(stage, settings, stop, _judge if local else _run)
    if stop.interrupted:
        raise typer.Exit(130)


def _judge(stage: str, settings: Settings, stop: Stop, log: WorkerLog) -> None:
    """Judge what is in the spools of a local bus."""
    from reusewatch.crawler.replaying.origins import origin_reader
    from reusewatch.crawler.replaying.readable import Readable
    from reusewatch.streams.local import LocalBus
    from reusewatch.streams.running.local_sink import LocalSink
    from reusewatch.streams.running.spool_judge import SpoolJudge

    directory = state_directory(settings)
    readable = Readable(settings.archive_roots, directory)
    read_origin = origin_reader(settings.scheme, settings.max_body_bytes, readable)
    sink = LocalSink(
        LocalBus(directory), settings, read_origin=read_origin, say=log.trouble, does=JUDGES
    )
    judge = SpoolJudge(
        sink, directory, keep=settings.kept_pages, commit_seconds=settings.commit_seconds,
        say=log.trouble,
    )  # fmt: skip
    log.tell("started", f"at work on {settings.bus}", bus=settings.bus)
    try:
        judge.run(stop)
    except BaseException:
        judge.abandon()
        raise
    judge.close()


def _work(
    stage: str,
    settings: Settings,
    stop: Stop,
    run: Callable[[str, Settings, Stop, WorkerLog], None],
) -> None:
    """Work, and say what changes."""
    from reusewatch.crawler.exit_codes import code_of
    from reusewatch.streams.running.news import WorkerLog

    log = WorkerLog(stage, settings.log_format, say)
    # The client warns of each attempt of an outage, which is told when it begins and ends.
    logging.getLogger("kafka").addHandler(logging.NullHandler())
    try:
        run(stage, settings, stop, log)
    except Exception as error:
        code = code_of(error)
        if code is None:
            raise
        log.tell("stopping", f"stopping: {error}", level="error", why=str(error), code=code)
        raise typer.Exit(code) from error
    log.tell("stopped", "stopped: all that was done is committed")


def _run(stage: str, settings: Settings, stop: Stop, log: WorkerLog) -> None:
    from reusewatch.crawler.replaying.origins import origin_reader
    from reusewatch.crawler.replaying.readable import Readable
    from reusewatch.streams.running import topology
    from reusewatch.streams.running.metrics import Meters
    from reusewatch.streams.running.prefix_answers import PrefixAnswers
    from reusewatch.streams.running.serving import Health

    meters = Meters(stage, settings.scheme.name)

    def trouble(text: str) -> None:
        meters.troubles.labels(stage).inc()
        log.trouble(text)

    def away(text: str) -> None:
        meters.troubles.labels(stage).inc()
        log.away(text)

    # Of a block each column is compressed; of what others send nothing is.
    packed = stage == "fingerprint"
    opened = open_bus(
        settings, stop=stop, say=trouble, away=away, back=log.back, packed=packed
    )  # fmt: skip
    readable = Readable(settings.archive_roots, state_directory(settings))
    read_origin = origin_reader(
        settings.scheme, settings.max_body_bytes, readable, cluster=kafka_config(settings)
    )
    worker = topology.worker(stage, settings, opened, meters, log, read_origin=read_origin)
    port = PORTS[stage] if settings.metrics_port is None else settings.metrics_port
    prefixes = PrefixAnswers(lambda stop: open_bus(settings, stop=stop), log.trouble)
    health = Health(
        meters, settings.metrics_host, port, worker, prefixes=prefixes,
        question_hosts=settings.question_hosts,
    )  # fmt: skip
    where = f"http://{settings.metrics_host}:{health.port}/metrics"
    log.tell("started", f"at work on {settings.bus}; {where}", bus=settings.bus, metrics=where)
    try:
        worker.run(stop, lambda: stop.why)
    finally:
        health.close()
