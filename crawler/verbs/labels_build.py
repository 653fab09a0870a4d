"""The verb `labels build`: known content, from wherever it is stored, into a label pack."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from reusewatch.crawler.errors import SourceError
from reusewatch.crawler.labeling.packing import Kept, build_pack
from reusewatch.crawler.pages.archive_events import Limits
from reusewatch.crawler.verbs.seen_blocks import Seen, Wanted
from reusewatch.detector.labels.format import Built, PackLabel
from reusewatch.streams import kernels
from reusewatch.streams.alert_kinds import SEVERITIES
from reusewatch.streams.console import fail, say
from reusewatch.streams.opening import bus_to_read, open_bus
from reusewatch.streams.running.label_settings import stop_list
from reusewatch.streams.settings import Settings
from reusewatch.streams.url_sets import UrlSet
from reusewatch.streams.verbs.labels import show_summary
from reusewatch.streams.verbs.options import BUS, JsonOption, with_settings

LEAST_GRAMS = 0.25
"""Of the grams: with less, copies of a few sentences are missed."""
MOST_LISTED = 10_000
"""URLs of a list that a pack names, so that it can be built again; of more it says nothing."""
# Sites that are suggested as homes, and from which share of the labeled paragraphs on.
_SITES_SAID = 3
_HOME_SHARE = 0.1


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
        str, typer.Option("--severity", metavar="LEVEL", help=", ".join(SEVERITIES))
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
    grams: Annotated[
        bool,
        typer.Option(
            "--grams/--no-grams",
            help="Keep the pages' grams, runs of five words, by which copies of single sentences "
            "are found: about 21 bytes each, one for every word.",
        ),
    ] = True,
    gram_share: Annotated[
        str,
        typer.Option(
            "--gram-share",
            metavar="SHARE",
            help="Of the grams only this share, 1/4 or more, for as much less of a pack; `all`.",
        ),
    ] = "all",
    places: Annotated[
        bool,
        typer.Option(
            "--places/--no-places",
            help="Keep where everything stood, so that alerts name the labeled page: 12 bytes a "
            "chunk, 10 a gram, and a row of about 100 a page. Without, the pack names no page, and "
            "none of its sources.",
        ),
    ] = True,
    json: JsonOption = False,
) -> None:
    """Build a pack."""
    kept = Kept(_share(gram_share) if grams else 0.0, places)
    if severity not in SEVERITIES:
        fail(f"--severity {severity}: there is {', '.join(SEVERITIES)}", 2)
    try:
        homes = UrlSet(home or ()).names
        label = PackLabel(
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
    if places and len(listed or ()) <= MOST_LISTED:
        built = Built(
            sources=tuple(sources or ()), unit=settings.chunks, from_bus=from_bus, site=site,
            under=under, gram_share=kept.gram_share,
            urls=None if listed is None else tuple(sorted(listed)),
        )  # fmt: skip
        label = msgspec.structs.replace(label, built=built)
    kernels.prepare(say)
    bus = (bus_to_read if from_bus else open_bus)(settings, say=say)
    seen = Seen(
        bus, settings.scheme, settings.chunks, Wanted(site, under)
    )  # fmt: skip
    from reusewatch.streams.labels.matching import all_stop_chunks

    try:
        summary = build_pack(
            label, sources or (), output, scheme=settings.scheme, say=say, unit=settings.chunks,
            stops=all_stop_chunks(settings.scheme, stop_list(settings)), min_length=min_length,
            limits=Limits(max_body_bytes=settings.max_body_bytes), wanted=listed,
            more=seen if from_bus else None, kept=kept,
        )  # fmt: skip
    except KeyboardInterrupt:
        say(f"interrupted: {output} was not written")
        raise
    summary["suggested_homes"] = [] if homes else _suggested(summary)
    show_summary(summary, json=json)
    _say_sample(summary, kept)
    if not json:
        _say_homes(name, summary)
    if damaged := summary["left_out"].get("damaged"):
        fail(f"{damaged} records were damaged and are not in the pack", 1)
    if not summary["files"] and not summary["distinct"]:
        fail(f"nothing was found to label: {output} is empty, and in force would flag nothing", 1)


def _share(text: str) -> float:
    """A share of the grams as users write it."""
    over, _, under = text.partition("/")
    try:
        share = 1.0 if text == "all" else float(over) / float(under or 1)
    except (ValueError, ZeroDivisionError):
        share = 0.0
    if not LEAST_GRAMS <= share <= 1:
        fail(f"--gram-share {text}: a share from 1/4 to 1, or all; --no-grams keeps none", 2)
    return share


def _say_sample(summary: dict[str, Any], kept: Kept) -> None:
    if 0 < summary["gram_share"] < kept.gram_share:
        say(f"build: the bus keeps {summary['gram_share']:g} of the grams of its pages, and so "
            'does the pack; replay with grams = "all", or build it of archives')  # fmt: skip
    elif kept.gram_share and summary["pages"] and not summary["grams"]:
        say('build: there are no grams: a replay with grams = "sampled" or "all" keeps some')


def _suggested(summary: dict[str, Any]) -> list[str]:
    """The sites that most of the labeled paragraphs are from, the first first."""
    least = _HOME_SHARE * summary["site_chunks"]
    found = [site for site, count in summary["sites"].items() if count and count >= least]
    return found[:_SITES_SAID]


def _say_homes(name: str, summary: dict[str, Any]) -> None:
    """Whose content it may be: that is for people to know, and is never taken silently."""
    sites, total = summary["sites"], summary["site_chunks"]
    if suggested := summary["suggested_homes"]:
        told = ", ".join(f"{site} ({sites[site]} of {total} paragraphs)" for site in suggested)
        say(f"build: most of it is from {told}. Where {name} is at home nothing should be "
            f"reported for it: if so, build it again with --home {suggested[0]}")  # fmt: skip


def _urls(path: Path | None) -> frozenset[str] | None:
    if path is None:
        return None
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"--urls {path} cannot be read: {error}") from error
    return frozenset(line.strip() for line in lines if line.strip())
