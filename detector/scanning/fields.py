"""The fields of a page that terms are weighted by (Das et al., Table 1)."""

from __future__ import annotations

TITLE, HEADING, ANCHOR_SAME, ANCHOR_OTHER, KEYWORDS, DESCRIPTION, URL, BODY = range(8)
