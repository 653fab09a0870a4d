"""The scan's words on real pages are those of a real parser's tree.

On none of these does anything differ. On pages at large these do:

- text directly in a `table`, `select` or `frameset`: a tree moves or drops it, the scan keeps it
  where it stands;
- an end tag without its start tag: a tree ignores it, to the scan it ends a word or block;
- text deeper than a parser's limit, which a tree loses.
"""

from __future__ import annotations

from reusewatch.detector.scanning.readable import Readable, folded
from tests.detector.helpers import scanned
from tests.detector.scanning.twins import tree_words
from tests.real_pages import ICONS, real_pages

_STORED = 90


def test_words_are_those_of_the_tree() -> None:
    seen = []
    for name, page in real_pages():
        seen.append(name)
        assert title_and_text(page) == tree_words(page.decode("utf-8", "replace")), name
    assert len(seen) > _STORED + len(ICONS)


def title_and_text(page: bytes) -> tuple[list[str], list[str]]:
    """The words of a page's title, and of its text without those that stand in for images."""
    result = scanned(page)
    images = set(result.images.tolist())
    found = list(map(folded, Readable(result).words()[: result.text_tokens]))
    fields = result.fields.tolist()
    title = [word for word, field in zip(found, fields, strict=False) if field == 0]
    text = [word for index, word in enumerate(found) if fields[index] != 0 and index not in images]
    return title, text
