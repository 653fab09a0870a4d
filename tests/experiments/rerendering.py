"""Re-rendering of HTML: the same words under other markup.

Each `Style` is one thing that another template, or another program, does to a page on its way.
`intensity` is the probability with which each tag and each text is touched.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, fields
from html import escape
from html.parser import HTMLParser

_INLINE = {"a", "abbr", "b", "code", "em", "i", "span", "strong", "tt", "var"}
_VERBATIM = {"pre", "script", "style", "textarea"}
_FURNITURE = {"navheader", "navfooter", "sphinxsidebar", "related", "nav"}
_VOID = {"br", "hr", "img", "input", "link", "meta", "col"}
_SPACE = re.compile(r"\s+")
_BOUNDARY = re.compile(r"</p>\s*<p(?: [^>]*)?>", re.IGNORECASE)
_FRAME = "".join(f'<li><a href="/{n}">Section {n} of our portal</a></li>' for n in range(8))
_FOOT = "<p>This portal is made for you by its editors.</p><p>All offers are subject to change.</p>"


@dataclass(frozen=True, slots=True)
class Style:
    """What is done to a page; in this order of how much it leaves as it was."""

    spaces: bool = False
    tag_case: bool = False
    attributes: bool = False
    inline: bool = False
    letters: bool = False
    template: bool = False
    blocks: bool = False
    joined: bool = False

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """All things that can be done."""
        return tuple(field.name for field in fields(cls))


def rerender(page: bytes, style: Style, *, intensity: float = 1.0, seed: int = 0) -> bytes:
    """The page in another rendering."""
    writer = _Writer(style, intensity, random.Random(seed))
    text = page.decode("utf-8", "replace")
    writer.feed(_joined(text) if style.joined else text)
    writer.close()
    return "".join(writer.out).encode()


def _joined(text: str) -> str:
    """Every second paragraph goes on in the one before it, where they follow each other."""
    counter = iter(range(len(text)))
    return _BOUNDARY.sub(lambda found: found[0] if next(counter) % 2 else " ", text)


class _Writer(HTMLParser):
    """Writes what it reads, in the style."""

    def __init__(self, style: Style, intensity: float, rng: random.Random) -> None:
        super().__init__(convert_charrefs=False)
        self.out: list[str] = []
        self._style, self._intensity, self._rng = style, intensity, rng
        self._verbatim = 0
        self._skipped: list[str] = []

    def _hit(self) -> bool:
        return self._rng.random() < self._intensity

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._skips(tag, attrs):
            return
        self._verbatim += tag in _VERBATIM
        self._write_start(tag, attrs)
        if tag == "body" and self._style.template:
            self.out.append(f"<header><ul>{_FRAME}</ul></header>")

    def _skips(self, tag: str, attrs: list[tuple[str, str | None]]) -> bool:
        if not self._style.template or tag in _VOID:
            return bool(self._skipped)
        classes = {tag, *(dict(attrs).get("class") or "").split()}
        if self._skipped or classes & _FURNITURE:
            self._skipped.append(tag)
        return bool(self._skipped)

    def _write_start(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        style = self._style
        if style.inline and tag in _INLINE - {"a"} and self._hit():
            return
        if style.spaces and tag not in _INLINE and not self._verbatim and self._hit():
            self.out.append("\n  ")
        kept, shown = attrs, tag
        if style.attributes and self._hit():
            kept = [(k, f"/mirror/{v}") for k, v in attrs if k in ("href", "src")]
        if style.blocks and tag == "p":
            shown = "div"
        if style.tag_case and self._hit():
            shown = shown.upper()
        if kept == attrs and shown == tag:
            self.out.append(self.get_starttag_text() or "")
            return
        written = "".join(f' {k}="{escape(v or "")}"' for k, v in kept)
        self.out.append(f"<{shown}{written}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            self.handle_starttag(tag, attrs)
        else:
            self._pass(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            if tag in self._skipped:
                while self._skipped.pop() != tag:
                    pass
            return
        style = self._style
        self._verbatim = max(self._verbatim - (tag in _VERBATIM), 0)
        if style.inline and tag in _INLINE - {"a"}:
            # Not paired with its start, which may have been kept: a stray end says nothing.
            return
        if tag == "body" and style.template:
            self.out.append(f"<footer>{_FOOT}</footer>")
        if style.blocks and tag == "p":
            tag = "div"
        self.out.append(f"</{tag.upper() if style.tag_case and self._hit() else tag}>")

    def handle_data(self, data: str) -> None:
        if self._skipped:
            return
        if not self._verbatim:
            if self._style.letters and self._hit():
                data = data.upper()
            if self._style.spaces and self._hit():
                data = _SPACE.sub("\n    ", data)
        self.out.append(data)

    def handle_entityref(self, name: str) -> None:
        self._pass(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._pass(f"&#{name};")

    def handle_decl(self, decl: str) -> None:
        self._pass(f"<!{decl}>")

    def handle_pi(self, data: str) -> None:
        self._pass(f"<?{data}>")

    def handle_comment(self, data: str) -> None:
        self._pass(f"<!--{data}-->")

    def _pass(self, text: str) -> None:
        if not self._skipped:
            self.out.append(text)
