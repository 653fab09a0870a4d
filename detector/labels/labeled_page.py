"""A labeled page by its name, and a place on it: plain values, which travel with labels' changes.

Read by commands that need no columns. Never opens a page.
"""

from __future__ import annotations

import msgspec


class LabeledPage(msgspec.Struct, frozen=True, array_like=True):
    """A page that was labeled: its URL or file, and where it can be read again, if it can."""

    url: str
    source: str = ""
    offset: int | None = None
    # Of its body, by which it is known that what is read again is what was labeled.
    file_hash: int = 0


class Stood(msgspec.Struct, frozen=True, array_like=True):
    """Where one hash stood: a page that came under this label, and bytes of it; without any, the
    page as a whole."""

    page: LabeledPage
    label: str
    start: int = 0
    end: int = 0
