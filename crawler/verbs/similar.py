"""The verb `similar`: pages of the window that are like one (Das et al.), for people and scripts.

The page is a file, standard input, or a URL of the window. What decided is told in words, where the
asked page is at hand or can be read again.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reusewatch.crawler.replaying.files import document_of_bytes, document_of_file
from reusewatch.detector.hashing import hex_of
from reusewatch.streams import kernels
from reusewatch.streams.console import fail, say
from reusewatch.streams.running.asking import Ask
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs.clusters import AtOption
from reusewatch.streams.verbs.listing import Asked, Listing, lists
from reusewatch.streams.verbs.options import BUS_AND_STATE, with_settings

if TYPE_CHECKING:
    from reusewatch.detector.hashing import HashScheme
    from reusewatch.detector.sketching.fingerprint import Document

_STDIN = "-"
_SHOWN = 6


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "similar",
        help="Pages of the window like this one, the most alike first, with the words that "
        "decided.\n\nExample: reusewatch similar page.html\n\n"
        "Example: reusewatch similar https://example.org/ --threshold 0.7 --json",
    )(similar)


@with_settings(*BUS_AND_STATE)
@lists(top=20)
def similar(
    settings: Settings,
    asked: Asked,
    page: Annotated[
        str, typer.Argument(metavar="PAGE", help="A file, - for standard input, or a URL.")
    ],
    threshold: Annotated[
        float, typer.Option("--threshold", metavar="T", help="Least weight overlapping.")
    ] = 0.75,
    at: AtOption = None,
) -> None:
    """Show pages like a given one."""
    question = {"threshold": str(threshold), "top": str(asked.top)}
    words: dict[str, str] = {}
    if page.startswith(("http://", "https://")):
        question["url"] = page
    else:
        kernels.prepare(say)
        sketches, words = _sketched(_document(page, settings.scheme), settings.scheme)
        if not sketches["terms"]:
            fail(f"{page}: there is no text in it", 2)
        question |= sketches
    (search,) = Ask(settings, "index", at, say)("similar", question).answers
    _say_search(search, threshold)
    for answer in search["answers"]:
        for term in answer["terms"]:
            term["word"] = words.get(term["term"])
    _SIMILAR.show(search["answers"], asked)


def _document(page: str, scheme: HashScheme) -> Document:
    if page == _STDIN:
        return document_of_bytes(sys.stdin.buffer.read(), Path(page), None, scheme)
    return document_of_file(Path(page), None, scheme)


def _sketched(document: Document, scheme: HashScheme) -> tuple[dict[str, str], dict[str, str]]:
    """What a page is asked with, and its terms' words by their hashes."""
    from reusewatch.detector.sketching.fingerprint import fingerprints
    from reusewatch.detector.sketching.term_words import words_of

    made = fingerprints([document], scheme).sketches
    terms = made.terms.hashes[0].tolist()
    numbers = {
        "terms": terms,
        "supershingles8": made.supershingles8[0].tolist(),
        "simhash": made.simhash[0].tolist(),
    }
    asked = {name: ",".join(map(hex_of, column)) for name, column in numbers.items()}
    asked["weights"] = ",".join(f"{weight:.9g}" for weight in made.terms.weights.tolist())
    words = words_of(document, scheme, terms)
    return asked, {hex_of(term): word for term, word in words.items()}


def _say_search(search: dict[str, Any], threshold: float) -> None:
    cut = search["unseen"] + search["cut"]
    say(
        f"{search['found']} of {search['pages']} pages reach {threshold:g}; compared: "
        f"{search['mezzanine']} of {search['candidates']} candidates"
        + (f"; {cut} were passed over, for they are too many: raise --threshold" if cut else "")
    )


def _page_and_terms(answer: dict[str, Any]) -> tuple[object, ...]:
    shown = ", ".join(
        f"{term['word'] or term['term']} {term['weight']:.3f}/{term['other']:.3f}"
        for term in answer["terms"][:_SHOWN]
    )
    return answer["url"], shown


_DECIDED = "page, and below it the terms that decided"
_SIMILAR = Listing(
    ("url", "mwo", "b", "c"),
    fold=(_DECIDED,),
    people=(
        ("MWO", lambda row: f"{row['mwo']:.3f}"),
        ("B", lambda row: "-" if row["b"] is None else row["b"]),
        ("C", lambda row: "-" if row["c"] is None else row["c"]),
        (_DECIDED, _page_and_terms),
    ),
)
