"""What stages count beside pages, alerts and dead letters: the names, and what each means.

The set is closed: the metric `reusewatch_events_total` has these names as its label `event`, and
a test compares them with those that the code counts.
"""

from __future__ import annotations

from collections.abc import Mapping

EVENTS: Mapping[str, str] = {
    "late": "A page was older than the window: it was judged and not remembered.",
    "misdated": "A page's date is before the web, or over an hour from now: it was not remembered.",
    "salvaged": "A page was found behind damage in its archive: it is judged, and nobody's donor.",
    "evicted": "A page left the window.",
    "dismissed": "A version of a page left the window, since the page had too many.",
    "over-share": "A page left in place of an older one: its site had over `window_site_share`.",
    "turned": "A page turned out to be the copy when an older original was read after it.",
    "withdrawn": "An alert was taken back.",
    "overlong": "A page had more words than are read: what is behind them was not looked at.",
    "template": "A near-duplicate made no alert: what it has in common is a template.",
    "unsettled": "A page left the window, or changed, before it was judged as settled.",
    "cut": "A candidate, posting or copy was passed over, since too many pages share its key.",
    "refused": "Two clusters did not become one, since it would have been over `max_cluster`.",
    "revisit-waiting": "A revisit record came before the page that it refers to, and waits.",
    "revisit-forgotten": "A revisit record waited too long and was forgotten.",
    "discovered-chunk": "A paragraph came to be common.",
    "discovered-file": "A file came to be common.",
    "discovery-untold": "What came to be common made no alert: a page, or 1000 pages, had many.",
    "discovery-unfollowed": "The pages of discovered content are not counted on: much else is.",
    "discovery-evicted": "Discovery gave up a count to make room for another.",
    "discovery-forgotten": "Discovery forgot a sighting of a paragraph or file: a table was full.",
    "discovery-unlabeled": "What came to be common became no label: its first site is forgotten.",
    "discovery-anew": "Discovery began to count anew, since its settings had changed.",
    "evidence-made": "An alert's two pages were read again and aligned.",
    "evidence-budget": "Evidence was left to who asks: a step of pages had its share already.",
    "evidence-no-origin": "There is no evidence: one of two pages was never to be read again.",
    "evidence-gone": "There is no evidence: one of two pages cannot be read any more.",
    "evidence-changed": "There is no evidence: where one of two pages stood is another by now.",
    "evidence-no-common-run": "Two pages that were reported as alike have no run in common.",
    "evidence-cut": "A place of a gram was passed over in aligning: a page has it too often.",
    "uncounted": "A page was not counted for its neighborhoods, as an error page is not.",
    "trapped": "A URL was part of a crawl trap.",
    "prefix-evicted": "The figures of a URL prefix were dropped: its memory is bounded.",
    "page-forgotten": "What a page had added was forgotten: seen again, it counts anew.",
    "labels-refused": "A labeled dataset could not be taken up; the one before stays in force.",
}

FINDINGS: Mapping[str, str] = {
    "duplicate": "Its file or its words are those of another page.",
    "near-duplicate": "No duplicate, and nearly the words of another page.",
    "labeled": "Its file, or a paragraph of it, is in the labeled dataset.",
    "partial": "It and another page have a part in common, see `partial_share`.",
    "quilted": "It is stitched from several others, see `quilt_c`.",
}
"""What is counted of pages when they are judged, reported or not: counted as events are, and shown
as `reusewatch_findings_total` with these names as its label `finding`."""

DEAD = frozenset(
    {
        "bad-chunks", "bad-encoding", "bad-http", "bad-length", "bad-url", "malformed-message",
        "nested-encodings", "newer-schema", "too-large", "unknown-encoding", "wrong-digest",
    }
)  # fmt: skip
"""The reasons of what a stage cannot process, the label `reason` of its dead letters:
all of BadPage and WireError."""
