"""The numbers of `detector.fields.Field`, as kernels take them."""

from __future__ import annotations

from reusewatch.detector.fields import Field

TITLE, HEADING, ANCHOR_SAME, ANCHOR_OTHER, KEYWORDS, DESCRIPTION, URL, BODY = map(int, Field)
