"""Text that no reader sees is no word; what a style makes a part of a line does not end one."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from resiliparse.parse.html import DOMNode, HTMLTree, NodeType

from reusewatch.detector.scanning import state
from reusewatch.detector.scanning.scan import Source, scan_batch
from tests.detector.helpers import blocks, scanned, words

_LONG = "<p>it shows more words than it hides, by far and any count"


def seen(page: str) -> str:
    """The words of a page that shows more than it hides."""
    return " ".join(words(page + _LONG)).removesuffix(" ".join(words(_LONG))).strip()


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("a<div hidden>x</div>b", "ab"),
        ("a<span style='display:none'>x y</span>b", "ab"),
        ("a<span style='visibility:hidden'>x</span>b", "a b"),
        ("a<b style=DISPLAY:NONE>x</b>b", "ab"),
        ("<p hidden>x<p>a", "a"),
        ("<ul><li hidden>x<li>a</ul>b", "a b"),
        ("<table><tr><td hidden>x<td>a<tr hidden><td>y<tr><td>b</table>", "a b"),
        ("<div><span hidden>x</div>a", "a"),
        ("<div hidden><div>x</div>y</div>a", "a"),
        ("<div hidden><p>x<div>y</div><br><img src=q>z</div>a", "a"),
        ("<b><i hidden>x</b>a", "a"),
        ("<dl><dt hidden>x<dd>a</dl>", "a"),
        ("<select><option hidden>x<option>a</select>", "a"),
        ("<a hidden>x<a>b</a>", "b"),
        ("<img hidden src=x>a<br hidden>b", "ab"),
        ("a<input style=display:none>b", "ab"),
        ("<textarea hidden>x</div></textarea>a", "a"),
        ("<svg style=display:none><text>x</svg>a", "a"),
        ("<svg hidden /><p>a", "a"),
        ("<div hidden><script>'</div>'</script>x</div>a", "a"),
        ("<div style='visibility:hidden'>x<i style='visibility:visible'>a</i></div>b", "a b"),
        ("<h2 hidden>x<h3>a</h3>", "a"),
        ("<title hidden>t</title>a", "t a"),
        # What is shown.
        ("<div hidden=until-found>a</div>", "a"),
        ("<div aria-hidden=true>a</div>", "a"),
        ("<details>a</details>", "a"),
        ("<div hidden style='display:block'>a</div>", "a"),
        ("<div style='display:none;display:block'>a</div>", "a"),
        ("<div style='display:none;display:var(--x)'>a</div>", "a"),
        ("<div style='display:block!important;display:none'>a</div>", "a"),
        ("<div style='display:none;all:unset'>a</div>", "a"),
        ("<div style='display:none;displa\\79:block'>a</div>", "a"),
        ("<div style='font-family:\";display:none;\"'>a</div>", "a"),
        ("<div style='background:url(;display:none;)'>a</div>", "a"),
        ("<div style='xdisplay:none'>a</div>", "a"),
        ("<div style='display:nonex'>a</div>", "a"),
        ("<div style='/*;display:none;*/color:red'>a</div>", "a"),
        # What is not.
        ("<div style='color:red;/**/ display /**/:none'>x</div>", ""),
        ("<div style='display&#58;none'>x</div>", ""),
        ("<div style='display:none ! important'>x</div>", ""),
        ("<div style='display:none!important;display:block'>x</div>", ""),
        ("<div style='display:none' style='display:block'>x</div>", ""),
        # What stands in a line.
        ("co<div style='display:inline'></div>py", "copy"),
        ("co<p style='display:inline'>p</p>y", "copy"),
        ("a<div style='display: inline-block'>b</div>c<div>d</div>e", "abc d e"),
        ("a<div style=display:inline>b<div>c</div>d</div>e", "ab c de"),
        ("a<span style=display:block>b<span>c</span>d</span>e", "a bcd e"),
    ],
)
def test_what_a_reader_sees(page: str, text: str) -> None:
    assert seen(page) == text


def test_a_page_that_hides_more_than_it_shows_is_read_with_what_it_hides() -> None:
    assert words("<body style='display:none'>one two three") == ["one", "two", "three"]
    assert words("<div hidden>one two three</div>four") == ["one", "two", "three", "four"]
    assert words("<div hidden>漢字</div>a") == ["漢", "字", "a"]
    assert words("<div hidden>one</div>two three") == ["two", "three"]


def test_blocks_are_those_that_are_shown() -> None:
    assert blocks("a<span style='display:block'>b</span>c") == [["a"], ["b"], ["c"]]
    assert blocks("a b c<div hidden>x</div>d") == [["a", "b", "cd"]]


@pytest.mark.parametrize(
    ("page", "hidden"),
    [
        ("<p>some <span hidden>one two</span> words of this", 2),
        ("<p>co<b hidden>x</b>py of this", 1),
        ("<ul hidden><li>one<li>two</ul><p>a page with a menu", 0),
        ("<td><span style='display:none'>007</span>seven cells of this", 0),
    ],
)
def test_words_that_are_hidden_in_a_line_are_counted(page: str, hidden: int) -> None:
    facts = scan_batch([Source(page.encode())], key=1).facts[0]
    assert facts[state.HIDDEN] == hidden


_TAGS = ("div", "span", "b", "p", "section", "ul")
_LOOKS = ("", "", "", " hidden", " style='display:none'", " style='color:red'", " title=hidden")


_INNER, _OF_A_LINE = _TAGS[:3], _TAGS[1:3]


@st.composite
def trees(
    draw: st.DrawFn, depth: int = 0, tags: tuple[str, ...] = _TAGS, line: bool = False
) -> str:
    """Sound HTML with elements that are hidden, at any place; every word once.

    `line`: in a paragraph, where no block stands within an element of a line: it would end both.
    """
    parts = []
    for _ in range(draw(st.integers(0, 4))):
        if depth < 4 and draw(st.booleans()):
            tag = draw(st.sampled_from(tags))
            below = _OF_A_LINE if line and tag in _OF_A_LINE else _INNER
            inner = draw(trees(depth=depth + 1, tags=below, line=line or tag == "p"))
            parts.append(f"<{tag}{draw(st.sampled_from(_LOOKS))}>{inner}</{tag}>")
        else:
            parts.append(draw(st.sampled_from([" w ", " x y ", "z"])))
    return "".join(parts)


@given(trees())
@example("<div hidden>w<div hidden>x</div></div>z")
def test_what_is_hidden_is_what_a_tree_says(page: str) -> None:
    long = "<p>" + " shown" * (4 * len(page) + 1)
    tree = HTMLTree.parse(f"<!doctype html><body>{page}{long}")
    assert tree.body
    parts: list[str] = []
    _walk(tree.body, parts)
    assert "".join(words(f"<!doctype html><body>{page}{long}")) == "".join("".join(parts).split())


def _walk(node: DOMNode, parts: list[str]) -> None:
    for child in node.child_nodes:
        if child.type == NodeType.TEXT:
            parts.append(child.text)
        elif not (child.hasattr("hidden") or re.search("display:none", child.getattr("style", ""))):
            _walk(child, parts)


_PIECES = (
    "<div hidden>",
    "</div>",
    "<b hidden>",
    "</b>",
    "<p hidden>",
    "</p>",
    "<li hidden>",
    "</ul>",
    "<div style='display:inline'>",
    "<td hidden>",
    "</table>",
    "<svg hidden>",
    "</svg>",
    "w ",
    "<p>",
    "<span style='visibility:hidden'>",
    "</span>",
    "<script>",
    "</script>",
    "<a hidden>",
)


@given(st.lists(st.sampled_from(_PIECES), max_size=30).map("".join))
def test_broken_markup_hides_in_linear_time_and_within_the_page(page: str) -> None:
    words(page)
    result = scanned(page)
    assert all(
        0 <= start < end <= len(page) for start, end in zip(result.starts, result.ends, strict=True)
    )
