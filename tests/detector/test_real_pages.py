"""The scan's words on real pages are those of a real parser's tree.

Pages are Debian's `python3.11-doc` and `postgresql-doc-15` where installed (every eighth of about
1 700), else those that come with this Python's packages, else pages generated from its own source.
The test's name says which. On the Debian pages nothing differs. On pages at large these do:

- text directly in a `table`, `select` or `frameset`: a tree moves or drops it, the scan keeps it
  where it stands;
- an end tag without its start tag: a tree ignores it, to the scan it ends a word or block;
- text deeper than a parser's limit, which a tree loses.
"""

from __future__ import annotations

import gzip
import inspect
import pydoc
import sysconfig
import unittest
from collections.abc import Iterator
from pathlib import Path

import pytest

from detector.readable import Readable
from tests.detector.helpers import scanned
from tests.detector.scan_twins import tree_words

_DEBIAN = ("/usr/share/doc/python3.11/html", "/usr/share/doc/postgresql-doc-15/html")
_MODULES = (pydoc, inspect, unittest, gzip, sysconfig, pytest)


def _files() -> tuple[str, list[Path]]:
    found = [path for folder in _DEBIAN for path in sorted(Path(folder).rglob("*.html*"))]
    if found:
        return "Debian documentation", found[::8]
    packages = Path(sysconfig.get_paths()["purelib"])
    found = sorted(packages.rglob("*.html"))[:200]
    return "pages of installed packages", found


def real_pages() -> Iterator[tuple[str, bytes]]:
    for path in _files()[1]:
        data = path.read_bytes()
        yield path.name, gzip.decompress(data) if path.suffix == ".gz" else data
    writer = pydoc.HTMLDoc()
    for module in _MODULES:
        yield module.__name__, writer.page(module.__name__, writer.docmodule(module)).encode()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("corpus", [f"{_files()[0]} and pydoc"])
def test_words_are_those_of_the_tree(corpus: str) -> None:
    seen, differ = 0, []
    for name, page in real_pages():
        seen += 1
        result = scanned(page)
        images = set(result.images.tolist())
        found = Readable(result).words()[: result.text_tokens]
        fields = result.fields.tolist()
        title = [word for word, field in zip(found, fields, strict=False) if field == 0]
        text = [
            word for index, word in enumerate(found) if fields[index] != 0 and index not in images
        ]
        if (title, text) != tree_words(page.decode("utf-8", "replace")):
            differ.append(name)
    assert seen >= len(_MODULES), corpus
    assert len(differ) * 100 <= seen, f"{len(differ)} of {seen} pages differ: {differ[:20]}"
