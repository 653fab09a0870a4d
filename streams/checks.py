"""One thing that was looked at: `topics check` and `doctor` are lists of these."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """What was found, what is wanted, and what to do where they differ."""

    check: str
    ok: bool
    found: str
    wanted: str
    do: str = ""
