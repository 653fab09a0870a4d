"""The verbs of what was found, with pages read again where they came from."""

from __future__ import annotations

import typer

from reusewatch.streams.opening import kafka_config, state_directory
from reusewatch.streams.page_text import ReadOrigin
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs import alerts


def register(root: typer.Typer) -> None:
    """Add the verbs."""
    alerts.register(root, reader=reader)


def reader(settings: Settings) -> ReadOrigin:
    """Reads what was replayed from here: a bus may name any file of this machine."""
    from reusewatch.crawler.replaying.origins import origin_reader
    from reusewatch.crawler.replaying.readable import Readable

    readable = Readable(settings.archive_roots, state_directory(settings))
    # A live page stands on the topic, which can be read from here as well.
    cluster = None if settings.bus.startswith("local:") else kafka_config(settings)
    return origin_reader(settings.scheme, settings.max_body_bytes, readable, cluster=cluster)
