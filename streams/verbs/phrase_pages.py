"""The pages among which phrases are counted: all fingerprints that are on a bus, read once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from reusewatch.streams import topics
from reusewatch.streams.console import say
from reusewatch.streams.opening import bus_to_read
from reusewatch.streams.settings import Settings

if TYPE_CHECKING:
    from reusewatch.streams.blocks.for_phrases import PhrasePages

MOST_PAGES = 1_000_000
_TELL_PAGES = 100_000
PagesOption = Annotated[
    int,
    typer.Option("--pages", metavar="N", min=1, help="Of the bus the last N pages; 2 kB each."),
]


def read_phrase_pages(settings: Settings, most: int) -> PhrasePages:
    """Read them, and say how many there are. Unreachable where there is no bus."""
    from reusewatch.streams.blocks.for_phrases import PhraseColumns
    from reusewatch.streams.blocks.format import read_block

    columns = PhraseColumns(most)
    read = told = 0
    for message in bus_to_read(settings, say=say).read(topics.FINGERPRINTS):
        block = read_block(message, settings.scheme)
        columns.add(block)
        read += len(block)
        if read - told >= _TELL_PAGES:
            told = read
            say(f"{read:,} pages")
    pages = columns.pages()
    passed = columns.passed_over
    say(
        f"{read:,} fetches read: {len(pages):,} pages with words, each as it was fetched last"
        + (f"; {passed:,} older ones were passed over: raise --pages" if passed else "")
    )
    return pages
