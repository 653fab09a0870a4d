"""The verb `crawl`: a small polite crawl onto the bus, for those who have no Scrapy project."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast
from urllib.parse import urlsplit

import typer

from reusewatch.crawler.errors import SourceError
from reusewatch.detector.errors import BadPage
from reusewatch.streams.console import fail, print_json, print_line, say
from reusewatch.streams.settings import Settings
from reusewatch.streams.signals import stopping
from reusewatch.streams.steering.rules import MODES
from reusewatch.streams.urls import place
from reusewatch.streams.verbs.options import BUS, JsonOption, Resolving, with_settings

if TYPE_CHECKING:
    from reusewatch.streams.steering.rules import Mode

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_LINE_SECONDS = 10.0
_SETTINGS = (*BUS, "workers", "dead_letter_limit")
_FLAGS = (*_SETTINGS, "config")


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "crawl",
        help="Crawl sites onto the bus; robots.txt is obeyed. For crawls of your own there is the "
        "Scrapy add-on.\n\nExample: reusewatch crawl https://example.org/ --contact me@example.net "
        "--limit-pages 100",
    )(crawl)


@with_settings(*_SETTINGS)
def crawl(
    ctx: typer.Context,
    resolving: Resolving,
    urls: Annotated[list[str], typer.Argument(metavar="URL…")],
    limit_pages: Annotated[
        int | None, typer.Option("--limit-pages", metavar="N", min=1, help="At most so many pages.")
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option("--depth", metavar="N", min=0, help="So many links deep."),
    ] = None,
    other_sites: Annotated[
        bool,
        typer.Option(
            "--other-sites/--same-site",
            help="Follow links to other sites, too: they get half of --limit-pages at most.",
        ),
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option("--sample", metavar="N", min=1, help="At most so many pages of each host."),
    ] = None,
    sitemaps: Annotated[
        bool, typer.Option("--sitemaps", help="Also the pages that the hosts' sitemaps name.")
    ] = False,
    delay: Annotated[
        float | None,
        typer.Option(
            "--delay", metavar="SECONDS", min=0, help="Between requests to a machine.  [default: 1]"
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            "--rate",
            metavar="N",
            min=0.001,
            help="Requests a second to a machine; beside --delay the slower of both holds.",
        ),
    ] = None,
    contact: Annotated[
        str | None,
        typer.Option(
            "--contact", metavar="MAIL|URL", help="Whom sites can write to, in the user agent."
        ),
    ] = None,
    user_agent: Annotated[
        str | None, typer.Option("--user-agent", metavar="TEXT", help="Who sites are told it is.")
    ] = None,
    allow_private: Annotated[
        bool,
        typer.Option("--allow-private", help="Also this machine and its network."),
    ] = False,
    allow_network: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-network",
            metavar="NET",
            help="Also this network, on all its ports: 10.1.0.0/16.",
        ),
    ] = None,
    warc: Annotated[
        Path | None,
        typer.Option("--warc", metavar="DIR", help="Keep what is fetched here, as WARC 1.1."),
    ] = None,
    job: Annotated[
        Path | None,
        typer.Option("--job", metavar="DIR", help="Note here where the crawl is, to go on later."),
    ] = None,
    steer: Annotated[
        str,
        typer.Option(
            "--steer", metavar="MODE", help="What is found keeps requests out: off, dry-run, on."
        ),
    ] = "off",
    log_level: Annotated[
        str, typer.Option("--log-level", metavar="LEVEL", help="Of Scrapy's log, on stderr.")
    ] = "WARNING",
    json: JsonOption = False,
) -> None:
    """Crawl sites."""
    found = resolving()
    settings = found.settings
    found.require_used(found.flags(), "crawl")
    from reusewatch.crawler.live.guard import EVERYWHERE
    from reusewatch.crawler.live.manners import Plan
    from reusewatch.crawler.live.running import run_crawl

    networks = EVERYWHERE if allow_private else tuple(allow_network or ())
    _check(urls, networks, settings)
    if log_level.upper() not in _LEVELS:
        fail(f"--log-level {log_level}: there is {', '.join(_LEVELS)}", 2)
    if steer not in MODES:
        fail(f"--steer {steer}: there is {', '.join(MODES)}", 2)
    _check_manners(urls, user_agent, contact)
    plan = Plan(
        tuple(urls), limit_pages, depth, other_sites, between_requests(delay, rate), user_agent,
        networks, log_level.upper(), contact, sitemaps, sample, warc, job, cast("Mode", steer),
    )  # fmt: skip
    if warc is not None:
        _keep(settings, warc)
    given = _as_scrapy(ctx.params)
    with stopping() as stop:
        try:
            outcome = run_crawl(plan, settings, given, stop=stop, progress=_progress())
        except KeyboardInterrupt:
            say("interrupted twice: what the bus had not taken is lost")
            raise
    _show(outcome.summary, json=json)
    for url, reason in outcome.not_fetched.items():
        say(f"reusewatch: {url} was not fetched: {reason}")
    if outcome.remark is not None:
        say(f"reusewatch: {outcome.remark}")
    if stop.interrupted:
        lost = f"{outcome.lost} responses were lost" if outcome.lost else "all before it is safe"
        say(f"interrupted; {lost}")
        raise typer.Exit(130)
    if dead := outcome.summary["dead_letters"]:
        say(f"{dead} responses are in the dead letters: see `reusewatch dead-letters`")
    if outcome.lost:
        say(f"reusewatch: {outcome.lost} responses were lost: the bus did not take them")
    if dead or outcome.not_fetched or outcome.lost:
        raise typer.Exit(1)


def _check(urls: list[str], networks: tuple[str, ...], settings: Settings) -> None:
    """Raise SourceError, or end with code 2, for what can be told to be wrong beforehand."""
    from reusewatch.crawler.live.guard import Fence, literal

    try:
        fence = Fence.of(networks)
    except ValueError as error:
        fail(f"--allow-network: {error}", 2)
    for url in urls:
        try:
            place(url, settings.scheme)
        except BadPage as error:
            raise SourceError(f"{url}: {error.detail}; a URL begins with https://") from error
        address = literal(urlsplit(url).hostname or "")
        if address is not None and not fence.lets(address):
            raise SourceError(
                f"{url} is on this machine or its network: --allow-private to crawl it, "
                f"--allow-network {address} to open no more than that"
            )


def between_requests(delay: float | None, rate: float | None) -> float:
    """The seconds between requests to a machine; of a delay and a rate the slower holds."""
    if rate is None:
        return 1.0 if delay is None else delay
    return max(1 / rate, delay or 0.0)


def _check_manners(urls: list[str], user_agent: str | None, contact: str | None) -> None:
    """End with code 2 where strangers could not tell anybody that they are bothered."""
    from reusewatch.crawler.live.guard import is_here
    from reusewatch.crawler.live.manners import says_whom_to_write_to

    if contact is not None and not says_whom_to_write_to(contact):
        fail(f"--contact {contact}: a mail address or the URL of a page is expected", 2)
    strangers = not all(is_here(urlsplit(url).hostname or "") for url in urls)
    if strangers and not says_whom_to_write_to(contact or user_agent or ""):
        fail(
            "sites must be able to write to somebody: --contact you@example.net, or the URL of a "
            "page that says what this crawl is (or a --user-agent that names one)",
            2,
        )


def _keep(settings: Settings, warc: Path) -> None:
    """Evidence may be read from what this crawl keeps."""
    from reusewatch.crawler.replaying.readable import Readable
    from reusewatch.streams.opening import state_directory

    readable = Readable(settings.archive_roots, state_directory(settings))
    readable.note(f"crawl --warc {warc.resolve()}", [str(warc)])


def _as_scrapy(given: Mapping[str, Any]) -> dict[str, Any]:
    """The flags by the names that the add-on reads."""
    flags = {name: str(given[name]) for name in _FLAGS if given[name]}
    return {f"REUSEWATCH_{name.upper()}": value for name, value in flags.items()}


def _progress() -> Callable[[Mapping[str, Any]], None]:
    """A line now and then, on stderr; more often at a terminal."""
    terminal = sys.stderr.isatty()
    next_at = time.monotonic() + (1.0 if terminal else _LINE_SECONDS)

    def progress(figures: Mapping[str, Any]) -> None:
        nonlocal next_at
        if time.monotonic() < next_at:
            return
        next_at = time.monotonic() + (1.0 if terminal else _LINE_SECONDS)
        text = f"{figures['responses']} responses, {figures['pages']} pages"
        if figures["alerts"] is not None:
            text += f", {figures['alerts']} alerts"
        say(text)

    return progress


def _show(summary: Mapping[str, Any], *, json: bool) -> None:
    if json:
        print_json(summary)
        return
    for name, value in summary.items():
        if isinstance(value, dict):
            text = ", ".join(f"{count} {kind}" for kind, count in value.items()) or "-"
        else:
            text = "-" if value is None else f"{value:,}"
        print_line(f"{name.replace('_', ' '):19} {text}")
