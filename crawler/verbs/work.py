"""The verb `work`: one stage on Kafka, until it is stopped."""

from __future__ import annotations

from typing import Annotated

import typer

from reusewatch.crawler.replaying.origins import origin_reader
from reusewatch.crawler.replaying.readable import Readable
from reusewatch.streams.console import fail, say
from reusewatch.streams.running import topology
from reusewatch.streams.running.metrics import Health, Meters
from reusewatch.streams.signals import stopping
from reusewatch.streams.verbs.options import (
    BusOption,
    ConfigOption,
    DeadLetterLimitOption,
    MetricsPortOption,
    PrefixOption,
    StateOption,
    settings,
)


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "work",
        help="Run a stage on Kafka until stopped.\n\n"
        "Example: reusewatch work index --bus kafka://127.0.0.1:9092 --state /var/lib/reusewatch",
    )(work)


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
        readable = Readable(found.archive_roots, topology.state_directory(found))
        read_origin = origin_reader(found.scheme, found.max_body_bytes, readable)
        worker = topology.worker(stage, found, opened, meters, say, read_origin=read_origin)
        port = topology.PORTS[stage] if found.metrics_port is None else found.metrics_port
        health = Health(meters, found.metrics_host, port, worker)
        say(f"{stage}: at work on {found.bus}; http://{found.metrics_host}:{health.port}/metrics")
        try:
            worker.run(stop)
        finally:
            health.close()
    if stop.interrupted:
        raise typer.Exit(130)
