"""The few open elements that change how tags are read, or hide text: SVG, MathML, templates.

In SVG and MathML no text is raw, and certain start tags leave them; their integration points hold
HTML again (HTML standard, 13.2.6.5). No browser shows a template, nor what SVG has as title,
description, metadata, style or script. These elements are a stack in one number, six bits each;
deeper than its ten levels only those of the innermost's name are counted. No other is kept.
"""

# Kernels: a call costs its arguments, a set a search.
# ruff: noqa: PLR1714

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Bool, Int, apart, part
from reusewatch.detector.scanning import elements as el
from reusewatch.detector.scanning import state as s

_LEVEL = 6
_NAME = 31
# Beside the name: what stands in the element is no HTML.
_FOREIGN = 32
_ENTRY = 63
_FULL = 1 << 54


@part()
def nest(bits: Int, closing: Bool, whole: Bool, now: NDArray[np.int64]) -> None:
    """What a tag opens, closes or leaves. `whole`: it ends in a slash."""
    apart()
    code = bits >> el.CODE_SHIFT & 255
    if (now[s.PATH] & _ENTRY) == el.DATALIST and (bits & el.BLOCK) != 0:
        # One whose end tag is missing must not hide the page.
        _leave(now)
    foreign = now[s.FOREIGN] != 0
    if closing:
        if code != 0:
            _close(now, code)
        elif foreign and ((bits & el.BLOCK) != 0 or (bits >> el.KIND_SHIFT & 255) == el.BREAK):
            _break_out(now)
    elif not foreign:
        if code == el.SVG or code == el.MATH:
            if not whole:
                _enter(now, code, _FOREIGN)
        elif (bits & el.ENTERS) != 0:
            _enter(now, code, 0)
    elif (bits & el.BREAKOUT) != 0:
        _break_out(now)
    elif code != 0 and not whole:
        if _holds_html(now, code):
            _enter(now, code, 0)
        elif code >= el.UNSEEN or code <= el.MATH:
            _enter(now, code, _FOREIGN)


@part()
def _holds_html(now: NDArray[np.int64], code: Int) -> Bool:
    """Whether the element is an integration point in the SVG or MathML around it."""
    path = now[s.PATH]
    while (path >> _LEVEL & _FOREIGN) != 0:
        path >>= _LEVEL
    if (path & _NAME) == el.SVG:
        return code == el.FOREIGN_OBJECT or code == el.DESC or code == el.SVG_TITLE
    return el.MI <= code <= el.MTEXT


@part()
def _enter(now: NDArray[np.int64], code: Int, foreign: Int) -> None:
    if now[s.PATH] >= _FULL:
        if (now[s.PATH] & _NAME) == code:
            now[s.DEEPER] += 1
        return
    now[s.PATH] = now[s.PATH] << _LEVEL | code | foreign
    now[s.FOREIGN] = foreign
    if code >= el.UNSEEN:
        now[s.UNSEEN] += 1


@part()
def _leave(now: NDArray[np.int64]) -> None:
    """The innermost element ends."""
    if (now[s.PATH] & _NAME) >= el.UNSEEN:
        now[s.UNSEEN] -= 1
    now[s.PATH] >>= _LEVEL
    now[s.FOREIGN] = now[s.PATH] & _FOREIGN
    now[s.DEEPER] = 0


@part()
def _break_out(now: NDArray[np.int64]) -> None:
    """Leave SVG and MathML, up to an integration point."""
    while (now[s.PATH] & _FOREIGN) != 0:
        _leave(now)


@part()
def _close(now: NDArray[np.int64], code: Int) -> None:
    """The innermost element of a name ends, with all in it. A template ends by its own end tag."""
    if now[s.DEEPER] > 0 and (now[s.PATH] & _NAME) == code:
        now[s.DEEPER] -= 1
        return
    path = now[s.PATH]
    while path != 0 and (path & _NAME) != code:
        if (path & _ENTRY) == el.TEMPLATE:
            return
        path >>= _LEVEL
    if path != 0:
        while now[s.PATH] != path:
            _leave(now)
        _leave(now)
