"""Pages as the web has them, always the same: stored, and written by this Python itself.

`real_pages.tar.xz` holds 90 pages of four manuals, whose templates are by Docbook, Sphinx, Node's
own tool and XSLT: of PostgreSQL 15 (PostgreSQL Licence), Python 3.11 (PSF License), Node.js 20
(MIT) and libxslt 1.1 (MIT). Each one's licence stands in it, in `NAME/LICENSE.txt`. With them are
pages that `pydoc` writes about modules of the standard library, which differ between versions of
Python, and three with icons in SVG. What is installed on the machine plays no part.
"""

from __future__ import annotations

import argparse
import collections
import email
import gzip
import html
import http
import importlib
import inspect
import json
import logging
import pydoc
import re
import sysconfig
import tarfile
import typing
import unittest
import urllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

STORED = Path(__file__).with_suffix(".tar.xz")
_MODULES = (
    argparse, collections, email, gzip, http, importlib, inspect, json, logging, pydoc, sysconfig,
    tarfile, typing, unittest, urllib, zipfile,
)  # fmt: skip
ICONS = {
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


def real_pages() -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each page."""
    yield from _stored()
    for name, page in ICONS.items():
        yield name, page.encode()
    writer = pydoc.HTMLDoc()
    for module in _MODULES:
        yield module.__name__, writer.page(module.__name__, writer.docmodule(module)).encode()


def _stored() -> Iterator[tuple[str, bytes]]:
    with tarfile.open(STORED) as archive:
        for member in archive:
            if member.name.endswith(".html"):
                content = archive.extractfile(member)
                assert content is not None
                yield member.name, content.read()


def urls_of_links() -> list[str]:
    """Where the stored pages link to, on other hosts, each once."""
    links = {
        html.unescape(found.decode("utf-8", "replace"))
        for _, body in real_pages()
        for found in re.findall(rb'href="(https?://[^"]+)"', body)
    }
    return sorted(links)
