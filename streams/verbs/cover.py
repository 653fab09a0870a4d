"""The verb `cover`: the pages that together have the popular phrases of one (Fetterly et al. 2005,
§3.4), computed over the fingerprints that are on the bus.

Popular is what at least five pages have, one of each class of near-duplicates; the page itself
stands for its class, so no near-duplicate of it is a donor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from reusewatch.detector.errors import BadPage
from reusewatch.streams.console import at_terminal, fail, print_json, print_line, say
from reusewatch.streams.settings import Settings
from reusewatch.streams.urls import place
from reusewatch.streams.verbs.listing import Asked, Listing, lists, one_of
from reusewatch.streams.verbs.options import BUS, with_settings
from reusewatch.streams.verbs.phrase_pages import MOST_PAGES, PagesOption, read_phrase_pages

if TYPE_CHECKING:
    from reusewatch.detector.phrases.covering import Foreign
    from reusewatch.streams.blocks.for_phrases import PhrasePages

_FOREIGN: tuple[Foreign, ...] = ("domain", "ip", "none")


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "cover",
        help="Pages that together have the popular phrases of this one, those that have most "
        "first.\n\nExample: reusewatch cover https://example.org/ --foreign ip --json",
    )(cover)


@with_settings(*BUS)
@lists()
def cover(
    settings: Settings,
    asked: Asked,
    url: Annotated[str, typer.Argument(metavar="URL", help="A page whose fingerprint is on it.")],
    foreign: Annotated[
        str,
        typer.Option(
            "--foreign",
            metavar="domain|ip|none",
            help="Pages of the same domain, or address, only where no other has the phrase.",
        ),
    ] = "domain",
    pages: PagesOption = MOST_PAGES,
) -> None:
    """Show a covering set."""
    one_of("--foreign", foreign, _FOREIGN)
    try:
        page = int(place(url, settings.scheme).page_id, 16)
    except BadPage as error:
        fail(f"{url}: {error.detail}", 2)
    found = read_phrase_pages(settings, pages)
    at = found.row_of(page)
    if at is None:
        fail(f"{url}: no such page is on the bus; it left, never came, or has no words", 2)
    told = _covered(found, at, cast("Foreign", foreign))
    if asked.json:
        print_json(told)
        return
    if at_terminal() and not asked.csv:
        print_line(
            f"{told['popular_shingles']} of 84 phrases are popular; {told['size']} pages have "
            f"them, {told['foreign']} of them foreign ones"
        )
    Listing(("count", "foreign", "url"), fold=("url",)).show(told["donors"], asked)


def _covered(pages: PhrasePages, at: int, foreign: Foreign) -> dict[str, Any]:
    from reusewatch.detector.phrases.classes import representatives
    from reusewatch.detector.phrases.covering import covering_set, foreign_to

    documents = pages.documents
    kept, _ = representatives(documents, at)
    say(f"{kept.size:,} classes of near-duplicates")
    others = kept[kept != at]
    is_foreign = foreign_to(documents, at, foreign)
    found = covering_set(documents, at, others, is_foreign, prefer=foreign != "none")
    donors = []
    for donor in found.donors:
        facts = pages.facts(donor.row)
        donors.append(
            {"url": facts.url, "count": donor.count, "shared": donor.shared,
             "site": facts.site, "foreign": donor.foreign}
        )  # fmt: skip
    return {
        "url": pages.facts(at).url,
        "size": len(donors),
        "popular_shingles": found.popular,
        "foreign": found.foreign,
        "donors": donors,
    }
