"""Pages that take other scanners quadratic time, at any size."""

from __future__ import annotations

from collections.abc import Callable


def _repeated(unit: str) -> Callable[[int], bytes]:
    return lambda size: (unit.encode() * (size // len(unit.encode()) + 1))[:size]


def _after(start: str, unit: str, end: str = "") -> Callable[[int], bytes]:
    return lambda size: start.encode() + _repeated(unit)(size) + end.encode()


ROWS: dict[str, Callable[[int], bytes]] = {
    "nested div": _repeated("<div>"),
    "nested b": _repeated("<b>"),
    "nested a": _repeated("<a href=x>"),
    "nested table": _repeated("<table><tr><td>"),
    "nested svg": _repeated("<svg>"),
    "nested svg and html": _repeated("<svg><foreignObject>"),
    "nested style in svg": _repeated("<svg><style>"),
    "nested title in svg": _repeated("<svg><title>"),
    "styles in svg": _after("<svg>", "<style>"),
    "titles in svg": _after("<svg>", "<title>"),
    "svg titles": _repeated("<svg><title>x</title></svg>"),
    "math": _after("<math>", "<mi>x</mi>"),
    "stray ends in svg": _after("<svg>" * 9 + "<g>", "</desc>"),
    "svg left": _repeated("<svg><b>"),
    "nested template": _repeated("<template>"),
    "nested template, svg": _repeated("<template><svg>"),
    "datalists": _repeated("<datalist><p>"),
    "attributes": _after("<a ", "a=b "),
    "equal attributes": _after("<a ", "href=x "),
    "long attribute": _after("<a href='", "x", "'>"),
    "attribute of references": _after("<img src='", "&nGt;", "'>"),
    "unclosed quote": _after("<a href='", "<p>x "),
    "unclosed quotes": _repeated("<a b='>\"x "),
    "unclosed comment": _after("<!--", "x -- "),
    "comment starts": _repeated("<!--"),
    "comment almost ends": _after("<!--", "--!-"),
    "cdata starts": _repeated("<![CDATA["),
    "cdata starts in svg": _after("<svg>", "<![CDATA["),
    "cdata almost ends": _after("<svg><![CDATA[", "]]"),
    "less-than": _repeated("<"),
    "end tag starts": _repeated("</"),
    "declarations": _repeated("<!"),
    "instructions": _repeated("<?"),
    "unterminated style": _after("<style>", "</"),
    "unterminated style, near": _after("<style>", "</styl "),
    "unterminated script": _after("<script>", "</scrip"),
    "escaped script": _after("<script><!--", "<script "),
    "script in and out": _after("<script>", "<!--<script></script>-->"),
    "unterminated title": _after("<title>", "</titl"),
    "titles": _repeated("<title>"),
    "textareas": _repeated("<textarea>x</textarea>"),
    "late title": _after("x", "<p>x ", "<title>y</title>"),
    "ampersands": _repeated("&"),
    "ampersand names": _repeated("&CounterClockwiseContourIntegra"),
    "ampersand no semicolon": _repeated("&notinx"),
    "digits": _after("&#", "1"),
    "hex": _repeated("&#x"),
    "one letter words": _repeated("a "),
    "one word": _repeated("a"),
    "one word, marked": _repeated("a<b>"),
    "han": _repeated("漢"),
    "marks": _after("a", "\u0301"),
    "joiners": _after("a", "\u200d"),
    "invalid utf-8": lambda size: b"\xff" * size,
    "cut utf-8": lambda size: b"\xf0\x9f\x98" * (size // 3),
    "nul": lambda size: b"\0" * size,
    "blocks": _repeated("<p>a"),
    "images": _repeated("<img src=a>"),
    "images on other hosts": _repeated("<img src=//b/c>"),
    "long bases": _after("<base href='//", "x", "'><img src=a>"),
    "images below a base": _after("<base href='//" + "x" * 4000 + "/'>", "<img src=a>"),
    "brs": _repeated("<br>"),
    "metas": _repeated("<meta name=keywords content=a>"),
}


def row(name: str, size: int) -> bytes:
    """The page of about so many bytes."""
    return ROWS[name](size)
