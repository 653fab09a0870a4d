"""How many pages below a prefix are copies of what nobody labeled: what the stage `index` says.

That is asked beside the stage `neighborhoods`, and no command fails for want of it: what nobody
answered is null, and never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from reusewatch.detector.errors import SchemeMismatch
from reusewatch.streams.bus import Unreachable
from reusewatch.streams.questions import MOST_ROWS, Parameters, QuestionError, Rows
from reusewatch.streams.running.asking import Answered
from reusewatch.streams.stages.errors import Incompatible

# A question has a megabyte, of which a slash takes three bytes.
_NAMED_CHARACTERS = 300_000

Counts = Mapping[str, Mapping[str, Any]]


class Counting:
    """Copies by prefix, those with the largest share of them first."""

    def __init__(
        self,
        ask: Callable[[str, Parameters], Answered],
        say: Callable[[str], None],
        under: str | None,
        *,
        top: int = MOST_ROWS,
    ) -> None:
        self._ask = ask
        self._say = say
        self._under = {"under": under} if under else {}
        asked = max(top, MOST_ROWS)
        found = self._answered({"top": str(asked)})
        self.counts = {} if found is None else found
        # Whoever is not among them has no copies.
        self._all = found is not None and len(found) < asked
        self._answers = found is not None

    def of(self, prefixes: Iterable[str]) -> Counts:
        """The counts of these prefixes; without those that nobody answered."""
        missing = [one for one in dict.fromkeys(prefixes) if one not in self.counts]
        counts: dict[str, Mapping[str, Any]] = {**self.counts}
        if self._all:
            return counts | dict.fromkeys(missing, _NONE)
        while missing and self._answers:
            asked = named(missing[:MOST_ROWS]).split() or missing[:1]
            found = self._answered({"also": " ".join(asked)})
            if found is None:
                break
            counts |= dict.fromkeys(asked, _NONE) | found
            missing = missing[len(asked) :]
        return counts

    def _answered(self, parameters: dict[str, str]) -> dict[str, dict[str, Any]] | None:
        try:
            answer = self._ask("reused", parameters | self._under)
        except (Unreachable, QuestionError, Incompatible, SchemeMismatch) as error:
            self._say(f"copies of what nobody labeled are not counted: {error}")
            return None
        return {row["prefix"]: row for row in answer.answers}


_NONE: Mapping[str, Any] = {"reused": 0, "files": None}
_UNKNOWN: Mapping[str, Any] = {"reused": None, "files": None}


def named(prefixes: Iterable[str]) -> str:
    """These prefixes for a question, as many as it may have.

    >>> named(["http://a/", "http://b/"])
    'http://a/ http://b/'
    """
    left, found = _NAMED_CHARACTERS, list[str]()
    for one in prefixes:
        left -= len(one) + 1
        if left < 0:
            break
        found.append(one)
    return " ".join(found)


def with_reused(rows: Rows, counts: Counts) -> Rows:
    """Neighborhoods with how many of the window's pages are copies, and of how many; open for
    labeled content or for these.

    >>> counts = {"http://h/": {"reused": 3, "files": 4, "open": True}}
    >>> with_reused([{"prefix": "http://h/", "open": False}], counts)
    [{'prefix': 'http://h/', 'open': True, 'reused': 3, 'reused_of': 4}]
    """
    found = [(row, counts.get(row["prefix"], _UNKNOWN)) for row in rows]
    return [
        row
        | {
            "open": row["open"] or one.get("open", False),
            "reused": one["reused"],
            "reused_of": one["files"],
        }
        for row, one in found
    ]
