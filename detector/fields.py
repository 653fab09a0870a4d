"""Where in a page a word stands (Das et al., Table 1), as the scan labels tokens.

The numbers are stored in columns and must not change.
"""

from __future__ import annotations

from enum import IntEnum


class Field(IntEnum):
    """A token's field."""

    TITLE = 0
    HEADING = 1
    ANCHOR_SAME = 2
    ANCHOR_OTHER = 3
    KEYWORDS = 4
    DESCRIPTION = 5
    URL = 6
    BODY = 7


UNSEEN = (Field.KEYWORDS, Field.DESCRIPTION, Field.URL)
"""Fields no reader sees: they weigh as terms but are no part of the page's text."""

SEEN_BITS = sum(1 << field for field in Field if field not in UNSEEN)
"""A bit for each of the others."""

ALONE = 1 << 31
"""In a token's length: it is a character of a script without spaces, and is written without one."""
