"""What each element does to the text around it (HTML standard, Rendering and Parsing).

An element ends a block where a browser would start a new paragraph, ends a word where a browser
shows a gap or a thing, or does neither. Unknown elements are inline and do neither.
"""

from __future__ import annotations

# What a tag does, as bits.
WORD = 1  # ends a word
BLOCK = 2  # ends a block, and with it a word
BREAKOUT = 4  # its start tag leaves SVG and MathML
ATTRIBUTES = 8  # its attributes matter
ENTERS = 16  # its start tag opens an element of `nesting`, in HTML too
CONTAINER = 32  # its end tag must be there, and ends what is open in it
VOID = 64  # holds nothing and has no end tag

# Which tag it is, where that matters; in the eight bits above.
KIND_SHIFT = 8
(
    PLAIN, ANCHOR, IMAGE, BREAK, BASE, LINK, META, TITLE, TEXTAREA, SCRIPT, RAW_HIDDEN, XMP,
    PLAINTEXT, HEADING, TABLE, CELL, AREA, PRE,
) = range(18)  # fmt: skip

# Which element of `nesting` it is; in the bits above. From UNSEEN on what stands in it is hidden:
# outside SVG and MathML only in the last two, as the others are raw text there, or unknown.
CODE_SHIFT = 16
_NESTING = (
    "svg", "math", "foreignobject", "mi", "mo", "mn", "ms", "mtext", "desc", "title", "metadata",
    "style", "script", "iframe", "noembed", "noframes", "annotation", "annotation-xml", "template",
    "datalist",
)  # fmt: skip
SVG, MATH, FOREIGN_OBJECT, MI, MTEXT, DESC, SVG_TITLE, TEMPLATE, DATALIST = (
    1 + _NESTING.index(name)
    for name in (
        "svg", "math", "foreignobject", "mi", "mtext", "desc", "title", "template", "datalist",
    )
)  # fmt: skip
UNSEEN = DESC
# Which start tags end it where its end tag may be left out; in the bits above.
GROUP_SHIFT = 24
(
    PARAGRAPH, ITEM, TERM, CELL_GROUP, ROW, ROW_GROUP, OPTION, OPTION_GROUP, HEADINGS, SAME,
) = range(1, 11)  # fmt: skip
_GROUPS = (
    "p", "li", "dt dd", "td th", "tr", "tbody thead tfoot caption colgroup", "option", "optgroup",
    "h1 h2 h3 h4 h5 h6", "a button nobr",
)  # fmt: skip
_VOIDS = """
area base basefont bgsound br col embed frame hr image img input keygen link meta param source track
wbr
"""
_ENDED_BY_ANYTHING = {"body", "head", "html"}
_ENTERING = {"svg", "math", "template", "datalist"}

_BLOCKS = """
address article aside blockquote body caption center col colgroup dd details dialog dir div dl dt
fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html legend
li listing main menu nav ol p plaintext pre search section summary table tbody td tfoot th thead
title tr ul xmp
"""
# Form controls and embedded things; `q` shows quotation marks; `rt` stands above its base.
_WORDS = """
applet audio br button canvas embed iframe image img input keygen marquee math meter object optgroup
option output progress q rb rp rt rtc select svg textarea video
"""
# HTML standard, 13.2.6.5 The rules for parsing tokens in foreign content.
_BREAKOUTS = """
b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li
listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var
"""
_KINDS = {
    "a": ANCHOR, "img": IMAGE, "image": IMAGE, "br": BREAK, "base": BASE, "link": LINK,
    "meta": META, "title": TITLE, "textarea": TEXTAREA, "script": SCRIPT, "style": RAW_HIDDEN,
    "iframe": RAW_HIDDEN, "noembed": RAW_HIDDEN, "noframes": RAW_HIDDEN, "xmp": XMP,
    "plaintext": PLAINTEXT, "h1": HEADING, "h2": HEADING, "h3": HEADING,
    "h4": HEADING, "h5": HEADING, "h6": HEADING, "table": TABLE, "td": CELL, "th": CELL,
    "caption": CELL, "area": AREA, "pre": PRE, "listing": PRE,
}  # fmt: skip
_WITH_ATTRIBUTES = {ANCHOR, IMAGE, BASE, LINK, META, AREA}

LONGEST_NAME = 16


def properties() -> dict[str, int]:
    """Bits and kind of every element that is not simply inline.

    >>> properties()["td"] & BLOCK, properties()["td"] >> KIND_SHIFT == CELL
    (2, True)
    """
    words, blocks, breakouts = _WORDS.split(), _BLOCKS.split(), _BREAKOUTS.split()
    voids = _VOIDS.split()
    groups = {name: at for at, names in enumerate(_GROUPS, 1) for name in names.split()}
    containers = {*blocks, "select", "button"} - {*voids, *groups, *_ENDED_BY_ANYTHING}
    found = {}
    for name in sorted({*words, *blocks, *breakouts, *voids, *groups, *_KINDS, *_NESTING}):
        kind = _KINDS.get(name, PLAIN)
        found[name] = (
            (WORD if name in words else 0)
            | (BLOCK if name in blocks else 0)
            | (BREAKOUT if name in breakouts else 0)
            | (ATTRIBUTES if kind in _WITH_ATTRIBUTES else 0)
            | (ENTERS if name in _ENTERING else 0)
            | (CONTAINER if name in containers else 0)
            | (VOID if name in voids else 0)
            | kind << KIND_SHIFT
            | (_NESTING.index(name) + 1 if name in _NESTING else 0) << CODE_SHIFT
            | groups.get(name, 0) << GROUP_SHIFT
        )
    return found
