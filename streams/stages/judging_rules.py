"""What the stage `index` goes by, as plain values: what is near, what of it alerts, who is free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from reusewatch.streams.stages.direction import DAY_US
from reusewatch.streams.url_sets import UrlSet


@dataclass(frozen=True, slots=True)
class Rules:
    """What is near, and what of it alerts: named as `detector.window.near_rules` names it."""

    policy: str = "henzinger"
    thresholds: Mapping[str, int] = field(default_factory=dict)
    near_same_site: bool = False
    near_other_site: bool = True
    site: Literal["registered-domain", "simple"] = "registered-domain"
    max_cluster: int = 100_000
    # Alerts of a batch whose evidence is made with them: two pages are read for one.
    evidence_pairs: int = 128
    # Pages that are always the original, and pages that may copy.
    owned: UrlSet = field(default_factory=UrlSet)
    allowed: UrlSet = field(default_factory=UrlSet)
    # From which gap on being seen first says who is the original.
    precedence_us: int = DAY_US
    # Near-duplicates whose terms overlap by less, as far as they are kept, do not alert.
    least_mwo: float = 0.0
    # Near-duplicates that are less alike in what is their own do not alert; 0: all do, at once.
    near_own: float = 0.0
