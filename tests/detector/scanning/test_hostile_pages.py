"""Any bytes are scanned: no exception, offsets in range and in order, no write out of bounds."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reusewatch.detector.scanning.readable import Readable, folded
from reusewatch.detector.scanning.scan import Scan, ScanLimits, scan
from tests.detector.helpers import words
from tests.detector.scanning.hostile_rows import ROWS, row
from tests.detector.scanning.twins import tree_words

_PIECES = [
    "a", "b1", "é", "ß", " ", "\n", "漢", "\u00ad", "x\u0301", "\0", "<", ">", "/", "=", "-", "--",
    "!", "'", '"', "&", ";", "#", "<b>", "</b>", "<i x=y>", "<p>", "<br>", "</br>", "<hr>", "<wbr>",
    "<!-- c -->", "<!--", "-->", "<!-->", "<!--->", "--!>", "<!---!>", "<!x>", "<?pi?>", "</ >",
    "</>", "</3>", "<3", "&amp;", "&amp", "&eacute;", "&eacutex", "&notit;", "&#65;", "&#x42",
    "&#128;", "&#0;", "&#;", "<script>", "</script>", "<script", "<style>", "</style>", "</style ",
    "<textarea>", "</textarea>", "<xmp>", "</xmp>", "<noscript>", "</noscript>", "<iframe>",
    "</iframe>", "<a href='x", "'>", '<a b="', "<a =x>", "<a/b/>", "<span a='1'b=\"2\">", "<q>",
    "<img src=x>", "<input>", "<![CDATA[", "]]>", "<template>", "</template>", "<!-", "</", "</sty",
    "<sCRipt>", "</SCRIPT>", "<title>", "</title>", "<em", "<li>", "<h1>", "<pre>", "<noembed>",
    "</noembed>", "<svg>", "</svg>", "<math>", "<table>", "</table>", "<td>", "<plaintext>",
    "<meta name=keywords content='a b'>", "<base href='//x/'>", "<link rel=canonical href=x>",
]  # fmt: skip
# A stray end tag ends a word here, and is nothing to a tree; a table's parts are moved by one.
_TREE_LIKE = [
    piece for piece in _PIECES
    if piece not in ("<svg>", "</svg>", "<math>", "<table>", "</table>", "<td>", "x\u0301")
]  # fmt: skip
# SVG and MathML. Left out is an element that ends with another that the scan does not keep: with
# a `g`, with HTML that is open in a title, with an unknown element around the SVG.
_FOREIGN = [
    "a", "b1", "c ", "&lt;", "<g>", "<text>d</text>", "<!-- c -->", "<p>", "<b>", "<span>",
    "<svg>", "</svg>", "<svg/>", "<svg a=b/>", "<math>", "</math>", "<style>", "</style>",
    "<style/>", "<style a=b/>", "<script>", "</script>", "<title>d</title>", "<title>d</svg>",
    "<title><p>d</p></title>", "<title><style></title></style>d</title>", "<title/>", "</title>",
    "<template>", "</template>", "<textarea>d</textarea>", "<xmp>", "<iframe>", "</iframe>",
    "<noembed>", "</noembed>", "<noframes>", "</noframes>", "<svg><foreignObject><p>d</p><svg>",
    "<svg><foreignObject><style><g></style></foreignObject>",
    "<svg><foreignObject><p><svg><style></svg>d</p></foreignObject>",
    "<svg><metadata>", "<metadata>d</metadata>", "<desc>d</desc>",
    "<math><annotation>", "<annotation>d</annotation>", "<mi>e</mi>", "<mi><p>e</p></mi>",
    "<svg><style>", "<svg><title>d</title>", "<template><svg><style>",
]  # fmt: skip
# The scan knows ten open elements of these.
_NESTING = re.compile(
    "<(?:svg|math|template|style|script|iframe|no|foreign|meta|anno|title|desc|mi)"
)

_foreign_soup = (
    st.lists(st.sampled_from(_FOREIGN), max_size=12)
    .map("".join)
    .filter(lambda soup: len(_NESTING.findall(soup)) < 10)
)
_soup = st.lists(st.sampled_from(_PIECES), max_size=25).map("".join)


def check(page: bytes, result: Scan) -> None:
    """What holds of every scan."""
    size = len(page)
    text = result.text_tokens
    assert 0 <= text <= len(result.hashes)
    starts, ends = result.starts.astype(np.int64), result.ends.astype(np.int64)
    assert np.all(starts < ends)
    assert np.all(starts >= 0)
    assert np.all(ends <= size)
    blocks = result.blocks[:text]
    assert np.all(blocks >= 0)
    assert np.all(np.diff(blocks) >= 0)
    assert set(blocks.tolist()) == set(range(len(result.block_starts)))
    assert np.all(result.blocks[text:] == -1)
    in_body = result.fields[:text] != 0
    assert np.all(starts[:text][in_body][1:] >= ends[:text][in_body][:-1])
    assert np.all(result.block_starts[blocks] <= starts[:text])
    assert np.all(result.block_ends[blocks] >= ends[:text])
    if len(result.links):
        assert np.all(result.links[:, [0, 2]] <= result.links[:, [1, 3]])
        assert result.links.min() >= 0
        assert result.links.max() <= size
    assert np.all(result.images < text)


@given(st.one_of(st.binary(max_size=300), _soup.map(lambda text: text.encode())), st.booleans())
@example(b"<", True)
@example(b"<a href=", True)
@example(b"<img src=&nGt;&nGt;&nGt;&nGt;>", True)
@example(b"&#", True)
@example(b"\xef\xbb\xbf<p>\xe6\xbc", True)
def test_any_bytes(page: bytes, html: bool) -> None:
    result = scan(page, key=1, host="x", site="x", html=html)
    check(page, result)
    readable = Readable(result)
    assert len(readable.words()) == len(result.hashes)
    assert len(readable.links()) == len(result.links)


@given(_soup)
def test_words_are_what_was_hashed(page: str) -> None:
    words(page)


@given(_soup, st.integers(1, 6), st.integers(1, 3), st.integers(1, 2), st.integers(1, 80))
def test_limits_keep_a_beginning(
    page: str, tokens: int, blocks: int, links: int, size: int
) -> None:
    data = page.encode()
    limits = ScanLimits(tokens, blocks, links, size)
    result, whole = scan(data, key=1, limits=limits), scan(data[:size], key=1)
    assert len(result.hashes) == min(tokens, len(whole.hashes))
    assert result.lost.tokens == len(whole.hashes) - len(result.hashes)
    assert len(result.links) == min(links, len(whole.links))
    assert result.lost.bytes == max(0, len(data) - size)
    assert len(result.block_starts) <= blocks


@given(_soup)
def test_what_comes_later_changes_no_token_before(page: str) -> None:
    data = page.encode()
    closed = b"</title></textarea></xmp><p>"
    one, two = scan(data + closed, key=1), scan(data + closed + b"z <p> y", key=1)
    text = one.text_tokens
    # Meta content stands behind the text.
    assert one.hashes[:text].tolist() == two.hashes[:text].tolist()


@given(
    st.one_of(
        st.lists(st.sampled_from(_TREE_LIKE), max_size=12).map("".join),
        st.tuples(st.sampled_from(["", "<svg>", "<math>"]), _foreign_soup).map("".join),
    )
)
@example("<script><!--<script>a</script>b--></script>c")
@example("<svg><style></svg>a")
@example("<em<script>&eacute;</script>")
def test_soup_has_the_letters_of_a_real_parsers_tree(soup: str) -> None:
    page = "<!doctype html><body>" + soup
    _, expected = tree_words(page)
    result = scan(page.encode(), key=1)
    found = Readable(result).words()
    images = set(result.images.tolist())
    mine = [
        folded(word)
        for index, word in enumerate(found[: result.text_tokens])
        if index not in images and result.fields[index] != 0
    ]
    assert "".join(mine) == "".join(expected)


@pytest.mark.parametrize("name", ROWS)
def test_hostile_rows(name: str) -> None:
    page = row(name, 20_000)
    check(page, scan(page, key=1, host="x", site="x"))


def test_nothing_is_read_or_written_out_of_bounds(tmp_path: Path) -> None:
    """The same kernels with every index checked: hostile rows, soup, every cut of a page."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.detector.scanning.bounds_run"],
        env={
            **os.environ,
            "NUMBA_BOUNDSCHECK": "1",
            "NUMBA_OPT": "1",  # most of its time is compiling
            "NUMBA_CACHE_DIR": str(tmp_path),
            "PYTHONPATH": str(Path.cwd()),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip() == "in bounds"
