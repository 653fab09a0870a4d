"""The verb `phrases`: what many pages say in the same words, and hosts whose pages consist of it
(Fetterly et al. 2005, §3.3 and §3.5), computed over the fingerprints that are on the bus.

One page of each class of near-duplicates is counted. A phrase's words are read from one of the
pages that have it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from reusewatch.crawler.verbs.alerts import reader
from reusewatch.detector.hashing import hex_of
from reusewatch.streams import kernels
from reusewatch.streams.console import say
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs.listing import Asked, Listing, lists
from reusewatch.streams.verbs.options import BUS, with_settings
from reusewatch.streams.verbs.phrase_pages import MOST_PAGES, PagesOption, read_phrase_pages

if TYPE_CHECKING:
    from reusewatch.detector.phrases.popular import PopularShingles
    from reusewatch.streams.blocks.for_phrases import PhrasePages

_UNKNOWN = "(cannot be read again)"


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "phrases",
        help="Phrases of five words that many pages have, those of most pages first; with --hosts "
        "the hosts whose pages consist of such.\n\n"
        "Example: reusewatch phrases --top 50\n\nExample: reusewatch phrases --hosts --json",
    )(phrases)


@with_settings(*BUS)
@lists(top=20)
def phrases(
    settings: Settings,
    asked: Asked,
    hosts: Annotated[
        bool,
        typer.Option(
            "--hosts", help="Hosts of 10 pages and more with 30 popular phrases of 84 and more."
        ),
    ] = False,
    pages: PagesOption = MOST_PAGES,
) -> None:
    """Show popular phrases, or hosts that consist of them."""
    found = read_phrase_pages(settings, pages)
    from reusewatch.detector.phrases.classes import representatives
    from reusewatch.detector.phrases.popular import popular_shingles

    kept, _ = representatives(found.documents)
    popular = popular_shingles(found.documents, kept)
    say(f"{kept.size:,} classes of near-duplicates; {len(popular):,} popular shingles")
    if hosts:
        _HOSTS.show(_hosts(found, popular, found.documents.host[kept], asked.top), asked)
    else:
        _PHRASES.show(_phrases(settings, found, popular, asked.top), asked)


def _phrases(
    settings: Settings, pages: PhrasePages, found: PopularShingles, top: int
) -> list[dict[str, Any]]:
    kernels.prepare(say)
    from reusewatch.crawler.verbs.phrase_words import PhraseWords
    from reusewatch.detector.phrases.popular import popular_phrases
    from reusewatch.detector.sketching.shingles import inverses

    ranked = popular_phrases(found, inverses(settings.scheme), top=top)
    words = PhraseWords(pages, reader(settings), settings.scheme).of(ranked)
    if unknown := sum(one.hash not in words for one in ranked):
        say(f"the words of {unknown} are not known: no page that was tried can be read again")
    return [
        {"phrase": words.get(one.hash), "documents": one.documents, "sites": one.sites,
         "hash": hex_of(one.hash)}
        for one in ranked
    ]  # fmt: skip


def _hosts(pages: PhrasePages, found: PopularShingles, host: Any, top: int) -> list[dict[str, Any]]:
    from reusewatch.detector.phrases.hosts import phrase_hosts

    return [
        {"host": pages.host(one.host), "pages": one.pages, "mean": one.mean,
         "deviation": one.deviation, "alike": one.alike}
        for one in phrase_hosts(host, found.per_document)[:top]
    ]  # fmt: skip


_PHRASES = Listing(
    ("documents", "sites", "phrase"),
    fold=("phrase",),
    people=("documents", "sites", ("phrase", lambda row: row["phrase"] or _UNKNOWN)),
)
_HOSTS = Listing(
    (
        "pages", ("mean", lambda row: f"{row['mean']:.6g}"),
        ("deviation", lambda row: f"{row['deviation']:.6g}"), "alike", "host",
    ),
    fold=("host",),
    people=(
        "pages", ("mean", lambda row: f"{row['mean']:.1f}"),
        ("deviation", lambda row: f"{row['deviation']:.1f}"), "alike", "host",
    ),
)  # fmt: skip
