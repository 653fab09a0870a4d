"""The scan's words on real pages are those of a real parser's tree.

Pages are Debian's `python3.11-doc` and `postgresql-doc-15` where installed (every eighth of about
1 700), else those that come with this Python's packages. With them are pages generated from this
Python's own source, and three with icons in SVG. The test's name says which. On none of these does
anything differ. On pages at large these do:

- text directly in a `table`, `select` or `frameset`: a tree moves or drops it, the scan keeps it
  where it stands;
- an end tag without its start tag: a tree ignores it, to the scan it ends a word or block;
- text deeper than a parser's limit, which a tree loses.
"""

from __future__ import annotations

import argparse
import collections
import email
import gzip
import http
import importlib
import inspect
import json
import logging
import pydoc
import sysconfig
import tarfile
import typing
import unittest
import urllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from reusewatch.detector.scanning.readable import Readable
from tests.detector.helpers import scanned
from tests.detector.scanning.twins import tree_words

_DEBIAN = ("/usr/share/doc/python3.11/html", "/usr/share/doc/postgresql-doc-15/html")
_MODULES = (
    argparse, collections, email, gzip, http, importlib, inspect, json, logging, pydoc, pytest,
    sysconfig, tarfile, typing, unittest, urllib, zipfile,
)  # fmt: skip
_LEAST = 20
_ICONS = {
    "icons with titles": """<!doctype html><title>Lamps</title><body><nav><a href=/>Home
        <svg viewBox="0 0 24 24" role=img><title>house</title><desc>A house</desc>
        <path d="M3 12 12 3l9 9z"/></svg></a> <a href=/c>Ca<b>r</b>t<svg><title>cart</title><use
        href="#cart"/></svg></a></nav><p>Read <a href=m>more<svg><title>arrow</title></svg></a>
        about lamps.<p>And<svg><text>shown</text></svg>so on.""",
    "icons with styles": """<!doctype html><title>Lamps</title><body>
        <svg style="display:none"><defs><style>.a{fill:red}</style><symbol id=x><title>x</title>
        <path class=a d="M0 0"/></symbol></defs><metadata><rdf:RDF><dc:title>no</dc:title></rdf:RDF>
        </metadata></svg><h1>All <svg><style type="text/css"><![CDATA[.b > .c{}]]></style></svg>
        lamps</h1><p>One<svg><style/><script>if (a &lt; b) c();</script><g/></svg> lamp<p>last""",
    "icons left open": """<!doctype html><title>Lamps</title><body><p>First <svg><style></svg>
        lamp<p>Second <svg><style>.a{}<p>lamp</p><div>Third <svg><title>icon</svg> lamp</div>
        <template><svg><style></template><ul><li>a<li>b</ul><math><mi>x</mi><annotation
        encoding=tex>\\alpha</annotation></math><p>end""",
}  # fmt: skip


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
    for name, page in _ICONS.items():
        yield name, page.encode()
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
    assert seen >= _LEAST, corpus
    assert not _ICONS.keys() & set(differ), differ
    assert len(differ) * 100 <= seen, f"{len(differ)} of {seen} pages differ: {differ[:20]}"
