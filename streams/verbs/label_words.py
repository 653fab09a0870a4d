"""What the verbs of the labeled dataset say to people: each version once, each number with words.

Scripts get every field, with `--json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reusewatch.streams.console import print_aligned

_SAME = ("previous", "pack", "pushed")
# What each number of a preview counts, in the order in which they are shown.
_COUNTS: Mapping[str, str] = {
    "pages": "pages whose fingerprints the bus holds, as many as the window keeps",
    "labeled": "of these a push would flag",
    "share": "is that share of the pages",
    "labeled_pages": "of the flagged: the whole file is labeled (alert labeled-page)",
    "labeled_content": "of the flagged: enough paragraphs or grams are labeled (labeled-content)",
    "threshold": "of a page's paragraphs is enough",
    "touched": "pages hold something labeled, flagged or not",
    "already": "of the flagged had a label when they were judged",
    "sites": "sites have flagged pages",
}


def in_force(summary: Mapping[str, Any]) -> dict[str, Any]:
    """A summary of a change, without the versions that are the version in force again.

    >>> in_force({"version": "a1", "previous": None, "pack": "a1", "pushed": "a1", "files": 2})
    {'version': 'a1', 'previous': None, 'files': 2}
    """
    version = summary["version"]
    return {
        name: value
        for name, value in summary.items()
        if name not in _SAME or value is None or value != version
    }


def print_preview(summary: Mapping[str, Any]) -> None:
    """Every number of a preview, and what it counts."""
    rows = [(name, _number(summary[name]), words) for name, words in _COUNTS.items()]
    rows += [
        (f"by label {name}", _number(count), "of the flagged are under this label")
        for name, count in summary["by_label"].items()
    ]
    print_aligned(rows, indent="")


def _number(value: float) -> str:
    return f"{value:.1%}" if isinstance(value, float) else f"{value:,}"
