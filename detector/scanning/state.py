"""Where what stands in the arrays of a pass: a page's facts, what is open around the text."""

from __future__ import annotations

from reusewatch.detector.compiling.kernels import int64
from reusewatch.detector.scanning import fields
from reusewatch.detector.scanning import text as tx

# Not plain integers: numba would compile the text loop anew for each that is passed to it.
TITLE, HEADING, ANCHOR_SAME, ANCHOR_OTHER, KEYWORDS, DESCRIPTION, URL, BODY = (
    int64(field)
    for field in (
        fields.TITLE, fields.HEADING, fields.ANCHOR_SAME, fields.ANCHOR_OTHER,
        fields.KEYWORDS, fields.DESCRIPTION, fields.URL, fields.BODY,
    )
)  # fmt: skip
AS_IT_IS = int64(0)
REFERENCES = int64(tx.REFERENCES)

# A page's facts, by place in its row.
(
    TOKENS, BLOCKS, LINKS, PICTURES, SEGMENTS, TEXT_TOKENS, TOKENS_LOST, BLOCKS_LOST, LINKS_LOST,
    BYTES_LOST, TITLE_START, TITLE_END, BASE_START, BASE_END, CANONICAL_START, CANONICAL_END,
    SAMPLED, FOLDED, HIDDEN,
) = range(19)  # fmt: skip
FACTS = 19

# What is open around the text, by place in its array.
(
    FIELD, IN_HEADING, HEADING_DEPTH, ANCHOR, ANCHOR_DEPTH, TABLES, PATH, DEEPER, UNSEEN,
    FOREIGN, IN_PRE, LATE_START, LATE_END, KEYWORDS_START, KEYWORDS_END, DESCRIPTION_START,
    DESCRIPTION_END,
    BASE_WHERE, PLAIN_FROM, HIDES, HIDES_NAME, HIDES_NAME_END, HIDES_BITS, HIDES_SAME,
    HIDES_BLOCKS, HIDES_INNER, HIDES_IN_LINE, HID, RESTYLED,
) = range(29)  # fmt: skip
