"""The verbs of what was found, with pages read again where they came from."""

from __future__ import annotations

import typer

from reusewatch.streams.opening import state_directory
from reusewatch.streams.page_text import ReadOrigin
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs import alerts


def register(root: typer.Typer) -> None:
    """Add the verbs."""
    alerts.register(root, reader=_reader)


def _reader(settings: Settings) -> ReadOrigin:
    """Reads what was replayed from here: a bus may name any file of this machine."""
    from reusewatch.crawler.replaying.origins import origin_reader
    from reusewatch.crawler.replaying.readable import Readable

    readable = Readable(settings.archive_roots, state_directory(settings))
    return origin_reader(settings.scheme, settings.max_body_bytes, readable)
