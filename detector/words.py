"""The words of a page: maximal runs of letters and digits, case-folded (Fetterly et al., §3.2).

Markup is white space; the title comes first. A plain definition: fast only where a page is small.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str
from resiliparse.parse.html import HTMLTree

_WORD = re.compile(r"[^\W_]+")
EXCERPT = 300


@dataclass(frozen=True, slots=True)
class Text:
    """What a reader of the page sees."""

    title: str
    excerpt: str
    words: tuple[str, ...]


def words_of(text: str) -> list[str]:
    """The words of a text.

    >>> words_of("The cat's Hat_42")
    ['the', 'cat', 's', 'hat', '42']
    """
    return _WORD.findall(text.casefold())


def read(body: bytes, charset: str | None, *, html: bool) -> Text:
    """The text of a page."""
    decoded = bytes_to_str(body, charset or "utf-8").replace("\0", "")
    if not html:
        return _text("", decoded)
    tree = HTMLTree.parse(decoded)
    title = " ".join((tree.title or "").split())
    return _text(title, extract_plain_text(tree, preserve_formatting=True) or "")


def _text(title: str, text: str) -> Text:
    excerpt = " ".join(text[: 4 * EXCERPT].split())[:EXCERPT]
    return Text(title[:EXCERPT], excerpt, (*words_of(title), *words_of(text)))
