"""The verb `labels build`: known content, from wherever it is stored, into a label pack."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reusewatch.crawler.errors import SourceError
from reusewatch.crawler.labeling.packing import build_pack
from reusewatch.crawler.pages.archive_events import Limits
from reusewatch.crawler.verbs.seen_blocks import Seen, Wanted
from reusewatch.detector.labels.format import Label, Severity
from reusewatch.streams import kernels
from reusewatch.streams.console import fail, say
from reusewatch.streams.opening import open_bus
from reusewatch.streams.running.label_settings import stop_list
from reusewatch.streams.settings import Settings
from reusewatch.streams.url_sets import UrlSet
from reusewatch.streams.verbs.labels import show_summary
from reusewatch.streams.verbs.options import BUS, JsonOption, with_settings

_SEVERITIES: tuple[Severity, ...] = ("info", "warning", "critical")


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(help=_HELP)(build)


_HELP = (
    "Known content into a label pack: archives (WARC, ARC, WACZ), directories of HTML or text "
    "(DIR or DIR=URL), text files, other packs; with --from-bus what was crawled.\n\n"
    "Example: reusewatch labels build wikipedia dump-*.warc.gz -o wikipedia.pack"
)


@with_settings(*BUS, "chunks")
def build(
    settings: Settings,
    name: Annotated[str, typer.Argument(metavar="NAME")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="PACK")],
    sources: Annotated[list[str] | None, typer.Argument(metavar="SOURCE…")] = None,
    from_bus: Annotated[
        bool, typer.Option("--from-bus", help="What was crawled: the fingerprints on the bus.")
    ] = False,
    site: Annotated[
        str | None, typer.Option("--site", metavar="SITE", help="Of the bus only this site.")
    ] = None,
    under: Annotated[
        str | None,
        typer.Option("--under", metavar="PREFIX", help="Of the bus only URLs that begin so."),
    ] = None,
    source: Annotated[
        str, typer.Option("--source", metavar="TEXT", help="Where the content is from.")
    ] = "",
    note: Annotated[str, typer.Option("--note", metavar="TEXT")] = "",
    severity: Annotated[
        str, typer.Option("--severity", metavar="LEVEL", help=", ".join(_SEVERITIES))
    ] = "warning",
    home: Annotated[
        list[str] | None,
        typer.Option(
            "--home",
            metavar="SITE",
            help="Whose content it is: a domain, host or beginning of a URL; again for several. "
            "Pages there are never reported for this label.",
        ),
    ] = None,
    min_length: Annotated[
        int, typer.Option("--min-length", metavar="N", help="Chunks up to N characters are none.")
    ] = 100,
    urls: Annotated[
        Path | None,
        typer.Option("--urls", metavar="FILE", help="Of archives only these URLs, one a line."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Build a pack."""
    if severity not in _SEVERITIES:
        fail(f"--severity {severity}: there is {', '.join(_SEVERITIES)}", 2)
    try:
        homes = UrlSet(home or ()).names
        label = Label(
            name=name, source=source, note=note, severity=severity, homes=homes,
            longer_than=min_length,
        )  # fmt: skip
    except ValueError as error:
        fail(f"labels build: {error}", 2)
    if not sources and not from_bus:
        fail("labels build: name a source, or --from-bus for what was crawled", 2)
    if (site or under) and not from_bus:
        fail("labels build: --site and --under choose what is on the bus; give --from-bus", 2)
    listed = _urls(urls)
    kernels.prepare(say)
    seen = Seen(
        open_bus(settings, say=say), settings.scheme, settings.chunks, Wanted(site, under)
    )  # fmt: skip
    from reusewatch.streams.labels.matching import all_stop_chunks

    try:
        summary = build_pack(
            label, sources or (), output, scheme=settings.scheme, say=say, unit=settings.chunks,
            stops=all_stop_chunks(settings.scheme, stop_list(settings)), min_length=min_length,
            limits=Limits(max_body_bytes=settings.max_body_bytes), wanted=listed,
            more=seen if from_bus else None,
        )  # fmt: skip
    except KeyboardInterrupt:
        say(f"interrupted: {output} was not written")
        raise
    show_summary(summary, json=json)
    if damaged := summary["left_out"].get("damaged"):
        fail(f"{damaged} records were damaged and are not in the pack", 1)
    if not summary["files"] and not summary["distinct"]:
        fail(f"nothing was found to label: {output} is empty, and in force would flag nothing", 1)


def _urls(path: Path | None) -> frozenset[str] | None:
    if path is None:
        return None
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"--urls {path} cannot be read: {error}") from error
    return frozenset(line.strip() for line in lines if line.strip())
