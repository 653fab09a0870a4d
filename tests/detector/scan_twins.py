"""Brute-force twins of the scan, from the definitions: plain Python over a real parser's tree."""

from __future__ import annotations

import unicodedata
from functools import cache

from resiliparse.parse.html import DOMNode, HTMLTree, NodeType

from detector.scanning import elements
from detector.scanning import unicode_tables as table
from tests.detector.make_unicode_tables import kind_of

_HIDDEN = {"script", "style", "template", "iframe", "noembed", "noframes", "head"}
_BITS = elements.properties()
# What stands between the texts of two nodes. None of these is alphanumeric.
GAP = "\x1f"


@cache
def _kind(character: str) -> str:
    if character == "\0":
        return "ignored"
    kind = kind_of(character)
    if unicodedata.unidata_version != table.UNICODE_VERSION and not _in_table(character):
        return "apart"
    return kind


@cache
def _known() -> frozenset[int]:
    known: set[int] = set()
    for text in (table.WORD, table.SINGLE, table.MARK, table.IGNORED):
        for item in text.split():
            first, _, last = item.partition("-")
            known.update(range(int(first, 16), int(last or first, 16) + 1))
    return frozenset(known)


def _in_table(character: str) -> bool:
    return ord(character) in _known()


def words_of(text: str) -> list[str]:
    """The tokens of a text, by `str.isalnum` and `unicodedata`, a character at a time."""
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
    return [word.casefold() for word in words]


def tree_words(html: str) -> tuple[list[str], list[str]]:
    """(title, text) of a page as tokens, by a real parser's tree and the rules of elements."""
    tree = HTMLTree.parse(html)
    parts: list[str] = []
    if tree.document:
        _walk(tree.document, parts)
    return words_of(tree.title or ""), words_of("".join(parts))


def _walk(root: DOMNode, parts: list[str]) -> None:
    # By hand: pages are deeper than Python's stack.
    stack: list[DOMNode | str] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            parts.append(node)
        elif node.type == NodeType.TEXT:
            parts.append(node.text)
        elif node.type in (NodeType.ELEMENT, NodeType.DOCUMENT):
            name = (node.tag or "").lower()
            if name in _HIDDEN or name == "title":
                continue
            gap = GAP if _BITS.get(name, 0) & (elements.WORD | elements.BLOCK) else ""
            parts.append(gap)
            stack.append(gap)
            stack.extend(reversed(list(node.child_nodes)))
