"""The verb `labels propose-stops`: what of the window may be stop chunks, with what it says."""

from __future__ import annotations

from typing import Annotated

import typer

from reusewatch.crawler.replaying.origins import origin_reader
from reusewatch.crawler.replaying.readable import Readable
from reusewatch.detector.errors import BadPage
from reusewatch.streams import kernels
from reusewatch.streams.charsets import charset_of
from reusewatch.streams.console import print_line, say
from reusewatch.streams.opening import bus_to_read, state_directory
from reusewatch.streams.records import Origin
from reusewatch.streams.running.label_settings import stop_list
from reusewatch.streams.settings import Settings
from reusewatch.streams.stages.fingerprinting import ReadOrigin
from reusewatch.streams.verbs.listing import Asked, Listing, lists
from reusewatch.streams.verbs.options import BUS, with_settings


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("propose-stops", help=_HELP)(propose_stops)


_HELP = (
    "Short chunks on many sites, from the fingerprints that the bus holds: read them, and name the "
    "list that you keep with the setting stop_chunks.\n\n"
    "Example: reusewatch labels propose-stops --min-sites 50 --toml > stops.toml"
)


@with_settings(*BUS)
@lists(top=100)
def propose_stops(
    settings: Settings,
    asked: Asked,
    min_sites: Annotated[
        int, typer.Option("--min-sites", metavar="N", help="On so many sites at least.")
    ] = 100,
    max_length: Annotated[
        int, typer.Option("--max-length", metavar="N", help="Of so many characters at most.")
    ] = 200,
    toml: Annotated[
        bool, typer.Option("--toml", help="As a list that the setting stop_chunks takes.")
    ] = False,
) -> None:
    """Propose stop chunks."""
    opened = bus_to_read(settings)
    kernels.prepare(say)
    from reusewatch.streams.labels.matching import all_stop_chunks
    from reusewatch.streams.labels.proposing import as_list, stop_proposals

    read = origin_reader(
        settings.scheme,
        settings.max_body_bytes,
        Readable(settings.archive_roots, state_directory(settings)),
    )
    known = all_stop_chunks(settings.scheme, stop_list(settings))
    rows = list(
        stop_proposals(
            opened, settings.scheme, known, min_sites=min_sites, max_length=max_length,
            limit=asked.top, read_text=lambda origin: _body(read, origin),
        )
    )  # fmt: skip
    nothing = f"nothing on {settings.bus} is short and on {min_sites} sites"
    if toml:
        print_line(as_list(rows))
        if not rows:
            say(nothing)
        return
    columns = ("hash", "pages", "sites", "length", "text")
    Listing(columns, fold=("text",)).show(rows, asked, nothing)


def _body(read: ReadOrigin, origin: Origin) -> tuple[bytes, str] | None:
    try:
        page = read(origin)
    except (BadPage, OSError, ValueError):
        return None
    return page.body, charset_of(page)
