"""Brute-force twins of the scan, from the definitions: plain Python over a real parser's tree."""

from __future__ import annotations

from functools import cache

from resiliparse.parse.html import DOMNode, HTMLTree, NodeType

from reusewatch.detector.scanning.tables import spans_of
from tests.detector.scanning.assigned import ASSIGNED
from tests.detector.scanning.make_unicode_tables import folded_of, kind_of, markless

# Not the scan's own lists: what no browser shows, and what shows as a gap in a line of text.
_HIDDEN = {
    "datalist", "head", "iframe", "noembed", "noframes", "script", "style", "template", "title",
}  # fmt: skip
_HIDDEN_IN_FOREIGN = _HIDDEN | {"annotation", "annotation-xml", "desc", "metadata"}
_APART = """
address applet article aside audio blockquote body br button canvas caption center col colgroup dd
details dialog dir div dl dt embed fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6
header hgroup hr html image img input keygen legend li listing main marquee math menu meter nav
object ol optgroup option output p plaintext pre progress q rb rp rt rtc search section select
summary svg table tbody td textarea tfoot th thead tr ul video xmp
"""
_NAMES_APART = frozenset(_APART.split())
# What stands between the texts of two nodes. None of these is alphanumeric.
GAP = "\x1f"


@cache
def _kind(character: str) -> str:
    if character == "\0":
        return "ignored"
    # What came with a later Unicode version is in no word, under no Python.
    return kind_of(character) if assigned()[ord(character)] else "apart"


@cache
def assigned() -> list[bool]:
    """Of each code point: whether the Unicode version of our tables has a character there."""
    known = [False] * 0x110000
    for span in spans_of(ASSIGNED):
        known[span] = [True] * (span.stop - span.start)
    return known


def words_of(text: str) -> list[str]:
    """The tokens of a text as they are hashed, by `unicodedata`, a character at a time."""
    words: list[str] = []
    word, single = "", False
    for character in text:
        kind = _kind(character)
        if kind == "ignored" or (kind == "mark" and not word):
            continue
        if kind == "mark":
            word += character
            continue
        if word and (kind != "word" or single):
            words.append(word)
            word = ""
        if kind != "apart":
            word += character
            single = kind == "single"
    if word:
        words.append(word)
    return [_folded(word) for word in words]


def _folded(word: str) -> str:
    """Compatibility forms, case and look-alikes folded; marks only where a script needs them."""
    found, marks_count = "", False
    for character in word:
        if _kind(character) != "mark":
            marks_count = not markless(character)
        elif not marks_count:
            continue
        found += folded_of(character)
    return found


def tree_words(html: str) -> tuple[list[str], list[str]]:
    """(title, text) of a page as tokens, by a real parser's tree and the rules of elements."""
    tree = HTMLTree.parse(html)
    parts: list[str] = []
    if tree.document:
        _walk(tree.document, parts)
    return words_of(tree.title or ""), words_of("".join(parts))


def _walk(root: DOMNode, parts: list[str]) -> None:
    # By hand: pages are deeper than Python's stack.
    stack: list[tuple[DOMNode | str, str]] = [(root, "")]
    while stack:
        node, foreign = stack.pop()
        if isinstance(node, str):
            parts.append(node)
        elif node.type == NodeType.TEXT:
            parts.append(node.text)
        elif node.type in (NodeType.ELEMENT, NodeType.DOCUMENT):
            name = (node.tag or "").lower()
            if name in (_HIDDEN_IN_FOREIGN if foreign else _HIDDEN):
                # A frame is a thing in a line.
                parts.append(GAP if name == "iframe" else "")
                continue
            gap = GAP if name in _NAMES_APART else ""
            parts.append(gap)
            stack.append((gap, foreign))
            if (foreign, name) == ("svg", "foreignobject"):
                foreign = ""
            elif not foreign and name in ("svg", "math"):
                foreign = name
            stack.extend((child, foreign) for child in reversed(list(node.child_nodes)))
