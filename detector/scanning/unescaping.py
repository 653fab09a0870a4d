"""Character references in text, as `html.unescape` reads them, of numbers of any length."""

from __future__ import annotations

import html
import re

_DECIMAL = re.compile("&#([0-9]{8,})")
_DIGITS = 7  # of the last code point
_TOO_LARGE = "9" * _DIGITS


def unescaped(text: str) -> str:
    """The text with its references decoded.

    >>> unescaped("caf&eacute; &#" + "0" * 9999 + "65; &#" + "9" * 9999 + ";")
    'café A \\ufffd'
    """
    if "&#" in text:
        text = _DECIMAL.sub(_shorter, text)
    return html.unescape(text)


def _shorter(found: re.Match[str]) -> str:
    """Python makes no number of thousands of digits; above the last code point all are alike."""
    digits = found[1].lstrip("0") or "0"
    return f"&#{digits if len(digits) <= _DIGITS else _TOO_LARGE}"
